import { RECEIPT_DAYS } from '../jobs/compaction.js';
import { systemClock } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { Store } from '../ports/note-store.js';
import type { IndexFollower } from '../retrieval/follow-store.js';

/** How often versions are compared with the store, in case a change was missed; a scan of 100,000 versions takes about 0.5 s. */
const RESYNC_MS = 10 * 60_000;

/**
 * How soon writes are completed that another process was killed in the middle of, where the store has no transactions: the notes that it
 * touched are not in this process's indexes before. One look at an index that is nearly always empty.
 */
const REPAIR_MS = 5_000;
const DAY_MS = 86_400_000;

/** Applies changes to the filled indexes as they come; resolves with what ends it. */
export async function followStore(
  store: Store,
  follower: IndexFollower,
  logger: Logger,
): Promise<() => Promise<void>> {
  const unwatch = await store.notes.watch(() => {
    follower
      .catchUp()
      .catch((error: unknown) =>
        logger.warn({ error }, 'index could not follow the store; it will try again'),
      );
  });
  // Another process may have written between the fill and the watch, and a doorbell rings for later writes only.
  await follower.catchUp();
  const mend = async (): Promise<void> => {
    await follower.resync();
    await store.receipts.prune(new Date(systemClock.nowMs() - RECEIPT_DAYS * DAY_MS).toISOString());
  };
  const resync = setInterval(() => {
    mend().catch((error: unknown) => logger.warn({ error }, 'index could not be compared with the store'));
  }, RESYNC_MS).unref();
  const repair = setInterval(() => {
    store.notes
      .repair()
      .catch((error: unknown) => logger.warn({ error }, 'writes that were cut off could not be completed'));
  }, REPAIR_MS).unref();
  return async () => {
    clearInterval(resync);
    clearInterval(repair);
    await unwatch();
    // What is being applied must be done before engines and store are closed.
    await follower.catchUp().catch(() => undefined);
  };
}
