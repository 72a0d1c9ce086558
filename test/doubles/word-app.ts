import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createNativeVectorIndex,
  type NativeVectorIndexOptions,
} from '../../src/adapters/native/native-vector-index.js';
import { createSqliteStore } from '../../src/adapters/sqlite/create-sqlite-store.js';
import { createFtsLexicalIndex } from '../../src/adapters/sqlite/fts-lexical-index.js';
import { type App, type AppParts, createApp } from '../../src/app/create-app.js';
import type { Engines } from '../../src/app/installation.js';
import type { Embedder } from '../../src/ports/embedder.js';
import { silentLogger } from '../../src/ports/logger.js';
import type { Store } from '../../src/ports/note-store.js';
import { WORD_SIMILARITIES, WordEmbedder } from './word-embedder.js';

export interface WordApp {
  readonly folder: string;
  readonly store: Store;
  readonly engines: Engines;
  readonly app: App;
  close(): Promise<void>;
}

export interface WordAppOptions extends Partial<Pick<AppParts, 'settings' | 'runJobs' | 'openEngines'>> {
  readonly folder?: string;
  readonly store?: Store;
  readonly embedder?: Embedder;
}

export function wordEngines(
  embedder: Embedder = new WordEmbedder(),
  index: Partial<NativeVectorIndexOptions> = {},
): Engines {
  const vectorIndex = createNativeVectorIndex({ dimensions: embedder.model.dimensions, ...index });
  const lexicalIndex = createFtsLexicalIndex();
  return {
    embedder,
    vectorIndex,
    lexicalIndex,
    fittedScore: undefined,
    similarities: WORD_SIMILARITIES,
    lateInteraction: false,
    async close() {
      await lexicalIndex.close();
      await vectorIndex.close();
      await embedder.close();
    },
  };
}

/** The whole app over real parts but for the model: words stand in for meaning, so that it opens in milliseconds. */
export async function openWordApp(options: WordAppOptions = {}): Promise<WordApp> {
  const folder = options.folder ?? mkdtempSync(join(tmpdir(), 'errata-word-app-'));
  const store = options.store ?? (await createSqliteStore({ path: join(folder, 'errata.sqlite') }));
  const engines = wordEngines(options.embedder);
  const { settings = {}, runJobs = false, openEngines } = options;
  const app = await createApp({ store, engines, logger: silentLogger, runJobs, settings, openEngines });
  return {
    folder,
    store,
    engines,
    app,
    async close() {
      await app.close();
      await engines.close();
      if (options.store === undefined) await store.close();
      if (options.folder === undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}
