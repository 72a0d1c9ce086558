import { randomUUID } from 'node:crypto';
import { ErrataError, isErrataError } from '../domain/errors.js';
import type { Job, JobKind } from '../domain/job.js';
import type { Clock } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { JobStore } from '../ports/note-store.js';
import type { JobWatcher } from '../ports/telemetry.js';
import type { JobHandler, JobProgress } from './job-handler.js';

/** A process that died is noticed after this long; a live one renews at a third of it. */
const LEASE_MS = 15_000;
const HEARTBEAT_MS = LEASE_MS / 3;
/** Processes that a job may take down, one after the other and without progress in between, before nobody takes it again. */
export const MAX_LOSSES = 3;
/** How soon another process's job is seen; a local start rings at once. */
const POLL_MS = 2_000;

export interface JobRunnerOptions {
  readonly jobs: JobStore;
  readonly handlers: Readonly<Record<JobKind, JobHandler>>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly leaseMs?: number | undefined;
  /** Default: `MAX_LOSSES`. */
  readonly maxLosses?: number | undefined;
  readonly watchers?: readonly JobWatcher[] | undefined;
}

/**
 * Takes jobs one at a time under a lease with fencing, so that of several processes exactly one writes a job's progress. A job whose
 * takers are lost again and again without a new cursor in between ends as FAILED with `JOB_GIVEN_UP`, so that it cannot take down
 * every process that starts.
 */
export class JobRunner {
  readonly #options: JobRunnerOptions;
  readonly #owner = randomUUID();
  readonly #closing = new AbortController();
  readonly #leaseMs: number;
  #working: Promise<void> | undefined;
  #rung = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: JobRunnerOptions) {
    this.#options = options;
    this.#leaseMs = options.leaseMs ?? LEASE_MS;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.ring(), POLL_MS).unref();
    this.ring();
  }

  /** Looks for work now. */
  ring(): void {
    this.#rung = true;
    if (this.#working !== undefined || this.#closing.signal.aborted) return;
    this.#working = this.#drain()
      .catch((error: unknown) =>
        this.#options.logger.error({ error }, 'job runner could not read the job store'),
      )
      .finally(() => {
        this.#working = undefined;
      });
  }

  /** Stops taking jobs; a running one is interrupted at its next checkpoint and goes on where another process takes it. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closing.abort();
    await this.#working;
  }

  async #drain(): Promise<void> {
    while (this.#rung) {
      this.#rung = false;
      for (let job = await this.#take(); job !== undefined; job = await this.#take()) await this.#run(job);
    }
  }

  async #take(): Promise<Job | undefined> {
    if (this.#closing.signal.aborted) return undefined;
    return this.#options.jobs.take(this.#owner, this.#options.clock.now(), this.#leaseEnd());
  }

  async #run(job: Job): Promise<void> {
    const { jobs, handlers, logger } = this.#options;
    if (await this.#refused(job)) return;
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.#closing.signal]);
    const write = async (progress: JobProgress & Pick<Job, 'losses'>): Promise<void> => {
      const held = await jobs.update(job.id, job.fence, { ...progress, leaseUntil: this.#leaseEnd() });
      const now = held ? await jobs.get(job.id) : undefined;
      if (now === undefined || now.cancelRequested) stop.abort();
    };
    const heartbeat = setInterval(
      () => void write({}).catch(() => stop.abort()),
      Math.min(HEARTBEAT_MS, this.#leaseMs / 3),
    );
    const checkpoint = async (progress: JobProgress): Promise<void> => {
      const moves = progress.cursor !== undefined && progress.cursor !== job.cursor;
      await write(moves ? { ...progress, losses: 0 } : progress);
      if (signal.aborted)
        throw new ErrataError('ABORTED', `Expected job ${job.id} to go on, received a stop`);
    };
    try {
      const message = await handlers[job.kind]({ job, signal, checkpoint });
      await this.#end(job, 'SUCCEEDED', message);
    } catch (error) {
      await this.#finishFailed(job, error, signal.aborted);
      logger.warn({ error, jobId: job.id, kind: job.kind }, 'job ended early');
    } finally {
      clearInterval(heartbeat);
    }
  }

  async #finishFailed(job: Job, error: unknown, stopped: boolean): Promise<void> {
    const { jobs, clock } = this.#options;
    const cancelled = (await jobs.get(job.id))?.cancelRequested === true;
    if (cancelled) {
      await this.#end(job, 'CANCELLED');
    } else if (stopped) {
      // Closing: give the job back, so that the next process goes on at once and nobody takes it for lost.
      await jobs.update(job.id, job.fence, { state: 'QUEUED', leaseUntil: clock.now() });
    } else {
      await this.#end(
        job,
        'FAILED',
        isErrataError(error) ? `${error.code}: ${error.message}` : 'INTERNAL: see the log',
      );
    }
  }

  /** Ends what was cancelled while nobody ran it, and what took down too many processes. */
  async #refused(job: Job): Promise<boolean> {
    const { logger, maxLosses = MAX_LOSSES } = this.#options;
    const { id, kind, cancelRequested, losses = 0 } = job;
    if (cancelRequested) {
      await this.#end(job, 'CANCELLED');
    } else if (losses >= maxLosses) {
      const message = `Expected a process that outlives the job, received ${losses} that were lost without progress`;
      await this.#end(job, 'FAILED', `JOB_GIVEN_UP: ${message}`);
      logger.error({ jobId: id, kind, losses }, 'job given up: its processes were lost again and again');
    } else {
      return false;
    }
    return true;
  }

  async #end(job: Job, state: 'SUCCEEDED' | 'FAILED' | 'CANCELLED', message?: string): Promise<void> {
    const { jobs, clock, watchers = [] } = this.#options;
    const finishedAt = clock.now();
    const ours = await jobs.update(job.id, job.fence, {
      ...{ state, finishedAt },
      ...(message !== undefined && { message }),
    });
    const code = state === 'FAILED' ? (message?.split(':', 1)[0] ?? '') : '';
    if (ours) for (const watcher of watchers) watcher.jobEnded({ kind: job.kind, state, code });
  }

  #leaseEnd(): string {
    return new Date(this.#options.clock.nowMs() + this.#leaseMs).toISOString();
  }
}
