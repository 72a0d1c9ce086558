import { join } from 'node:path';
import { createMongoStore } from '../../src/adapters/mongo/create-mongo-store.js';
import { createSqliteStore } from '../../src/adapters/sqlite/create-sqlite-store.js';
import type { Cipher } from '../../src/ports/cipher.js';
import type { Store } from '../../src/ports/note-store.js';
import { peerAvailable, startMongoJavaServer } from '../peers/start-peer.js';

export interface OpenBackend {
  /** What a server process needs beside its folder. */
  readonly env: Readonly<Record<string, string>>;
  /** One more store of the same database, as another process has it; whoever connects closes it, before `close`. */
  connect(cipher?: Cipher): Promise<Store>;
  close(): Promise<void>;
}

export interface StoreBackend {
  readonly name: string;
  /** Why it cannot be had here. */
  readonly skip: string | undefined;
  /** Whether a write is one transaction. */
  readonly hasTransactions: boolean;
  open(folder: string): Promise<OpenBackend>;
}

/** Both stores, MongoDB by the server in Java that tests start. */
export const STORE_BACKENDS: readonly StoreBackend[] = [
  {
    name: 'SQLite',
    skip: undefined,
    hasTransactions: true,
    open: async (folder) => ({
      env: {},
      connect: (cipher) => createSqliteStore({ path: join(folder, 'errata.sqlite'), cipher }),
      close: async () => undefined,
    }),
  },
  {
    name: 'MongoDB (mongo-java-server)',
    skip: await peerAvailable('mongo-java-server'),
    hasTransactions: false,
    open: async () => {
      const peer = await startMongoJavaServer();
      const uri = `${peer.uri}/errata`;
      return {
        env: { MONGODB_URI: uri },
        connect: (cipher) => createMongoStore({ uri, cipher }),
        close: () => peer.stop(),
      };
    },
  },
];

/** The backend's name for `describe.skipIf`, with the reason. */
export function titleOf({ name, skip }: Pick<StoreBackend, 'name' | 'skip'>): string {
  return skip === undefined ? name : `${name} (skipped: ${skip})`;
}
