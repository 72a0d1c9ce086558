// USearch by its npm package: a scan, and its graph built at once or kept between runs.
import { existsSync, renameSync, rmSync } from 'node:fs';
import path from 'node:path';
import { DIMENSIONS } from './data.mjs';
import { CONNECTIVITY, EF_CONSTRUCTION, temporary } from './rival-settings.mjs';

export function usearchScan({ exactSearch, MetricKind }, { rows }) {
  return {
    name: 'usearch',
    // A copy: exactSearch ignores byteOffset and would answer for query 0.
    search: (query, k) => exactSearch(rows, query.slice(), DIMENSIONS, k, MetricKind.IP, 1).keys,
    close: () => undefined,
  };
}

const USEARCH_EF = 64;

const usearchIndex = ({ Index, MetricKind, ScalarKind }, ef) =>
  new Index({
    metric: MetricKind.IP,
    dimensions: DIMENSIONS,
    connectivity: CONNECTIVITY,
    expansion_add: EF_CONSTRUCTION,
    expansion_search: ef,
    quantization: ScalarKind.F32,
  });

/** Adds rows `from` to `to` - 1 under their numbers. */
function usearchAdd(index, { rows }, from, to, threads = 1) {
  index.add(
    BigUint64Array.from({ length: to - from }, (_, i) => BigInt(from + i)),
    rows.subarray(from * DIMENSIONS, to * DIMENSIONS),
    threads,
  );
}

/** Its JavaScript sets the beam at construction only: another beam is another load of the saved index, `most` of which stay. */
function usearchEngine(module, { byEf, savedFile, most = Number.POSITIVE_INFINITY, close }) {
  const searchBy = (ef, query, k) => byEf.get(ef).search(query.slice(), k, 1).keys;
  async function loadFirst(ef, query, k) {
    if (byEf.size >= most) {
      byEf.clear();
      await freeNative();
    }
    const index = usearchIndex(module, ef);
    index.load(savedFile());
    byEf.set(ef, index);
    return searchBy(ef, query, k);
  }
  return {
    name: 'usearch',
    savedFile,
    search: (query, k, ef) => (byEf.has(ef) ? searchBy(ef, query, k) : loadFirst(ef, query, k)),
    close,
  };
}

/** The addon's memory goes with its objects' finalizers, which run between two turns of the event loop, after a collection. */
async function freeNative() {
  for (let turn = 0; turn < 2; turn += 1) {
    globalThis.gc?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

export function usearchGraph(module, data) {
  const folder = temporary();
  const file = path.join(folder, 'index.usearch');
  const first = usearchIndex(module, USEARCH_EF);
  usearchAdd(first, data, 0, data.n);
  let saved = false;
  const savedFile = () => {
    if (!saved) first.save(file);
    saved = true;
    return file;
  };
  const close = () => rmSync(folder, { recursive: true });
  return usearchEngine(module, { byEf: new Map([[USEARCH_EF, first]]), savedFile, close });
}

/** Saved every so often, which takes a second or two at a million rows: an interrupted build goes on from there. */
const USEARCH_STEP = 10_000;
const USEARCH_SAVE_MS = 120_000;

export const keptUsearch = {
  async build(module, data, _tags, { folder, threads, log }) {
    const file = path.join(folder, 'index.usearch');
    const index = usearchIndex(module, USEARCH_EF);
    if (existsSync(file)) index.load(file);
    let saved = performance.now();
    for (let from = Number(index.size()); from < data.n; from += USEARCH_STEP) {
      const to = Math.min(data.n, from + USEARCH_STEP);
      usearchAdd(index, data, from, to, threads);
      log(`usearch: ${to} of ${data.n} rows linked`);
      if (to < data.n && performance.now() - saved < USEARCH_SAVE_MS) continue;
      index.save(`${file}.part`);
      renameSync(`${file}.part`, file);
      saved = performance.now();
    }
  },
  open: async (module, { folder }) =>
    usearchEngine(module, {
      byEf: new Map(),
      savedFile: () => path.join(folder, 'index.usearch'),
      most: 1,
      close: () => undefined,
    }),
};
