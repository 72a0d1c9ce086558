import type { Clock } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { AuditLog, JobStore } from '../ports/note-store.js';

const MINUTE_MS = 60_000;

export interface SweepScheduleDeps {
  readonly jobs: Pick<JobStore, 'put'>;
  readonly audit: Pick<AuditLog, 'append'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Minutes from sweep to sweep; 0: none. */
  readonly everyMinutes: number;
}

/**
 * Queues a staleness sweep every so often, once for all processes: of those that come to a slot the one whose audit event is the
 * first queues it. Returns what stops it.
 */
export function scheduleSweeps(deps: SweepScheduleDeps): () => void {
  if (deps.everyMinutes === 0) return () => undefined;
  const everyMs = deps.everyMinutes * MINUTE_MS;
  const tick = (): void => {
    queueSweep(deps).catch((error: unknown) =>
      deps.logger.warn({ error }, 'staleness sweep could not be queued; it will be tried again'),
    );
  };
  const timer = setInterval(tick, Math.min(everyMs, 5 * MINUTE_MS)).unref();
  tick();
  return () => clearInterval(timer);
}

/** Queues the sweep of the slot that this moment lies in, unless it has been. Gives whether it did. */
export async function queueSweep({
  jobs,
  audit,
  clock,
  everyMinutes,
}: Omit<SweepScheduleDeps, 'logger'>): Promise<boolean> {
  const everyMs = everyMinutes * MINUTE_MS;
  const slot = new Date(Math.floor(clock.nowMs() / everyMs) * everyMs).toISOString();
  const id = `sweep:${slot}`;
  const first = await audit.append({
    id,
    at: clock.now(),
    actor: 'schedule',
    origin: { via: 'JOB' },
    action: 'job-started',
    reason: 'STALENESS_SWEEP',
    changes: [`job: ${id}`],
  });
  if (!first) return false;
  await jobs.put({
    ...{ id, kind: 'STALENESS_SWEEP', options: {}, state: 'QUEUED', done: 0 },
    ...{ createdAt: clock.now(), cancelRequested: false, fence: 0 },
  });
  return true;
}
