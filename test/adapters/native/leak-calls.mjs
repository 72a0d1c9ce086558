// Every kind of call into the addon, the cheap ones as often as asked for: `leak-calls.mjs ADDON CALLS`. Exits 1 where the
// process grew by more than ERRATA_LEAK_BOUND_MB after the first fifth.
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';

const [, , addonFile, given] = process.argv;
const addon = createRequire(import.meta.url)(addonFile);
const calls = Number(given);
const DIMENSIONS = 16;
const ROWS = 200;
const K = 10;

const vectors = Float32Array.from({ length: ROWS * DIMENSIONS }, (_, i) => ((i * 7_919) % 1_009) - 504);
const row = (i) => vectors.subarray((i % ROWS) * DIMENSIONS, ((i % ROWS) + 1) * DIMENSIONS);
for (let i = 0; i < ROWS; i += 1) addon.normalize(row(i));
const batch = (from, count) => ({
  keys: Float64Array.from({ length: count }, (_, i) => from + i),
  orders: new Uint32Array(count * 4),
  rowBegin: Uint32Array.from({ length: count + 1 }, (_, i) => i),
  kinds: new Uint8Array(count),
  vectors: vectors.slice(0, count * DIMENSIONS),
  tagBegin: Uint32Array.from({ length: count + 1 }, (_, i) => i),
  tags: Uint32Array.from({ length: count }, (_, i) => 1 + (i % 3)),
});
const partition = new addon.Partition({ dimensions: DIMENSIONS, graphThreshold: 1_000_000 });
await partition.put(batch(0, ROWS));
/** Of enough rows for a graph, which is built in the background. */
const graph = new addon.Partition({ dimensions: DIMENSIONS, graphThreshold: 64, lateBytes: 1 });
await graph.put(batch(0, ROWS));
await graph.settle();
const folder = mkdtempSync(path.join(tmpdir(), 'errata-leak-'));
const keys = new Float64Array(K);
const scores = new Float32Array(K);
const kinds = new Uint8Array(K);
const filter = Uint32Array.of(1, 2, 0xffff_fffe);

function refused(call) {
  try {
    call();
  } catch {
    return;
  }
  throw new Error('Expected a refusal');
}

const codeOf = (promise) => promise.then(() => 'ok').catch((error) => error.code);

function expected(received, wanted, what) {
  if (received !== wanted) throw new Error(`Expected ${wanted} for ${what}, received ${received}`);
}

/** Searches that end early: before they began, while they wait, and past their time. */
async function stops(i) {
  const cancelled = addon.createStop();
  addon.cancelStop(cancelled);
  expected(
    await codeOf(partition.searchBatch(row(i), K, filter, cancelled)),
    'ABORTED',
    'a cancelled search',
  );
  const waiting = addon.createStop(60_000);
  const search = codeOf(partition.searchBatch(vectors, K, filter, waiting));
  addon.cancelStop(waiting);
  addon.endQueued(waiting);
  await search; // Either: it may have ended before.
  const late = addon.createStop(1);
  const until = performance.now() + 2;
  while (performance.now() < until);
  expected(await codeOf(partition.searchBatch(row(i), K, filter, late)), 'TIMED_OUT', 'a late search');
}

/** Links, filtered and not; removals, replaced rows, closed-up slots. */
async function graphs(i) {
  graph.searchInto(row(i), K, 40, undefined, keys, scores, kinds, 'graph');
  graph.searchInto(row(i), K, 40, Uint32Array.of(1), keys, scores, kinds, 'graph');
  await graph.explain(row(i), K, 40, filter, undefined, 'graph');
  await graph.rowsOf(keys);
  if (i % 1_000 !== 0) return;
  const third = Float64Array.from({ length: ROWS / 3 }, (_, n) => n);
  await graph.remove(third);
  await graph.compact();
  await graph.settle();
  await graph.put(batch(0, ROWS));
  await graph.settle();
  expected(graph.stats().hasGraph, true, 'a graph');
}

/** A file and bytes; read back, verified late, with writes meanwhile; a file that is none. */
async function snapshots(i) {
  const content = { dimensions: DIMENSIONS, codes: true, model: 'm', store: 's' };
  const moment = { revision: 1, createdMs: 0 };
  const file = path.join(folder, 'snapshot');
  for (const place of [{ path: file }, {}]) {
    const pins = await addon.pinSnapshot([partition, graph], true);
    const directory = addon.allocateSnapshot(64);
    new Uint8Array(directory.bytes).fill(0);
    const saved = addon.saveSnapshot({ ...content, ...moment, ...place }, directory.memory, pins);
    await graph.put(batch(i % 11, 5));
    const result = await saved;
    let from = place;
    if (typeof result !== 'number') {
      const copy = addon.allocateSnapshot(result.byteLength);
      new Uint8Array(copy.bytes).set(new Uint8Array(result));
      from = { memory: copy.memory };
    }
    const { handle, refusal } = await addon.openSnapshot({ ...content, ...from });
    expected(refusal, 'NONE', 'a snapshot');
    for (const number of [0, 1]) {
      const restored = new addon.Partition({ dimensions: DIMENSIONS, graphThreshold: 64, lateBytes: number });
      await restored.restore(handle, number);
      await restored.search(row(i), K, undefined, filter);
      await restored.verified();
      restored.close();
    }
  }
  await addon.unpinSnapshot(await addon.pinSnapshot([graph], true)); // Given up, or the next save would be refused.
  await graph.settle();
  const other = await addon.openSnapshot({ ...content, model: 'another', path: file });
  expected(other.refusal, 'WRONG_MODEL', "another model's snapshot");
}

let first = 0;
for (let i = 0; i < calls; i += 1) {
  partition.searchInto(row(i), K, undefined, i % 2 ? filter : undefined, keys, scores, kinds);
  if (i % 10 === 0) {
    await partition.search(row(i), K, undefined, filter, addon.createStop(60_000));
    partition.stats();
    refused(() => partition.searchInto(row(i).subarray(1), K, undefined, undefined, keys, scores, kinds));
  }
  if (i % 100 === 0) {
    await partition.scoresOf(row(i), keys);
    await partition.searchBatch(row(i), K, filter);
    await partition.explain(row(i), K, undefined, undefined);
    await graphs(i);
    await stops(i);
  }
  if (i % 1_000 === 0) {
    await partition.put(batch(i % 7, 20));
    await partition.remove(Float64Array.of(i % 7));
    const other = new addon.Partition({ dimensions: DIMENSIONS });
    await other.put(batch(0, 5));
    other.close();
    await partition.put({ ...batch(0, 1), vectors: new Float32Array(3) }).catch(() => undefined);
  }
  if (i % 5_000 === 0) await snapshots(i);
  if (i === Math.floor(calls / 5)) {
    globalThis.gc();
    first = process.memoryUsage.rss();
  }
}
globalThis.gc();
const grown = (process.memoryUsage.rss() - first) / 1e6;
partition.close();
graph.close();
rmSync(folder, { recursive: true });
console.log(`${calls} calls: grown by ${grown.toFixed(1)} MB after the first fifth`);
const bound = process.env.ERRATA_LEAK_BOUND_MB;
if (bound !== undefined && grown > Number(bound)) process.exitCode = 1;
