import { join } from 'node:path';
import { createMongoStore } from '../../src/adapters/mongo/create-mongo-store.js';
import { createSqliteStore } from '../../src/adapters/sqlite/create-sqlite-store.js';
import type { Store } from '../../src/ports/note-store.js';
import { peerAvailable, startMongoJavaServer } from '../peers/start-peer.js';

export interface StoreBackend {
  readonly name: string;
  /** Why it cannot be had here. */
  readonly skip: string | undefined;
  /** As many stores of one database as asked for, as so many processes have them; whoever opens them closes them, before `close`. */
  open(
    folder: string,
    stores: number,
  ): Promise<{ readonly stores: readonly Store[]; close(): Promise<void> }>;
}

/** Both stores, MongoDB by the server in Java that tests start. */
export const STORE_BACKENDS: readonly StoreBackend[] = [
  {
    name: 'SQLite',
    skip: undefined,
    open: async (folder, count) => ({
      stores: await openMany(count, () => createSqliteStore({ path: join(folder, 'errata.db') })),
      close: async () => undefined,
    }),
  },
  {
    name: 'MongoDB (mongo-java-server)',
    skip: await peerAvailable('mongo-java-server'),
    open: async (_folder, count) => {
      const peer = await startMongoJavaServer();
      const stores = await openMany(count, () => createMongoStore({ uri: `${peer.uri}/errata` }));
      return { stores, close: () => peer.stop() };
    },
  },
];

async function openMany(count: number, open: () => Promise<Store>): Promise<readonly Store[]> {
  const stores: Store[] = [];
  while (stores.length < count) stores.push(await open());
  return stores;
}

/** The backend's name for `describe.skipIf`, with the reason. */
export function titleOf({ name, skip }: StoreBackend): string {
  return skip === undefined ? name : `${name} (skipped: ${skip})`;
}
