import { openedAtOf } from '../adapters/records/note-order.js';
import { IMPACTS, type Instant } from '../domain/note.js';
import type { NoteStore } from '../ports/note-store.js';
import type { WaitingNotes } from '../ports/telemetry.js';

const WAITING = ['PENDING', 'QUARANTINED'] as const;

/** By indexes: the queue's own order has what waits longest first within each status and impact. */
export async function countWaiting(
  notes: Pick<NoteStore, 'count' | 'list'>,
  now: Instant,
): Promise<WaitingNotes> {
  const [pending, quarantined] = await Promise.all(
    WAITING.map((status) => notes.count('all', { statuses: [status] })),
  );
  const overdue = await notes.count('all', { statuses: WAITING, dueBefore: now });
  const firsts = await Promise.all(
    WAITING.flatMap((status) =>
      IMPACTS.map((impact) => notes.list('all', { statuses: [status], impact }, 'RISK_DESC', { limit: 1 })),
    ),
  );
  const opened = firsts.flatMap(({ items }) => items.map(openedAtOf)).sort();
  return { pending: pending ?? 0, quarantined: quarantined ?? 0, overdue, oldestOpenedAt: opened[0] };
}
