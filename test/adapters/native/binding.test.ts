import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import {
  loadAddon,
  type NativeBatch,
  type NativePartition,
} from '../../../src/adapters/native/load-addon.js';
import { createNativeVectorIndex } from '../../../src/adapters/native/native-vector-index.js';
import { seededRandom } from '../../../src/evaluation/statistics/seeded-random.js';
import { DIMENSIONS, note, noteId, unit } from '../../contract/vector-index.contract.js';

const addon = loadAddon();
/** Calls of the leak test; a million where `ERRATA_LEAK_CALLS=1000000` asks for it (half a minute). */
const LEAK_CALLS = Number(process.env.ERRATA_LEAK_CALLS ?? 20_000);

async function partitionOf(rows: number, dimensions = DIMENSIONS): Promise<NativePartition> {
  const partition = new addon.Partition({
    dimensions,
    connectivity: 16,
    efConstruction: 64,
    efSearch: 64,
    graphThreshold: 1_000_000,
  });
  await partition.put(batchOf(rows, dimensions));
  return partition;
}

function batchOf(rows: number, dimensions = DIMENSIONS): NativeBatch {
  const random = seededRandom(5);
  const vectors = new Float32Array(rows * dimensions).map(() => random() - 0.5);
  for (let row = 0; row < rows; row += 1)
    addon.normalize(vectors.subarray(row * dimensions, (row + 1) * dimensions));
  return {
    keys: Float64Array.from({ length: rows }, (_, i) => i),
    orders: new Uint32Array(rows * 4),
    rowBegin: Uint32Array.from({ length: rows + 1 }, (_, i) => i),
    kinds: new Uint8Array(rows),
    vectors,
    tagBegin: new Uint32Array(rows + 1),
    tags: new Uint32Array(),
  };
}

const room = (k: number) => [new Float64Array(k), new Float32Array(k), new Uint8Array(k)] as const;

