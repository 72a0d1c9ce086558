import type { Job } from '../domain/job.js';

export interface JobProgress {
  readonly done?: number;
  readonly total?: number;
  readonly message?: string;
  /** Where a run that was killed goes on from. */
  readonly cursor?: string;
}

export interface JobContext {
  readonly job: Job;
  /** Fires when the job is cancelled, loses its lease, or the process closes. */
  readonly signal: AbortSignal;
  /** Writes progress and renews the lease; throws `ABORTED` once the signal has fired. */
  checkpoint(progress: JobProgress): Promise<void>;
}

/** Does a job's work; resolves with the final message. Must be resumable from `job.cursor` and harmless to repeat. */
export type JobHandler = (context: JobContext) => Promise<string>;
