// The rivals behind one interface. An engine is `{ name, search(query, k, ef?), filtered?(query, k, ef, share), close() }`; searches
// give row numbers, or a promise of them. Only one thread of each, as far as it can be told so.
import { rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import Database from 'better-sqlite3';
import { DIMENSIONS, rowOf } from './data.mjs';
import { CONNECTIVITY, EF_CONSTRUCTION, SHARES, temporary } from './rival-settings.mjs';
import { keptUsearch, usearchGraph, usearchScan } from './rival-usearch.mjs';
import { keptZvec, zvecGraph } from './rival-zvec.mjs';

function hnswlibGraph({ HierarchicalNSW }, { rows, n }, { sharesOf }) {
  const index = new HierarchicalNSW('ip', DIMENSIONS);
  index.initIndex({ maxElements: n, m: CONNECTIVITY, efConstruction: EF_CONSTRUCTION });
  for (let row = 0; row < n; row += 1) index.addPoint(Array.from(rowOf(rows, row)), row);
  const columns = Object.fromEntries(
    Object.keys(SHARES).map((share, bit) => [
      share,
      Uint8Array.from({ length: n }, (_, row) => (sharesOf(row) >> bit) & 1),
    ]),
  );
  const search = (query, k, ef, filter) => {
    index.setEf(ef);
    return index.searchKnn(Array.from(query), k, filter).neighbors;
  };
  return {
    name: 'hnswlib-node',
    search,
    filtered(query, k, ef, share) {
      const column = columns[share];
      return search(query, k, ef, (label) => column[label] === 1);
    },
    close: () => undefined,
  };
}

/** Its `vec0` table; plain, so a scan. */
function sqliteVec(module, { rows, n }, { sharesOf }) {
  const database = new Database(':memory:');
  module.load(database);
  const columns = Object.keys(SHARES);
  database.exec(
    `CREATE VIRTUAL TABLE v USING vec0(vector float[${DIMENSIONS}] distance_metric=cosine, ${columns.map((name) => `${name} integer`).join(', ')})`,
  );
  const insert = database.prepare(
    `INSERT INTO v(rowid, vector, ${columns.join(', ')}) VALUES (?, ?, ?, ?, ?)`,
  );
  database.transaction(() => {
    for (let row = 0; row < n; row += 1) {
      const flags = columns.map((_, bit) => BigInt((sharesOf(row) >> bit) & 1));
      insert.run(BigInt(row), rowOf(rows, row), ...flags);
    }
  })();
  const select = (where) =>
    database.prepare(`SELECT rowid FROM v WHERE vector MATCH ? AND k = ? ${where} ORDER BY distance`).pluck();
  const all = select('');
  const filtered = Object.fromEntries(columns.map((name) => [name, select(`AND ${name} = 1`)]));
  return {
    name: 'sqlite-vec',
    search: (query, k) => all.all(query, k),
    filtered: (query, k, _ef, share) => filtered[share].all(query, k),
    close: () => database.close(),
  };
}

async function lanceTable(module, { rows, n }, { sharesOf }) {
  Object.assign(process.env, { LANCE_CPU_THREADS: '2', RAYON_NUM_THREADS: '1' });
  const arrow = createRequire(
    createRequire(import.meta.url).resolve('../../.cache/bench-rivals/package.json'),
  )('apache-arrow');
  const folder = temporary();
  const connection = await module.connect(folder);
  const item = new arrow.Field('item', new arrow.Float32(), false);
  const batch = (start, count) => {
    const child = arrow.makeData({
      type: new arrow.Float32(),
      data: rows.subarray(start * DIMENSIONS, (start + count) * DIMENSIONS),
    });
    const vectors = arrow.makeData({
      type: new arrow.FixedSizeList(DIMENSIONS, item),
      length: count,
      nullCount: 0,
      child,
    });
    const columns = { vector: arrow.makeVector(vectors) };
    columns.id = arrow.makeVector(Int32Array.from({ length: count }, (_, i) => start + i));
    Object.keys(SHARES).forEach((name, bit) => {
      columns[name] = arrow.makeVector(
        Int32Array.from({ length: count }, (_, i) => (sharesOf(start + i) >> bit) & 1),
      );
    });
    return new arrow.Table(columns);
  };
  const STEP = 100_000;
  const table = await connection.createTable('v', batch(0, Math.min(STEP, n)));
  for (let start = STEP; start < n; start += STEP) await table.add(batch(start, Math.min(STEP, n - start)));
  const ids = async (query) => (await query.toArray()).map(({ id }) => id);
  return {
    table,
    index: module.Index,
    scan: (query, k) =>
      ids(table.query().nearestTo(query).bypassVectorIndex().limit(k).select(['id', '_distance'])),
    graph: (query, k, ef) =>
      ids(table.query().nearestTo(query).nprobes(1).ef(ef).limit(k).select(['id', '_distance'])),
    prefilter: (query, k, ef, share) =>
      ids(
        table
          .query()
          .where(`${share} = 1`)
          .nearestTo(query)
          .nprobes(1)
          .ef(ef)
          .limit(k)
          .select(['id', '_distance']),
      ),
    async close() {
      table.close();
      connection.close();
      rmSync(folder, { recursive: true });
    },
  };
}

async function lanceScan(module, data, options) {
  const { scan, close } = await lanceTable(module, data, options);
  return { name: 'LanceDB', search: scan, close };
}

async function lanceGraph(module, data, options) {
  const { table, index, graph, prefilter, close } = await lanceTable(module, data, options);
  // l2: with `dot` this index finds next to nothing (0.31.0); on unit vectors the order is the same.
  await table.createIndex('vector', {
    config:
      index.ivfHnswSq?.({
        distanceType: 'l2',
        numPartitions: 1,
        m: CONNECTIVITY,
        efConstruction: EF_CONSTRUCTION,
      }) ??
      index.hnswSq({
        distanceType: 'l2',
        numPartitions: 1,
        m: CONNECTIVITY,
        efConstruction: EF_CONSTRUCTION,
      }),
  });
  return { name: 'LanceDB', search: graph, filtered: prefilter, close };
}

/** By package: what makes a scanning and a graph engine of it. */
export const SCANS = { usearch: usearchScan, 'sqlite-vec': sqliteVec, '@lancedb/lancedb': lanceScan };
export const GRAPHS = {
  usearch: usearchGraph,
  'hnswlib-node': hnswlibGraph,
  '@zvec/zvec': zvecGraph,
  '@lancedb/lancedb': lanceGraph,
};

/**
 * Those that can be kept between runs: `build(module, data, tags, { folder, threads, log })` leaves an index in the folder, which
 * may hold what an interrupted build left there; `open(module, { folder })` gives the engine.
 */
export const KEPT_GRAPHS = { usearch: keptUsearch, '@zvec/zvec': keptZvec };
