import { LIMITS } from '../domain/limits.js';
import type { FeedbackNote } from '../domain/note.js';
import { daysAfter } from '../domain/review.js';
import type { Keyset, NamespaceScope, Page } from '../ports/note-store.js';
import type { ReviewMetrics } from '../ports/review-commands.js';
import type { WriteContext } from './note-deps.js';

const DECISIONS = new Set(['approved', 'approval', 'rejected', 'merged', 'kept', 'replaced', 'edited']);
/** Pages of `LIMITS.pageSize` that are read at most, of notes and of events each. */
const MOST_PAGES = 50;
const DAY_MS = 86_400_000;

/**
 * How deep and how old the queue is, and who decided how much in the last days. Counts what it can read in a bounded number of
 * pages and says where there was more.
 */
export async function reviewMetrics(
  { store, clock }: Pick<WriteContext, 'store' | 'clock'>,
  scope: NamespaceScope,
  days: number,
): Promise<ReviewMetrics> {
  const now = clock.now();
  const waiting = await readAll<FeedbackNote>((after) =>
    store.notes.list(scope, { statuses: ['PENDING', 'QUARANTINED'] }, 'RISK_DESC', {
      limit: LIMITS.pageSize,
      after,
    }),
  );
  const since = daysAfter(now, -days);
  const events = await readAll(
    (after) => store.audit.list(scope, {}, { limit: LIMITS.pageSize, after }),
    ({ at }) => at < since,
  );
  const decisions = new Map<string, number>();
  for (const { actor, action, at } of events.items) {
    if (!DECISIONS.has(action) || at < since || actor.startsWith('job:')) continue;
    decisions.set(actor, (decisions.get(actor) ?? 0) + 1);
  }
  const count = (holds: (note: FeedbackNote) => boolean) => waiting.items.filter(holds).length;
  const opened = waiting.items.map(({ review, updatedAt }) => review?.openedAt ?? updatedAt).sort();
  const [oldest] = opened;
  return {
    pending: count(({ status }) => status === 'PENDING'),
    quarantined: count(({ status }) => status === 'QUARANTINED'),
    overdue: count(({ review }) => review !== undefined && review.dueAt <= now),
    escalated: count(({ review }) => (review?.escalations ?? 0) > 0),
    unassigned: count(({ review }) => review?.assignee === undefined),
    ...(oldest !== undefined && {
      oldestOpenedAt: oldest,
      oldestDays: Math.floor((Date.parse(now) - Date.parse(oldest)) / DAY_MS),
    }),
    decisions: [...decisions]
      .map(([reviewer, decided]) => ({ reviewer, decisions: decided }))
      .sort((a, b) => b.decisions - a.decisions || (a.reviewer < b.reviewer ? -1 : 1)),
    truncated: waiting.truncated || events.truncated,
  };
}

async function readAll<T>(
  read: (after: Keyset | undefined) => Promise<Page<T>>,
  stop: (item: T) => boolean = () => false,
): Promise<{ readonly items: readonly T[]; readonly truncated: boolean }> {
  const items: T[] = [];
  let after: Keyset | undefined;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const { items: found, keysets, hasNext } = await read(after);
    items.push(...found);
    after = keysets.at(-1);
    const last = found.at(-1);
    if (!hasNext || after === undefined || last === undefined || stop(last))
      return { items, truncated: false };
  }
  return { items, truncated: true };
}
