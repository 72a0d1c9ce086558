// What a call costs beyond its work: ten rows of eight dimensions, so that next to nothing is left but the crossing.
import { createRequire } from 'node:module';
import { loadAddon } from '../../dist/adapters/native/load-addon.js';
import { median } from '../../dist/evaluation/statistics/describe-sample.js';
import { bounded, fasterThan } from './targets.mjs';
import { inTurns, timeMetric } from './timing.mjs';

const K = 10;
const REPEATS = 1_000;
const DIMENSIONS = 8;

export async function bindingCase(_parameters, { quick }) {
  const rows = new Float32Array(K * DIMENSIONS);
  for (let row = 0; row < K; row += 1) {
    const angle = (row * Math.PI) / K;
    rows[row * DIMENSIONS] = Math.cos(angle);
    rows[row * DIMENSIONS + 1 + (row % 7)] = Math.sin(angle);
  }
  const { Partition } = loadAddon();
  const partition = new Partition({
    dimensions: DIMENSIONS,
    connectivity: 16,
    efConstruction: 128,
    efSearch: 64,
    graphThreshold: 50_000,
  });
  await partition.put({
    keys: Float64Array.from({ length: K }, (_, i) => i),
    orders: new Uint32Array(K * 4),
    rowBegin: Uint32Array.from({ length: K + 1 }, (_, i) => i),
    kinds: new Uint8Array(K),
    vectors: rows,
    tagBegin: new Uint32Array(K + 1),
    tags: new Uint32Array(),
  });
  const { Index, MetricKind, ScalarKind } = createRequire(import.meta.url)('usearch');
  const index = new Index({
    metric: MetricKind.IP,
    dimensions: DIMENSIONS,
    connectivity: 16,
    expansion_add: 128,
    expansion_search: 64,
    quantization: ScalarKind.F32,
  });
  index.add(
    BigUint64Array.from({ length: K }, (_, i) => BigInt(i)),
    rows,
    1,
  );
  const query = rows.slice(0, DIMENSIONS);
  const found = [...partition.search(query, K, undefined, undefined).keys];
  const checks = [bounded({ what: 'keys of ten rows', value: new Set(found).size, least: K })];
  const keys = new Float64Array(K);
  const scores = new Float32Array(K);
  const kinds = new Uint8Array(K);
  const times = await inTurns(
    [
      {
        name: 'errata',
        call: () => partition.searchInto(query, K, undefined, undefined, keys, scores, kinds),
      },
      { name: 'errata, arrays of its own', call: () => partition.search(query, K, undefined, undefined) },
      { name: 'usearch', call: () => index.search(query, K, 1) },
    ],
    { quick },
  );
  // The same search within the addon, between whole calls, so that both see the same machine.
  const within = [];
  const overheads = [];
  const whole = () => {
    const start = performance.now();
    for (let i = 0; i < REPEATS; i += 1)
      partition.searchInto(query, K, undefined, undefined, keys, scores, kinds);
    return ((performance.now() - start) * 1e3) / REPEATS;
  };
  for (let round = 0; round < (quick ? 20 : 200); round += 1) {
    const inside = partition.timeSearch(query, K, REPEATS);
    within.push(inside);
    overheads.push(whole() - inside);
  }
  times.set('errata, the search itself', within);
  times.set('errata, the crossing', overheads);
  partition.close();
  checks.push(
    bounded({ what: 'crossing: whole call less the search itself, µs', value: median(overheads), most: 0.5 }),
    fasterThan({
      what: 'whole call against usearch',
      ours: times.get('errata'),
      theirs: times.get('usearch'),
      least: 4,
    }),
  );
  return {
    setup: `ten rows of ${DIMENSIONS} dimensions, k = ${K}: whole calls, the work included, and what of ours is the crossing`,
    metrics: [...times].map(([name, samples]) =>
      timeMetric(name.includes(', the ') ? name : `${name}, whole call`, samples),
    ),
    checks: quick ? checks.slice(0, 1) : checks,
  };
}
