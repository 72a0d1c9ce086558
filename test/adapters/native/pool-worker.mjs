// Runs one scenario of pool.test.ts in an environment of its own, whose pool has the limits that the scenario wants.
import { mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';

const { addonFile, scenario } = workerData;
const addon = createRequire(import.meta.url)(addonFile);
const DIMENSIONS = 256;
const ROWS = 40_000;

const codeOf = (promise) => promise.then(() => 'ok').catch((error) => error.code);
const settled = (promise) => {
  let state = 'pending';
  promise.then(() => (state = 'ok')).catch((error) => (state = error.code));
  return () => state;
};

const batchOf = (rows, vectors) => ({
  keys: Float64Array.from({ length: rows }, (_, i) => i),
  orders: new Uint32Array(rows * 4),
  rowBegin: Uint32Array.from({ length: rows + 1 }, (_, i) => i),
  kinds: new Uint8Array(rows),
  vectors,
  tagBegin: new Uint32Array(rows + 1),
  tags: new Uint32Array(),
});

async function filled({ rows = ROWS, graphThreshold = 1_000_000 } = {}) {
  const partition = new addon.Partition({ dimensions: DIMENSIONS, graphThreshold });
  // No two rows are alike.
  const vectors = Float32Array.from({ length: rows * DIMENSIONS }, (_, i) => {
    const mixed = Math.imul(i ^ (i >>> 7), 0x9e3779b1);
    return ((mixed >>> 9) % 1_009) - 504;
  });
  for (let row = 0; row < rows; row += 1)
    addon.normalize(vectors.subarray(row * DIMENSIONS, (row + 1) * DIMENSIONS));
  await partition.put(batchOf(rows, vectors));
  const one = vectors.slice(0, DIMENSIONS);
  return {
    partition,
    one,
    all: batchOf(rows, vectors),
    /** Every row has another one's vector. */
    moved: batchOf(rows, Float32Array.from([...vectors.subarray(DIMENSIONS), ...one])),
    /** Tens of milliseconds on a thread. */
    long: () => partition.searchBatch(vectors.subarray(0, 64 * DIMENSIONS), 10, undefined),
    /** Estimated above what the event loop does itself: it takes a thread, too. */
    short: (stop) => partition.search(one, 2_000, undefined, undefined, stop),
  };
}

const scenarios = {
  async queue() {
    addon.configurePool(1, 2);
    const { long } = await filled();
    const calls = Array.from({ length: 6 }, () => codeOf(long()));
    const counts = addon.poolStats();
    return { codes: await Promise.all(calls), counts, after: await codeOf(long()) };
  },
  async abort() {
    addon.configurePool(1, 100);
    const { long, short } = await filled();
    const running = settled(long());
    const stop = addon.createStop();
    const waiting = codeOf(short(stop));
    addon.cancelStop(stop);
    const code = await waiting;
    return { code, running: running() };
  },
  async deadline() {
    addon.configurePool(1, 100);
    const { long, short } = await filled();
    const running = settled(Promise.all([long(), long(), long(), long(), long(), long()]));
    const stop = addon.createStop(1);
    const waiting = codeOf(short(stop));
    setTimeout(() => addon.endQueued(stop), 3);
    return { code: await waiting, running: running() };
  },
  async lanes() {
    addon.configurePool(2, 100);
    // Other vectors are linked anew, a hundred times as long as their copying: the second put must not take the other thread.
    const { partition, one, all, moved } = await filled({ rows: 2_000, graphThreshold: 1_000 });
    await partition.settle();
    const first = settled(partition.put(moved));
    const both = partition.put(all);
    const searched = await codeOf(partition.scoresOf(one, Float64Array.of(1)));
    const found = { searched, first: first() };
    await both;
    return found;
  },
  async saves() {
    addon.configurePool(1, 100);
    const { partition, one } = await filled();
    const folder = mkdtempSync(path.join(tmpdir(), 'errata-pool-'));
    const pins = await addon.pinSnapshot([partition], false);
    const second = await codeOf(addon.pinSnapshot([partition], false));
    const directory = addon.allocateSnapshot(8).memory;
    const options = {
      path: path.join(folder, 'a'),
      dimensions: DIMENSIONS,
      codes: true,
      model: 'm',
      store: 's',
      revision: 1,
      createdMs: 0,
    };
    // Tens of megabytes, synced.
    const saving = addon.saveSnapshot(options, directory, pins);
    const saved = settled(saving);
    const written = await codeOf(partition.put(batchOf(1, one)));
    const found = { second, written, saved: saved() };
    await saving;
    const given = await addon.pinSnapshot([partition], false);
    found.used = await codeOf((async () => addon.saveSnapshot(options, directory, pins))());
    // What a save has used holds nothing any more; what none will use is let go of.
    await addon.unpinSnapshot(pins);
    found.held = await codeOf(addon.pinSnapshot([partition], false));
    await addon.unpinSnapshot(given);
    found.again = await codeOf(addon.pinSnapshot([partition], false));
    found.other = await codeOf((async () => addon.unpinSnapshot({}))());
    rmSync(folder, { recursive: true });
    return found;
  },
  async files() {
    addon.configurePool(4, 1000);
    const { long } = await filled();
    const all = settled(Promise.all(Array.from({ length: 40 }, long)));
    await readFile(addonFile);
    return { searches: all() };
  },
  async late() {
    const { long } = await filled();
    await long();
    let code = 'none';
    try {
      addon.configurePool(3, 7);
    } catch (error) {
      code = error.code;
    }
    return { code };
  },
  async waits() {
    addon.configurePool(1, 100);
    const { partition, short } = await filled();
    const graph = new addon.Partition({ dimensions: DIMENSIONS, graphThreshold: 1, efConstruction: 64 });
    const vectors = Float32Array.from(
      { length: 3_000 * DIMENSIONS },
      (_, i) => ((i * 104_729) % 1_013) - 506,
    );
    for (let row = 0; row < 3_000; row += 1)
      addon.normalize(vectors.subarray(row * DIMENSIONS, (row + 1) * DIMENSIONS));
    await graph.put(batchOf(3_000, vectors));
    const building = graph.stats().building;
    const waiting = settled(graph.settle());
    await short();
    const whileSearched = waiting();
    await graph.settle();
    return { building, whileSearched, hasGraph: graph.stats().hasGraph, rows: partition.stats().rows };
  },
  /** Ends with much queued, which must neither hold the environment up nor crash it. */
  async teardown() {
    addon.configurePool(2, 1000);
    const { long } = await filled();
    for (let i = 0; i < 500; i += 1) long().catch(() => undefined);
    return { queued: addon.poolStats().queued };
  },
};

parentPort.postMessage(await scenarios[scenario]());
if (scenario === 'teardown') process.exit();
