import { join } from 'node:path';
import { createMongoStore } from '../../src/adapters/mongo/create-mongo-store.js';
import { createSqliteStore } from '../../src/adapters/sqlite/create-sqlite-store.js';
import type { Cipher } from '../../src/ports/cipher.js';
import type { Store } from '../../src/ports/note-store.js';
import { peerAvailable, startMongoJavaServer } from '../peers/start-peer.js';
import { isBuilt, type ProcessEnvironment } from './dist-process.js';

export interface OpenBackend {
  /** What a server process needs beside its folder. */
  readonly env: ProcessEnvironment;
  connect(cipher?: Cipher): Promise<Store>;
  close(): Promise<void>;
}

export interface Backend {
  /** With the reason why it is skipped, if it is. */
  readonly title: string;
  readonly skip: string | undefined;
  /** Whether a write is one transaction. */
  readonly hasTransactions: boolean;
  open(folder: string): Promise<OpenBackend>;
}

const unbuilt = isBuilt ? undefined : 'dist is not built (npm test builds it)';
const noPeer = unbuilt ?? (await peerAvailable('mongo-java-server'));
const titled = (name: string, skip: string | undefined) =>
  skip === undefined ? name : `${name} (skipped: ${skip})`;

/** Both stores, for tests that run the built server as processes. */
export const BACKENDS: readonly Backend[] = [
  {
    title: titled('SQLite', unbuilt),
    skip: unbuilt,
    hasTransactions: true,
    open: async (folder) => ({
      env: {},
      connect: (cipher) => createSqliteStore({ path: join(folder, 'errata.sqlite'), cipher }),
      close: async () => undefined,
    }),
  },
  {
    title: titled('MongoDB (mongo-java-server)', noPeer),
    skip: noPeer,
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
