import { randomUUID } from 'node:crypto';
import type { Caller } from '../domain/api-key.js';
import { actorOf } from '../domain/audit.js';
import { ErrataError } from '../domain/errors.js';
import { JOB_KINDS, type Job } from '../domain/job.js';
import { LIMITS } from '../domain/limits.js';
import type { Clock } from '../ports/clock.js';
import type { AuditLog, JobStore } from '../ports/note-store.js';
import type { JobCommands } from '../ports/use-cases.js';
import { checkCount } from '../retrieval/check-request.js';
import { checkJobOptions } from './job-options.js';

/** How often a watched job is read; another process may be the one that runs it. */
const WATCH_MS = 200;

export interface JobCommandsDeps {
  readonly jobs: JobStore;
  readonly audit: AuditLog;
  readonly clock: Clock;
  /** Whether telephone numbers are redacted from options, too. */
  readonly phones?: boolean | undefined;
  /** Tells the local runner that there is work. */
  readonly ring: () => void;
}

/** Errors: `INVALID_INPUT` for an unknown kind or option, `JOB_NOT_FOUND`, `INVALID_TRANSITION` for cancelling what has ended. */
export function createJobCommands(deps: JobCommandsDeps): JobCommands {
  const { jobs, audit, clock } = deps;

  async function find(id: string): Promise<Job> {
    const job = await jobs.get(id);
    if (job === undefined)
      throw new ErrataError('JOB_NOT_FOUND', 'Expected the id of a job, received an unknown one');
    return job;
  }

  async function record(caller: Caller, action: string, job: Job): Promise<void> {
    await audit.append({
      id: randomUUID(),
      at: clock.now(),
      ...actorOf(caller),
      action,
      reason: job.kind,
      changes: [`job: ${job.id}`],
    });
  }

  return {
    async start(caller, kind, namespace, options) {
      if (!JOB_KINDS.includes(kind)) {
        throw new ErrataError(
          'INVALID_INPUT',
          `Expected one of ${JOB_KINDS.join(', ')} for kind, received another value`,
        );
      }
      const job: Job = {
        id: randomUUID(),
        kind,
        namespace,
        options: checkJobOptions(kind, options, deps),
        state: 'QUEUED',
        done: 0,
        createdAt: clock.now(),
        cancelRequested: false,
        fence: 0,
      };
      await jobs.put(job);
      await record(caller, 'job-started', job);
      deps.ring();
      return job;
    },
    async cancel(caller, id) {
      const job = await find(id);
      if (!(await jobs.requestCancel(id, clock.now()))) {
        throw new ErrataError(
          'INVALID_TRANSITION',
          `Expected a job that is queued or running, received ${job.state}`,
        );
      }
      await record(caller, 'job-cancelled', job);
      return find(id);
    },
    get: (id) => jobs.get(id),
    list: (scope, limit) => jobs.list(scope, checkCount(limit, 'first', LIMITS.pageSize)),
    progress: (id) => watchJob(() => find(id)),
  };
}

/** Reads the job again and again and yields what a person would notice; `return()` ends a waiting `next()` at once. */
function watchJob(find: () => Promise<Job>): AsyncIterableIterator<Job> {
  let last = '';
  let ended = false;
  let wake: (() => void) | undefined;
  const end = async (): Promise<IteratorResult<Job>> => {
    ended = true;
    wake?.();
    return { done: true, value: undefined };
  };
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      while (!ended) {
        const job = await find();
        // The lease is renewed all the time; that is nobody's news.
        const shown = JSON.stringify([job.state, job.done, job.total, job.message]);
        if (shown !== last) {
          last = shown;
          ended ||= job.finishedAt !== undefined;
          return { done: false, value: job };
        }
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, WATCH_MS);
          wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
      return { done: true, value: undefined };
    },
    return: end,
    throw: end,
  };
}
