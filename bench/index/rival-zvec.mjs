// Zvec by its npm package: a collection with a graph, built at once or kept between runs.
import { rmSync } from 'node:fs';
import path from 'node:path';
import { DIMENSIONS, rowOf } from './data.mjs';
import { startAfresh } from './kept-indexes.mjs';
import { CONNECTIVITY, EF_CONSTRUCTION, SHARES, temporary } from './rival-settings.mjs';

let zvecReady = false;

function zvecStart({ ZVecInitialize }, threads) {
  if (!zvecReady) ZVecInitialize({ queryThreads: 1, optimizeThreads: threads });
  zvecReady = true;
}

/** The collection in a folder that is not there yet, built and open. */
function zvecBuild(module, { rows, n }, { sharesOf }, { folder, threads = 1, log = () => undefined }) {
  const { ZVecCollectionSchema, ZVecCreateAndOpen, ZVecDataType, ZVecIndexType } = module;
  zvecStart(module, threads);
  const columns = Object.keys(SHARES);
  const schema = new ZVecCollectionSchema({
    name: 'bench',
    vectors: {
      name: 'vector',
      dataType: ZVecDataType.VECTOR_FP32,
      dimension: DIMENSIONS,
      indexParams: {
        indexType: ZVecIndexType.HNSW,
        metricType: module.ZVecMetricType.IP,
        m: CONNECTIVITY,
        efConstruction: EF_CONSTRUCTION,
      },
    },
    fields: columns.map((name) => ({
      name,
      dataType: ZVecDataType.INT32,
      indexParams: { indexType: ZVecIndexType.INVERT },
    })),
  });
  const collection = ZVecCreateAndOpen(folder, schema);
  const STEP = 1_000;
  for (let start = 0; start < n; start += STEP) {
    const docs = Array.from({ length: Math.min(STEP, n - start) }, (_, i) => ({
      id: String(start + i),
      vectors: { vector: rowOf(rows, start + i) },
      fields: Object.fromEntries(columns.map((name, bit) => [name, (sharesOf(start + i) >> bit) & 1])),
    }));
    const failed = collection.insertSync(docs).find(({ ok }) => !ok);
    if (failed !== undefined) throw new Error(`zvec: ${failed.message}`);
    if ((start / STEP) % 50 === 49) log(`zvec: ${start + STEP} of ${n} rows inserted`);
  }
  log('zvec: building its graph; it tells no progress');
  collection.optimizeSync({ concurrency: threads });
  return collection;
}

function zvecEngine({ ZVecIndexType }, collection, close) {
  const query = (vector, k, ef, filter) =>
    collection
      .querySync({
        fieldName: 'vector',
        vector,
        topk: k,
        outputFields: [],
        params: { indexType: ZVecIndexType.HNSW, ef },
        ...(filter === undefined ? {} : { filter }),
      })
      .map(({ id }) => Number(id));
  return {
    name: 'zvec',
    search: (vector, k, ef) => query(vector, k, ef),
    filtered: (vector, k, ef, share) => query(vector, k, ef, `${share} = 1`),
    close() {
      collection.closeSync();
      close();
    },
  };
}

export function zvecGraph(module, data, tags) {
  const folder = temporary();
  const collection = zvecBuild(module, data, tags, { folder: path.join(folder, 'collection') });
  return zvecEngine(module, collection, () => rmSync(folder, { recursive: true }));
}

export const keptZvec = {
  async build(module, data, tags, { folder, threads, log }) {
    startAfresh(folder);
    zvecBuild(module, data, tags, { folder: path.join(folder, 'collection'), threads, log }).closeSync();
  },
  async open(module, { folder }) {
    zvecStart(module, 1);
    return zvecEngine(module, module.ZVecOpen(path.join(folder, 'collection')), () => undefined);
  },
};
