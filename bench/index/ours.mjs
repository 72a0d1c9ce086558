// The addon's partition, driven as the adapter drives it but without ids, so that its keys can be compared with rivals'.
import path from 'node:path';
import { loadAddon } from '../../dist/adapters/native/load-addon.js';
import { DIMENSIONS, rowOf } from './data.mjs';
import { CONNECTIVITY, EF_CONSTRUCTION } from './rival-settings.mjs';

const CHUNK = 4_096;
const MOST_KEYS = 100;
const NEVER = 0xffff_fffe;
const LARGEST_BYTES = 0xffff_fffe;

const optionsOf = ({ graph = false, codes = true, efSearch = 64 }) => ({
  dimensions: DIMENSIONS,
  connectivity: CONNECTIVITY,
  efConstruction: EF_CONSTRUCTION,
  efSearch,
  graphThreshold: graph ? 1 : NEVER,
  codes,
});

/**
 * Rows get their number as key; `tagsOf(row)` gives tag numbers. Options: `codes`, and `graph`: whether there is one.
 * `buildThreads`: 0 for half the cores.
 */
export async function openOurs(data, { tagsOf, buildThreads = 0, ...given } = {}) {
  const options = { ...optionsOf(given), buildThreads };
  const partition = new (loadAddon().Partition)(options);
  // A graph is built once all rows are there, as at a start; row by row it would be built within the puts.
  const { rows, n } = data;
  for (let start = 0; start < n; start += CHUNK) {
    const count = Math.min(CHUNK, n - start);
    const tags = Array.from({ length: count }, (_, i) => tagsOf?.(start + i) ?? []);
    const tagBegin = new Uint32Array(count + 1);
    tags.forEach((list, i) => {
      tagBegin[i + 1] = tagBegin[i] + list.length;
    });
    await partition.put({
      keys: Float64Array.from({ length: count }, (_, i) => start + i),
      orders: Uint32Array.from({ length: count * 4 }, (_, i) => (i % 4 === 3 ? start + (i - 3) / 4 : 0)),
      rowBegin: Uint32Array.from({ length: count + 1 }, (_, i) => i),
      kinds: new Uint8Array(count),
      vectors: rows.subarray(start * DIMENSIONS, (start + count) * DIMENSIONS),
      tagBegin,
      tags: Uint32Array.from(tags.flat()),
    });
  }
  await partition.settle();
  return engineOf(partition, options);
}

const snapshotOf = (folder) => ({
  path: path.join(folder, 'snapshot'),
  dimensions: DIMENSIONS,
  codes: true,
  model: 'bench',
  store: '',
});

/** A snapshot of one partition, without a directory. */
export async function savePartition(options, partition, { stopsBackground = false } = {}) {
  const addon = loadAddon();
  const pins = await addon.pinSnapshot([partition], stopsBackground);
  const directory = addon.allocateSnapshot(8);
  new Uint8Array(directory.bytes).fill(0);
  return addon.saveSnapshot(options, directory.memory, pins);
}

/** A graph without tags that is kept as a snapshot; as the rivals' in `rivals.mjs`. */
export const keptOurs = {
  async build(data, { folder, threads }) {
    const ours = await openOurs(data, { graph: true, buildThreads: threads });
    await savePartition({ ...snapshotOf(folder), revision: 1, createdMs: 0 }, ours.partition);
    ours.close();
  },
  async open({ folder }) {
    const addon = loadAddon();
    const { handle, refusal } = await addon.openSnapshot(snapshotOf(folder));
    if (refusal !== 'NONE') throw new Error(`Expected a sound snapshot, received ${refusal}`);
    // Copied into memory, as the rivals' are and as a build leaves it.
    const options = { ...optionsOf({ graph: true }), lateBytes: LARGEST_BYTES };
    const partition = new addon.Partition(options);
    await partition.restore(handle, 0);
    await partition.verified();
    return engineOf(partition, options);
  },
};

function engineOf(partition, options) {
  const keys = new Float64Array(MOST_KEYS);
  const scores = new Float32Array(MOST_KEYS);
  const kinds = new Uint8Array(MOST_KEYS);
  return {
    options,
    partition,
    stats: () => partition.stats(),
    /** On this thread, as the rivals' calls are; the keys are good until the next call. `plan`: instead of the planner's. */
    search(query, k, { ef, tags, plan } = {}) {
      const count = partition.searchInto(query, k, ef, tags, keys, scores, kinds, plan);
      return { keys: keys.subarray(0, count) };
    },
    planOf: async (query, k, { ef, tags } = {}) => (await partition.search(query, k, ef, tags)).plan,
    /** Keys only. */
    async keys(query, k, options) {
      return [...this.search(query, k, options).keys];
    },
    close: () => partition.close(),
  };
}

/** Every query's keys by one engine's `search(query)`. */
export async function answersOf(data, count, search) {
  const found = [];
  for (let i = 0; i < count; i += 1) found.push(await search(rowOf(data.queries, i)));
  return found;
}