describe('searchInto', () => {
  it('fills the caller’s arrays as search would, from their own offset on', async () => {
    const partition = await partitionOf(50);
    const query = unit(1, -2, 3);
    const answer = await partition.search(query, 7, undefined, undefined);
    // All four are views into the middle of larger buffers.
    const padded = new Float32Array(DIMENSIONS + 5);
    padded.set(query, 5);
    const keys = new Float64Array(20).fill(-1);
    const scores = new Float32Array(20).fill(-1);
    const kinds = new Uint8Array(20).fill(9);
    const count = partition.searchInto(
      padded.subarray(5),
      7,
      undefined,
      undefined,
      keys.subarray(3, 10),
      scores.subarray(4, 11),
      kinds.subarray(5, 12),
    );
    expect(count).toBe(7);
    expect([...keys]).toEqual([-1, -1, -1, ...answer.keys, ...Array(10).fill(-1)]);
    expect(scores.subarray(4, 11)).toEqual(answer.scores);
    expect([scores[3], scores[11], kinds[4], kinds[12]]).toEqual([-1, -1, 9, 9]);
    expect(kinds.subarray(5, 12)).toEqual(answer.kinds);
    partition.close();
  });

  it('takes another plan than the planner’s where it is told to, and finds the same', async () => {
    const partition = await partitionOf(300);
    const graph = new addon.Partition({
      dimensions: DIMENSIONS,
      connectivity: 16,
      efConstruction: 64,
      efSearch: 64,
      graphThreshold: 100,
    });
    const query = unit(1, -2, 3);
    const planned = await partition.search(query, 5, undefined, undefined);
    const arrays = room(5);
    expect(partition.searchInto(query, 5, undefined, undefined, ...arrays, 'graph')).toBe(5);
    expect([...arrays[0]]).toEqual([...planned.keys]);
    // There is no graph, so it was the scan all the same.
    expect((await partition.explain(query, 5, undefined, undefined, undefined, 'graph')).plan).toBe('scan');
    await graph.put(batchOf(300));
    await graph.settle();
    expect((await graph.explain(query, 5, undefined, undefined, undefined, 'graph')).plan).toBe('graph');
    expect((await graph.explain(query, 5, undefined, undefined, undefined, 'scan')).plan).toBe('scan');
    expect(() => partition.searchInto(query, 5, undefined, undefined, ...arrays, 'guess' as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT' }),
    );
    expect(partition.timeSearch(query, 5, 10)).toBeGreaterThan(0);
    partition.close();
    graph.close();
  });

  it('refuses what it cannot fill, and a query that is detached, short, not finite or of another type', async () => {
    const partition = await partitionOf(5);
    const query = unit(1);
    const into = (vector: Float32Array, k: number, ...arrays: readonly unknown[]) =>
      partition.searchInto(
        vector,
        k,
        undefined,
        undefined,
        ...(arrays as [Float64Array, Float32Array, Uint8Array]),
      );
    const [keys, scores, kinds] = room(5);
    expect(into(query, 5, keys, scores, kinds)).toBe(5);
    expect(() => into(query, 6, keys, scores, kinds)).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT' }),
    );
    expect(() => into(query, 5, scores, scores, kinds)).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT' }),
    );
    expect(() => into(query, 5, keys, scores)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
    const detached = unit(1);
    structuredClone(detached.buffer, { transfer: [detached.buffer as ArrayBuffer] });
    for (const vector of [detached, unit(1).subarray(1), unit(1).fill(Number.NaN), [...unit(1)] as never])
      expect(() => into(vector, 5, keys, scores, kinds)).toThrow(
        expect.objectContaining({ code: 'INVALID_VECTOR' }),
      );
    const gone = new Float64Array(5);
    structuredClone(gone.buffer, { transfer: [gone.buffer as ArrayBuffer] });
    expect(() => into(query, 5, gone, scores, kinds)).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT' }),
    );
    partition.close();
    expect(() => into(query, 5, keys, scores, kinds)).toThrow(expect.objectContaining({ code: 'CLOSED' }));
  });

  it(`leaks nothing over ${LEAK_CALLS} calls of each kind`, async () => {
    const partition = await partitionOf(20);
    const query = unit(1, 2);
    const [keys, scores, kinds] = room(10);
    let refused = 0;
    const round = async (calls: number) => {
      for (let i = 0; i < calls; i += 1) {
        partition.searchInto(query, 10, undefined, undefined, keys, scores, kinds);
        await partition.search(query, 10, undefined, undefined, addon.createStop(1_000));
        try {
          partition.searchInto(query, 11, undefined, undefined, keys, scores, kinds);
        } catch {
          refused += 1;
        }
      }
    };
    await round(LEAK_CALLS / 2);
    const before = process.memoryUsage().rss;
    await round(LEAK_CALLS / 2);
    // A vector of 8 dimensions and an answer lost a call would be 1 kB and more; the collector's own swing is up to 20 MB.
    expect(process.memoryUsage().rss - before).toBeLessThan(20e6 + LEAK_CALLS * 50);
    expect(refused).toBe(LEAK_CALLS);
    partition.close();
  }, 300_000);

  it('works in several worker threads at once, each with a partition of its own', async () => {
    const addonFile = new URL('../../../build/Release/errata_native.node', import.meta.url).pathname;
    expect(readFileSync(addonFile).length).toBeGreaterThan(0);
    const code = `
      const { parentPort } = require('node:worker_threads');
      const addon = require(${JSON.stringify(addonFile)});
      const partition = new addon.Partition({ dimensions: 2, graphThreshold: 10 });
      partition.put({ keys: Float64Array.of(1, 2), orders: new Uint32Array(8), rowBegin: Uint32Array.of(0, 1, 2),
        kinds: new Uint8Array(2), vectors: Float32Array.of(1, 0, 0, 1), tagBegin: new Uint32Array(3), tags: new Uint32Array() })
        .then(() => {
          const keys = new Float64Array(2);
          let sum = 0;
          for (let i = 0; i < 5_000; i += 1) {
            partition.searchInto(Float32Array.of(1, 0), 2, undefined, undefined, keys, new Float32Array(2), new Uint8Array(2));
            sum += keys[0];
          }
          parentPort.postMessage(sum);
        });`;
    const sums = await Promise.all(
      Array.from(
        { length: 3 },
        () =>
          new Promise((resolve, reject) => {
            const worker = new Worker(code, { eval: true });
            worker.once('message', resolve);
            worker.once('error', reject);
          }),
      ),
    );
    expect(sums).toEqual([5_000, 5_000, 5_000]);
  });
});

