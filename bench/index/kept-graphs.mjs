// The graph case's contestants where they are kept between runs: built where they are missing, else opened. Building uses all
// cores; searches are of one thread all the same.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { loadRival, RIVALS } from './install-rivals.mjs';
import { dataDigest, keptIndex, keptValue, nativeVersion } from './kept-indexes.mjs';
import { answersOf, keptOurs, openOurs } from './ours.mjs';
import { CONNECTIVITY, EF_CONSTRUCTION } from './rival-settings.mjs';
import { KEPT_GRAPHS } from './rivals.mjs';

const K = 10;
const ownManifest = new URL('../../package.json', import.meta.url);
/** USearch comes with the project. */
const versionOf = (name) =>
  RIVALS[name] ?? JSON.parse(readFileSync(ownManifest, 'utf8')).devDependencies[name];
const noTags = { sharesOf: () => 0 };

/** The addon's build threads are at most 8. */
const threads = Math.min(8, availableParallelism());

/** All that the case needs besides the queries; what was missing is built and kept. One after the other, for the memory's sake. */
export async function prepareKept({ data, rivals, queries, installs, log }) {
  const common = { data: dataDigest(data), connectivity: CONNECTIVITY, efConstruction: EF_CONSTRUCTION };
  const exact = await keptValue('exact', { data: common.data, queries, k: K }, { log }, async () => {
    const floats = await openOurs(data, { codes: false });
    const answers = await answersOf(data, queries, (query) => floats.keys(query, K));
    floats.close();
    return answers;
  });
  const missing = new Map();
  const indexes = [];
  // Ours last: it is the one whose version changes, and rivals' are of use without it.
  for (const name of rivals) {
    const { module, missing: reason } = loadRival(name, { installs, log });
    if (reason !== undefined) {
      missing.set(name, reason);
      continue;
    }
    const identity = { ...common, name, version: versionOf(name) };
    const index = await keptIndex(name, identity, { log }, async (folder) => {
      await KEPT_GRAPHS[name].build(module, data, noTags, { folder, threads, log });
    });
    globalThis.gc?.();
    indexes.push({ name, module, ...index });
  }
  const version = nativeVersion();
  const index = await keptIndex('errata', { ...common, name: 'errata', version }, { log }, (folder) =>
    keptOurs.build(data, { folder, threads }),
  );
  indexes.unshift({ name: 'errata', ...index });
  return { exact, indexes, missing };
}

/** `{ engines, ours, exact, missing }` as the case takes them; the rows of `data` are let go. */
export async function openKept({ data, parameters: { rivals }, queries, installs, log }) {
  const { exact, indexes, missing } = await prepareKept({ data, rivals, queries, installs, log });
  data.rows = undefined;
  globalThis.gc?.();
  const engines = [];
  let ours;
  for (const { name, module, folder, seconds } of indexes) {
    log(`opening ${name}`);
    if (name === 'errata') {
      ours = await keptOurs.open({ folder });
      engines.push(ourEngine(ours, seconds));
    } else {
      const engine = await KEPT_GRAPHS[name].open(module, { folder });
      engines.push({ ...engine, name, keys: (answer) => answer, seconds });
    }
  }
  return { engines, ours, exact, missing };
}

/** Ours as one of the engines that are compared. */
export const ourEngine = (ours, seconds) => ({
  name: 'errata',
  search: (query, k, ef) => ours.search(query, k, { ef }),
  keys: (answer) => answer.keys,
  seconds,
});
