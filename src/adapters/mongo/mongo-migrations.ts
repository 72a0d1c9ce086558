import type { Collection } from 'mongodb';
import type { NoteDocument } from './mongo-documents.js';
import type { MongoSettingStore } from './mongo-setting-store.js';

/** Documents a round trip. */
const PAGE = 500;
/** Setting that says that a migration was made; a later process asks nothing else. */
const OPENED_AT = 'migration:opened-at';

/**
 * Fills in what earlier versions did not write: `openedAt`, which the queue is ordered by. Several processes may do so at once, and one
 * that is killed is repeated from the start: each document is left alone once it has the field.
 */
export async function migrateDocuments(
  notes: Collection<NoteDocument>,
  settings: MongoSettingStore,
): Promise<void> {
  if ((await settings.get(OPENED_AT)) !== undefined) return;
  let after = '';
  for (;;) {
    const page = await notes
      .find({ _id: { $gt: after } }, { projection: { openedAt: 1, createdAt: 1, 'review.openedAt': 1 } })
      .sort({ _id: 1 })
      .limit(PAGE)
      .toArray();
    const wanting = page.filter((document) => typeof document.openedAt !== 'string');
    for (const { _id, createdAt, review } of wanting) {
      const openedAt = review?.openedAt ?? createdAt;
      await notes.updateOne({ _id, openedAt: { $exists: false } }, { $set: { openedAt } });
    }
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) break;
    after = last._id;
  }
  await settings.put(OPENED_AT, 'true');
}