describe('stops', () => {
  it('end a search on its thread, once cancelled or late, and harm no other', async () => {
    // Large enough to leave the event loop.
    const partition = await partitionOf(60_000, 128);
    const query = addon.normalize(new Float32Array(128).fill(1));
    const cancelled = addon.createStop();
    addon.cancelStop(cancelled);
    await expect(partition.search(query, 5_000, undefined, undefined, cancelled)).rejects.toMatchObject({
      code: 'ABORTED',
    });
    const late = addon.createStop(1);
    // The deadline is past before the search can begin.
    for (const from = performance.now(); performance.now() - from < 2; );
    await expect(partition.search(query, 5_000, undefined, undefined, late)).rejects.toMatchObject({
      code: 'TIMED_OUT',
    });
    const { keys } = await partition.search(query, 5_000, undefined, undefined, addon.createStop(60_000));
    expect(keys.length).toBe(5_000);
    for (const [stop, code] of [
      [cancelled, 'ABORTED'],
      [late, 'TIMED_OUT'],
    ] as const) {
      await expect(partition.searchBatch(query, 5, undefined, stop)).rejects.toMatchObject({ code });
    }
    const [answer] = await partition.searchBatch(query, 5, undefined, addon.createStop(60_000));
    expect(answer?.keys).toEqual(keys.slice(0, 5));
    expect(() => addon.createStop(0)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
    expect(() => addon.cancelStop({} as never)).toThrow(expect.objectContaining({ code: 'INVALID_INPUT' }));
    partition.close();
  });

  it('come from a query’s signal and timeout', async () => {
    const index = createNativeVectorIndex({ dimensions: DIMENSIONS });
    await index.upsert([note('a', unit(1)), note('b', unit(0, 1))]);
    const query = { namespace: 'acme', vector: unit(1), k: 1 };
    const { hits } = await index.search({
      ...query,
      timeoutMs: 60_000,
      signal: new AbortController().signal,
    });
    expect(hits.map(({ id }) => id)).toEqual([noteId('a')]);
    await expect(index.search({ ...query, signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'ABORTED',
    });
    await expect(index.search({ ...query, timeoutMs: 0.5 })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await index.close();
  });

  it('end exact searches too, which say how they went like others', async () => {
    const dimensions = 256;
    const index = createNativeVectorIndex({ dimensions, graphThreshold: 100_000 });
    const random = seededRandom(7);
    const vector = (): Float32Array =>
      addon.normalize(Float32Array.from({ length: dimensions }, () => random() - 0.5));
    for (let i = 0; i < 24_000; i += 2_000)
      await index.upsert(Array.from({ length: 2_000 }, (_, j) => note(`n${i + j}`, vector())));
    const query = { namespace: 'acme', vector: vector(), k: 3, exact: true, efSearch: 16 };
    const { plan, exhaustive, explanations, hits } = await index.search({ ...query, explain: true });
    expect({ plan, exhaustive, notes: hits.length }).toEqual({ plan: 'scan', exhaustive: true, notes: 3 });
    expect(explanations).toMatchObject([{ plan: 'scan', allowedNotes: 24_000, compared: 24_000 }]);
    // Half a millisecond each, on as many threads as there are cores: those behind are late before they begin.
    const outcomes = await Promise.allSettled(
      Array.from({ length: 400 }, () => index.search({ ...query, timeoutMs: 1 })),
    );
    const codes = outcomes.map((one) => (one.status === 'rejected' ? one.reason.code : 'ANSWERED'));
    expect(codes.filter((code) => code === 'TIMED_OUT').length).toBeGreaterThan(50);
    expect(new Set([...codes, 'ANSWERED', 'TIMED_OUT']).size).toBe(2);
    const abort = new AbortController();
    const waiting = Array.from({ length: 400 }, () => index.search({ ...query, signal: abort.signal }));
    abort.abort();
    const aborted = await Promise.allSettled(waiting);
    expect(aborted.filter((one) => one.status === 'rejected').length).toBeGreaterThan(50);
    await index.close();
  });
});
