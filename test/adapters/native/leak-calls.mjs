// Every kind of call into the addon, the cheap ones as often as asked for: `leak-calls.mjs ADDON CALLS`. Exits 1 where the
// process grew by more than ERRATA_LEAK_BOUND_MB after the first fifth.
import { createRequire } from 'node:module';

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
  }
  if (i % 1_000 === 0) {
    await partition.put(batch(i % 7, 20));
    await partition.remove(Float64Array.of(i % 7));
    const other = new addon.Partition({ dimensions: DIMENSIONS });
    await other.put(batch(0, 5));
    other.close();
    await partition.put({ ...batch(0, 1), vectors: new Float32Array(3) }).catch(() => undefined);
  }
  if (i === Math.floor(calls / 5)) {
    globalThis.gc();
    first = process.memoryUsage.rss();
  }
}
globalThis.gc();
const grown = (process.memoryUsage.rss() - first) / 1e6;
partition.close();
console.log(`${calls} calls: grown by ${grown.toFixed(1)} MB after the first fifth`);
const bound = process.env.ERRATA_LEAK_BOUND_MB;
if (bound !== undefined && grown > Number(bound)) process.exitCode = 1;
