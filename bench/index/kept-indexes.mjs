// Built indexes that outlast a run, in .cache/bench-vectors: a graph of a million rows takes a rival half an hour to build and
// a moment to open, so that building can go on under load and only searches need a quiet machine.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { cpuSeconds } from './timing.mjs';

const cache = fileURLToPath(new URL('../../.cache/bench-vectors/', import.meta.url));
const nativeSources = fileURLToPath(new URL('../../native/index/', import.meta.url));
const KEY_LENGTH = 16;
/** There once an index is complete. */
const MANIFEST = 'built.json';

const viewOf = (vectors) => new Uint8Array(vectors.buffer, vectors.byteOffset, vectors.byteLength);

/** Of rows and queries, as hexadecimal SHA-256. */
export const dataDigest = ({ rows, queries }) =>
  createHash('sha256').update(viewOf(rows)).update(viewOf(queries)).digest('hex');

/** Of the sources that decide which graph the addon builds, and more: a change of any of them builds it anew. */
export function nativeVersion() {
  const hash = createHash('sha256');
  for (const name of readdirSync(nativeSources).sort())
    hash.update(`${name}\n`).update(readFileSync(path.join(nativeSources, name)));
  return hash.digest('hex').slice(0, KEY_LENGTH);
}

function folderOf(name, identity) {
  const key = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, KEY_LENGTH);
  return path.join(cache, `${name.replaceAll(/[^\w-]+/g, '-')}-${key}`);
}

/**
 * The folder of an index of this identity: data digest, parameters and version, as a JSON value. Where it is not complete,
 * `build(folder)` is called, which may find what an interrupted one left there. Gives `{ folder, seconds }`: CPU seconds of the
 * build, undefined where it was done in more than one go.
 */
export async function keptIndex(name, identity, { log }, build) {
  const folder = folderOf(name, identity);
  const manifest = path.join(folder, MANIFEST);
  if (existsSync(manifest)) {
    const { seconds } = JSON.parse(readFileSync(manifest, 'utf8'));
    return { folder, seconds };
  }
  const resumed = existsSync(folder);
  mkdirSync(folder, { recursive: true });
  log(`${resumed ? 'going on with' : 'building'} ${name}, kept in ${path.relative(process.cwd(), folder)}`);
  const { seconds } = await cpuSeconds(() => build(folder));
  replaceFile(
    manifest,
    JSON.stringify({
      ...identity,
      builtAt: new Date().toISOString(),
      seconds: resumed ? undefined : seconds,
    }),
  );
  log(`${name} is built, ${Math.round(seconds)} CPU s`);
  return { folder, seconds: resumed ? undefined : seconds };
}

/** A small result beside the indexes, such as exact answers: a JSON value. */
export async function keptValue(name, identity, { log }, compute) {
  const { folder } = await keptIndex(name, identity, { log }, async (where) =>
    replaceFile(path.join(where, 'value.json'), JSON.stringify(await compute())),
  );
  return JSON.parse(readFileSync(path.join(folder, 'value.json'), 'utf8'));
}

/** Whole or not at all, as far as a killed process goes. */
export function replaceFile(file, text) {
  writeFileSync(`${file}.part`, text);
  renameSync(`${file}.part`, file);
}

/** Empties a folder whose index cannot be continued. */
export function startAfresh(folder) {
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
}
