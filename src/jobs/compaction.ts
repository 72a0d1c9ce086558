import type { Clock } from '../ports/clock.js';
import type { Store } from '../ports/note-store.js';
import type { VectorIndex } from '../ports/vector-index.js';
import type { JobHandler } from './job-handler.js';

/** A follower that was away for longer than this many changes resyncs by scanning versions, which is cheap at that size. */
const KEPT_CHANGES = 100_000;
/** How long an answer can be looked up again; a receipt takes about 7 KB. */
export const RECEIPT_DAYS = 90;
const DAY_MS = 86_400_000;

/** Frees tombstones of the index, old change-log entries and receipts older than 90 days. */
export function compactionHandler(deps: {
  readonly store: Store;
  readonly vectorIndex: VectorIndex;
  readonly clock: Clock;
}): JobHandler {
  const { store, vectorIndex, clock } = deps;
  return async ({ checkpoint }) => {
    const rows = await vectorIndex.compact();
    await checkpoint({ done: 1, total: 3 });
    const changes = await store.notes.pruneChanges((await store.notes.lastRevision()) - KEPT_CHANGES);
    await checkpoint({ done: 2, total: 3 });
    const receipts = await store.receipts.prune(
      new Date(clock.nowMs() - RECEIPT_DAYS * DAY_MS).toISOString(),
    );
    await checkpoint({ done: 3, total: 3 });
    return `${rows} index rows, ${changes} change entries and ${receipts} receipts freed`;
  };
}
