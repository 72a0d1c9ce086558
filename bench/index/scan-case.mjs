// Exact scans: float32 rows, codes with exact re-scoring, batches of sixteen; beside the rivals' scans and the read limit.
import { DIMENSIONS, loadData, naiveBest, rowOf } from './data.mjs';
import { loadRival } from './install-rivals.mjs';
import { answersOf, openOurs } from './ours.mjs';
import { SCANS } from './rivals.mjs';
import { bounded, fasterThan, notMeasured } from './targets.mjs';
import { inTurns, readLimit, recallOf, timeMetric } from './timing.mjs';

const K = 10;
const BATCH = 16;
const NAIVE_QUERIES = 5;
/** At a million rows: float32 scan, codes, batches; `rival: [f32, codes, batch]`, missing where nothing is promised. */
const PROMISED = { usearch: [1.2, 5, 12], 'sqlite-vec': [6, 25], '@lancedb/lancedb': [8, 35] };

export async function scanCase({ rows: n, data: kind, promised = false }, { quick, log }) {
  const queries = quick ? 50 : 100;
  const data = await loadData(kind, { n, queries, log });
  if (data.missing !== undefined) return { skipped: `skipped: ${data.missing}`, metrics: [], checks: [] };
  const floats = await openOurs(data, { codes: false });
  const codes = await openOurs(data);
  const exact = await answersOf(data, queries, (query) => floats.keys(query, K));
  const naive = await answersOf(data, NAIVE_QUERIES, (query) => naiveBest(data, query, K));
  const recalls = {
    codes: recallOf(await answersOf(data, queries, (query) => codes.keys(query, K)), exact),
    batch: recallOf(
      (await floats.partition.searchBatch(data.queries.slice(0, BATCH * DIMENSIONS), K, undefined)).map(
        ({ keys }) => [...keys],
      ),
      exact.slice(0, BATCH),
    ),
  };
  const checks = [
    bounded({
      what: 'float32 scan: recall against a plain double-precision loop',
      value: recallOf(exact, naive),
      least: 1,
    }),
    bounded({
      what: 'codes and re-scoring: recall against the float32 scan',
      value: recalls.codes,
      least: 0.999,
    }),
    bounded({ what: 'batch of 16: recall against the float32 scan', value: recalls.batch, least: 1 }),
  ];
  const query = (i) => rowOf(data.queries, i % queries);
  const batchOf = data.queries.slice(0, BATCH * DIMENSIONS);
  const contestants = [
    readLimit(n * DIMENSIONS * 4),
    { name: 'errata, float32', call: (i) => floats.search(query(i), K) },
    { name: 'errata, codes and re-scoring', call: (i) => codes.search(query(i), K) },
    {
      name: 'errata, float32, a query of 16',
      call: () => floats.partition.searchBatch(batchOf, K, undefined),
    },
  ];
  const missing = new Map();
  const engines = [];
  for (const [name, open] of Object.entries(SCANS)) {
    if (quick && name !== 'usearch') continue;
    const { module, missing: reason } = loadRival(name, { installs: true, log });
    if (reason !== undefined) {
      missing.set(name, reason);
      continue;
    }
    log(`filling ${name}`);
    const engine = await open(module, data, { sharesOf: () => 0 });
    recalls[name] = recallOf(await answersOf(data, NAIVE_QUERIES, (one) => engine.search(one, K)), naive);
    engines.push(engine);
    contestants.push({ name, call: (i) => engine.search(query(i), K) });
  }
  log('measuring');
  const times = await inTurns(contestants, {
    quick,
    unitsPerCall: (name) => (name.endsWith('of 16') ? BATCH : 1),
  });
  for (const engine of engines) await engine.close();
  floats.close();
  codes.close();
  if (promised) checks.push(...promises(times, missing));
  const recallOfName = {
    'errata, float32': 1,
    'errata, codes and re-scoring': recalls.codes,
    'errata, float32, a query of 16': recalls.batch,
  };
  return {
    setup: `${n} × ${DIMENSIONS} ${kind} vectors, k = ${K}, one thread, taking turns; ${describeMissing(missing)}`,
    metrics: [...times].map(([name, samples]) => {
      const recall = recallOfName[name] ?? recalls[name];
      return timeMetric(name, samples, recall === undefined ? {} : { recall });
    }),
    checks,
  };
}

function promises(times, missing) {
  const ours = ['errata, float32', 'errata, codes and re-scoring', 'errata, float32, a query of 16'];
  const limit = times.get('read limit (memchr over the same bytes)');
  return [
    fasterThan({
      what: 'float32 scan against the read limit',
      ours: times.get(ours[0]),
      theirs: limit,
      least: 0.95,
    }),
    ...Object.entries(PROMISED).flatMap(([rival, factors]) =>
      factors.map((least, i) => {
        const what = `${ours[i].replace('errata, ', '')} scan against ${rival}`;
        return missing.has(rival)
          ? notMeasured(what, missing.get(rival))
          : fasterThan({ what, ours: times.get(ours[i]), theirs: times.get(rival), least });
      }),
    ),
  ];
}

export const describeMissing = (missing) =>
  missing.size === 0
    ? 'every rival measured'
    : `not measured: ${[...missing].map(([name, reason]) => `${name} (${reason})`).join('; ')}`;
