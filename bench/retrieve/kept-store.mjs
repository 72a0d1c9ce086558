// Stores that outlast a run, in .cache/bench-stores, with the index's snapshot beside them: a million notes take an hour to store, index and
// link, and a moment to copy.
import { createHash } from 'node:crypto';
import { constants, copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createSqliteStore } from '../../dist/adapters/sqlite/create-sqlite-store.js';
import { createApp } from '../../dist/app/create-app.js';
import { openEngines } from '../../dist/app/installation.js';
import { parseConfig } from '../../dist/config/parse-config.js';
import { silentLogger } from '../../dist/ports/logger.js';
import { fillStore } from '../fixtures/notes.mjs';
import { replaceFile } from '../index/kept-indexes.mjs';

const cache = fileURLToPath(new URL('../../.cache/bench-stores/', import.meta.url));
const fixtures = ['notes.mjs', 'lessons.mjs'].map((name) => new URL(`../fixtures/${name}`, import.meta.url));
/** There once a store is complete. */
const MANIFEST = 'built.json';
const STORE = 'errata.sqlite';
const SNAPSHOT = 'vectors.snapshot';
const KEY_LENGTH = 16;
const TOLD_EVERY = 50_000;

function folderOf(notes, modelId) {
  const hash = createHash('sha256').update(JSON.stringify({ notes, modelId }));
  for (const file of fixtures) hash.update(readFileSync(file));
  return path.join(cache, `${notes}-${hash.digest('hex').slice(0, KEY_LENGTH)}`);
}

/** The folder of a complete store of so many notes of this model; undefined where it is not kept. */
export function keptStore(notes, modelId) {
  const folder = folderOf(notes, modelId);
  return existsSync(path.join(folder, MANIFEST)) ? folder : undefined;
}

/** Seconds that its building took: `{ storeSeconds, indexSeconds, graphSeconds }`. */
export const buildTimes = (folder) => JSON.parse(readFileSync(path.join(folder, MANIFEST), 'utf8'));

/** Copies a kept store into a folder of one's own: what reads it writes receipts. Where the file system can, nothing is copied. */
export function copyStore(folder, target) {
  for (const name of readdirSync(folder)) {
    if (name !== MANIFEST)
      copyFileSync(path.join(folder, name), path.join(target, name), constants.COPYFILE_FICLONE);
  }
}

/** Stores, indexes and links what is missing; what was interrupted is gone on with. Resolves with the folder. */
export async function prepareStore(notes, { log }) {
  const engines = await openEngines(parseConfig({ env: process.env, flags: { data: cache } }));
  const modelId = engines.embedder.model.id;
  const folder = folderOf(notes, modelId);
  if (existsSync(path.join(folder, MANIFEST))) {
    await engines.close();
    return folder;
  }
  mkdirSync(folder, { recursive: true });
  const store = await createSqliteStore({ path: path.join(folder, STORE) });
  const there = await store.notes.count('all', {});
  const times = {};
  const lap = async (name, work) => {
    log(name);
    const started = performance.now();
    const result = await work();
    times[`${name}Seconds`] = (performance.now() - started) / 1_000;
    return result;
  };
  await lap('store', () =>
    fillStore(store, engines.embedder, notes, {
      from: there,
      onBatch: (count) => {
        if (count % TOLD_EVERY === 0) log(`${count} notes stored`);
      },
    }),
  );
  await engines.close();
  const config = parseConfig({ env: process.env, flags: { data: folder } });
  const indexed = await openEngines(config);
  const app = await lap('index', () =>
    createApp({ store, engines: indexed, logger: silentLogger, runJobs: false, writeSnapshots: true }),
  );
  await lap('graph', () => indexed.vectorIndex.settle());
  await app.close();
  await indexed.close();
  await store.close();
  if (!existsSync(path.join(folder, SNAPSHOT)))
    throw new Error(`Expected a snapshot of the index in ${folder}, found none`);
  // Where it was done in more than one go, the time of storing says nothing.
  if (there > 0) delete times.storeSeconds;
  replaceFile(path.join(folder, MANIFEST), JSON.stringify({ notes, modelId, ...times }));
  return folder;
}
