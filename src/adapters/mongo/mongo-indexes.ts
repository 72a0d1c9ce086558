import type { IndexSpecification } from 'mongodb';
import type { MongoConnection } from './mongo-connection.js';

/** Plain indexes only: partial, TTL and text ones are not everywhere. Every list order ends with the id. */
const INDEXES: Readonly<Record<string, readonly IndexSpecification[]>> = {
  notes: [
    { namespace: 1, createdAt: 1, _id: 1 },
    { namespace: 1, updatedAt: 1, _id: 1 },
    { namespace: 1, risk: 1, openedAt: 1, _id: 1 },
    { namespace: 1, taskType: 1, status: 1 },
    { createdAt: 1, _id: 1 },
    { attributes: 1 },
    { 'anchors.ref': 1 },
    { 'pending.open': 1 },
  ],
  audit: [
    { at: 1, version: 1, _id: 1 },
    { namespace: 1, at: 1, version: 1, _id: 1 },
    { noteId: 1, at: 1, version: 1, _id: 1 },
    { actor: 1, at: 1, version: 1, _id: 1 },
  ],
  receipts: [{ namespace: 1, noteIds: 1, createdAt: 1, _id: 1 }, { createdAt: 1 }],
  jobs: [
    { createdAt: 1, _id: 1 },
    { state: 1, createdAt: 1, _id: 1 },
  ],
  versions: [{ noteId: 1, version: 1 }],
  trials: [{ namespace: 1, at: 1, _id: 1 }],
  keys: [{ keyHash: 1 }],
};

/** Makes the indexes that are not there; several processes may do so at once. One a command: FerretDB 1 fails at a repeated list. */
export async function createIndexes(connection: MongoConnection): Promise<void> {
  for (const [name, specifications] of Object.entries(INDEXES)) {
    for (const specification of specifications) await connection.collection(name).createIndex(specification);
  }
}
