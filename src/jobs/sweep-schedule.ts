import type { Clock } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { AuditLog, JobStore } from '../ports/note-store.js';

const MINUTE_MS = 60_000;

export interface SweepScheduleDeps {
  readonly jobs: Pick<JobStore, 'put' | 'get'>;
  readonly audit: Pick<AuditLog, 'append'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Minutes from sweep to sweep; 0: none. */
  readonly everyMinutes: number;
}

/**
 * Queues a staleness sweep every so often, once for all processes: of those that come to a slot the one whose audit event is the
 * first queues it. Where that one was killed before it had, whoever comes to the slot a second time does. Returns what stops it.
 */
export function scheduleSweeps(deps: SweepScheduleDeps): () => void {
  if (deps.everyMinutes === 0) return () => undefined;
  const everyMs = deps.everyMinutes * MINUTE_MS;
  let lastSlot = '';
  const tick = (): void => {
    const slot = slotOf(deps);
    const again = slot === lastSlot;
    lastSlot = slot;
    queueSweep(deps, again).catch((error: unknown) =>
      deps.logger.warn({ error }, 'staleness sweep could not be queued; it will be tried again'),
    );
  };
  const timer = setInterval(tick, Math.min(everyMs, 5 * MINUTE_MS)).unref();
  tick();
  return () => clearInterval(timer);
}

function slotOf({ clock, everyMinutes }: Pick<SweepScheduleDeps, 'clock' | 'everyMinutes'>): string {
  const everyMs = everyMinutes * MINUTE_MS;
  return new Date(Math.floor(clock.nowMs() / everyMs) * everyMs).toISOString();
}

/**
 * Queues the sweep of the slot that this moment lies in, unless it has been. Gives whether it did.
 *
 * @param again whether the caller has been here before in this slot: long enough ago for a job that is not there to be lost
 */
export async function queueSweep(deps: Omit<SweepScheduleDeps, 'logger'>, again = false): Promise<boolean> {
  const { jobs, audit, clock } = deps;
  const id = `sweep:${slotOf(deps)}`;
  const first = await audit.append({
    id,
    at: clock.now(),
    actor: 'schedule',
    origin: { via: 'JOB' },
    action: 'job-started',
    reason: 'STALENESS_SWEEP',
    changes: [`job: ${id}`],
  });
  const isLost = !first && again && (await jobs.get(id)) === undefined;
  if (!first && !isLost) return false;
  await jobs.put({
    ...{ id, kind: 'STALENESS_SWEEP', options: {}, state: 'QUEUED', done: 0 },
    ...{ createdAt: clock.now(), cancelRequested: false, fence: 0 },
  });
  return true;
}
