import { randomUUID } from 'node:crypto';
import { ErrataError, isErrataError } from '../domain/errors.js';
import type { Job, JobKind } from '../domain/job.js';
import type { Clock } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { JobStore } from '../ports/note-store.js';
import type { JobHandler, JobProgress } from './job-handler.js';

/** A process that died is noticed after this long; a live one renews at a third of it. */
const LEASE_MS = 15_000;
const HEARTBEAT_MS = LEASE_MS / 3;
/** How soon another process's job is seen; a local start rings at once. */
const POLL_MS = 2_000;

export interface JobRunnerOptions {
  readonly jobs: JobStore;
  readonly handlers: Readonly<Record<JobKind, JobHandler>>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly leaseMs?: number | undefined;
}

/** Takes jobs one at a time under a lease with fencing, so that of several processes exactly one writes a job's progress. */
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
    const { jobs, handlers, clock, logger } = this.#options;
    const stop = new AbortController();
    const signal = AbortSignal.any([stop.signal, this.#closing.signal]);
    const write = async (progress: JobProgress): Promise<void> => {
      const held = await jobs.update(job.id, job.fence, { ...progress, leaseUntil: this.#leaseEnd() });
      const now = held ? await jobs.get(job.id) : undefined;
      if (now === undefined || now.cancelRequested) stop.abort();
    };
    const heartbeat = setInterval(
      () => void write({}).catch(() => stop.abort()),
      Math.min(HEARTBEAT_MS, this.#leaseMs / 3),
    );
    const checkpoint = async (progress: JobProgress): Promise<void> => {
      await write(progress);
      if (signal.aborted)
        throw new ErrataError('ABORTED', `Expected job ${job.id} to go on, received a stop`);
    };
    try {
      const message = await handlers[job.kind]({ job, signal, checkpoint });
      await jobs.update(job.id, job.fence, { state: 'SUCCEEDED', message, finishedAt: clock.now() });
    } catch (error) {
      await this.#finishFailed(job, error, signal.aborted);
      logger.warn({ error, jobId: job.id, kind: job.kind }, 'job ended early');
    } finally {
      clearInterval(heartbeat);
    }
  }

  async #finishFailed(job: Job, error: unknown, stopped: boolean): Promise<void> {
    const { jobs, clock } = this.#options;
    const finishedAt = clock.now();
    const cancelled = (await jobs.get(job.id))?.cancelRequested === true;
    if (cancelled) {
      await jobs.update(job.id, job.fence, { state: 'CANCELLED', finishedAt });
    } else if (stopped) {
      // Closing: give the lease back, so that the next process goes on at once.
      await jobs.update(job.id, job.fence, { leaseUntil: finishedAt });
    } else {
      const message = isErrataError(error) ? `${error.code}: ${error.message}` : 'INTERNAL: see the log';
      await jobs.update(job.id, job.fence, { state: 'FAILED', message, finishedAt });
    }
  }

  #leaseEnd(): string {
    return new Date(this.#options.clock.nowMs() + this.#leaseMs).toISOString();
  }
}
