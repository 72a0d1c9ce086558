import { randomUUID } from 'node:crypto';
import type { RefusedSnapshot } from '../ports/index-snapshots.js';
import type { Logger } from '../ports/logger.js';
import type { Store } from '../ports/note-store.js';
import type { IndexFollower } from '../retrieval/follow-store.js';
import { SnapshotKeeper } from '../retrieval/snapshot-keeper.js';
import type { Engines } from './installation.js';

const STORE_ID = 'store-id';

/** Fills the indexes: from the snapshot and the changes since, where there is one that fits, else from the store alone. */
export async function fillIndexes(
  store: Store,
  engines: Engines,
  follower: IndexFollower,
  logger: Logger,
): Promise<SnapshotKeeper | undefined> {
  if (engines.snapshots === undefined) {
    await follower.fill();
    return undefined;
  }
  const keeper = new SnapshotKeeper({
    snapshots: engines.snapshots,
    storeId: JSON.parse(await store.settings.putIfAbsent(STORE_ID, JSON.stringify(randomUUID()))) as string,
    revision: () => follower.revision,
    logger,
  });
  const restored = await keeper.restore(await store.notes.lastRevision());
  const refill = async ({ refusal, detail }: RefusedSnapshot): Promise<void> => {
    keeper.discard(refusal, detail);
    await engines.vectorIndex.clear();
    await follower.fill();
  };
  try {
    const sound = await follower.fill(restored);
    if (!sound) keeper.discard('CORRUPT', 'it held notes that the store does not');
  } catch (error) {
    // Writes fail where the snapshot was found out meanwhile; anything else is the store's trouble.
    const refused = await keeper.state.restored?.verified;
    if (refused === undefined) throw error;
    await refill(refused);
    return keeper;
  }
  void keeper.state.restored?.verified
    .then((refused) => (refused === undefined ? undefined : refill(refused)))
    .catch((error: unknown) => logger.error({ error }, 'vector index could not be filled anew'));
  return keeper;
}
