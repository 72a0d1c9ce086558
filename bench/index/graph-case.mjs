// Graphs, filters and the planner beside the rivals' graphs, at the same recall.

import { seededRandom } from '../../dist/evaluation/statistics/seeded-random.js';
import { figure } from '../harness/measure.mjs';
import { DIMENSIONS, loadData, rowOf } from './data.mjs';
import { measureFilters } from './filter-part.mjs';
import { loadRival } from './install-rivals.mjs';
import { openKept, ourEngine } from './kept-graphs.mjs';
import { answersOf, openOurs } from './ours.mjs';
import { SHARES } from './rival-settings.mjs';
import { GRAPHS } from './rivals.mjs';
import { describeMissing } from './scan-case.mjs';
import { bounded, fasterThan, notMeasured } from './targets.mjs';
import { cpuSeconds, inTurns, recallOf, round, timeMetric } from './timing.mjs';
import { openUsearchFilters } from './usearch-filters.mjs';

const K = 10;
/** Queries of a case. */
export const QUERIES = { quick: 50, full: 200 };
const BEAMS = [16, 32, 64, 128, 256, 512];
/** Beams that are tried between, for the comparison at equal recall. */
const FINE_BEAMS = [16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 512, 768];

/** Row tags: share classes by a seeded draw, then the side of the hyperplanes. */
export const TAG = { s001: 1, s01: 2, s1: 3, s10: 4, s50: 5, all: 6, near: 100, half: 300 };

function tagging(data) {
  const random = seededRandom(99);
  const draws = Float32Array.from({ length: data.n }, random);
  const sides = Uint8Array.from({ length: data.n }, (_, row) => data.sideOf(rowOf(data.rows, row)));
  const bounds = { s001: 0.0001, s01: 0.001, s1: 0.01, s10: 0.1, s50: 0.5, all: 1 };
  return {
    draws,
    sides,
    sharesOf: (row) =>
      Object.values(SHARES).reduce((bits, share, bit) => bits | (Number(draws[row] < share) << bit), 0),
    tagsOf: (row) => [
      ...Object.entries(bounds).flatMap(([name, share]) => (draws[row] < share ? [TAG[name]] : [])),
      TAG.near + sides[row],
      TAG.half + (sides[row] & 1),
    ],
  };
}

async function buildAll({ data, parameters: { rivals }, filters, queries, installs, log }) {
  const tags = tagging(data);
  const floats = await openOurs(data, { codes: false, tagsOf: filters ? tags.tagsOf : undefined });
  const exact = await answersOf(data, queries, (query) => floats.keys(query, K));
  if (!filters) floats.close();
  log('building ours');
  const built = await cpuSeconds(() => openOurs(data, { graph: true, tagsOf: tags.tagsOf }));
  const ours = built.result;
  const engines = [ourEngine(ours, built.seconds)];
  const missing = new Map();
  for (const name of rivals) {
    const { module, missing: reason } = loadRival(name, { installs, log });
    if (reason !== undefined) {
      missing.set(name, reason);
      continue;
    }
    log(`building ${name}`);
    const { result, seconds } = await cpuSeconds(() => GRAPHS[name](module, data, tags));
    engines.push({ ...result, name, keys: (answer) => answer, seconds });
  }
  return { engines, ours, floats, exact, tags, missing };
}

export async function graphCase(parameters, { quick, log }) {
  const {
    rows: n,
    data: kind,
    goal,
    promised = {},
    filters = false,
    rivals = Object.keys(GRAPHS),
    kept = false,
  } = parameters;
  const queries = quick ? QUERIES.quick : QUERIES.full;
  const data = await loadData(kind, { n, queries, log });
  if (data.missing !== undefined) return { skipped: `skipped: ${data.missing}`, metrics: [], checks: [] };
  const { engines, ours, floats, exact, tags, missing } = await (kept ? openKept : buildAll)({
    data,
    parameters: { ...parameters, rivals },
    filters,
    queries,
    installs: !quick,
    log,
  });
  const recallAt = async (engine, ef) =>
    recallOf(
      await answersOf(data, queries, async (query) => [...engine.keys(await engine.search(query, K, ef))]),
      exact,
    );

  log('measuring');
  const metrics = engines.flatMap(({ name, seconds }) =>
    seconds === undefined ? [] : [figure(`${name}, build, CPU`, 's', 'lower', seconds)],
  );
  const checks = [];
  const query = (i) => rowOf(data.queries, i % queries);
  // The same recall for all: the least beam of each engine that reaches the goal. What reaches it with none is compared at its best.
  const reached = [];
  const fellShort = [];
  for (const engine of engines) {
    const { best, ...point } = await leastBeam((ef) => recallAt(engine, ef), goal);
    if (point.ef === undefined) fellShort.push({ engine, ...best });
    else reached.push({ engine, ...point });
  }
  const search = (engine, ef) => (i) => engine.search(query(i), K, ef);
  const times = await inTurns(
    reached.map(({ engine, ef }) => ({ name: engine.name, call: search(engine, ef) })),
    { quick },
  );
  const label = (name) => {
    const { ef } = reached.find(({ engine }) => engine.name === name);
    return `${name}, graph at recall ${goal} (ef ${ef})`;
  };
  for (const { engine, recall } of reached)
    metrics.push(
      timeMetric(label(engine.name), times.get(engine.name), { recall, at: 'goal', engine: engine.name }),
    );
  metrics.push(...(await curves(engines, recallAt, query, quick)));
  checks.push({
    what: `recall ${goal} reached by a beam of at most 768`,
    ok: times.has('errata'),
    value: String(times.has('errata')),
  });
  const stats = ours.stats();
  const beside = (stats.codeBytes + stats.graphBytes) / stats.rowBytes;
  metrics.push(
    figure('errata, memory of codes and graph ÷ float32 rows', '×', 'lower', beside, { exact: true }),
  );
  if (promised.memory)
    checks.push(bounded({ what: 'codes and graph ÷ float32 rows', value: beside, most: promised.memory }));
  for (const [rival, least] of Object.entries(promised.search ?? {})) {
    const what = `graph at recall ${goal} against ${rival}`;
    const short = fellShort.find(({ engine }) => engine.name === rival);
    checks.push(
      short === undefined || !times.has('errata')
        ? promise(what, times, rival, least, missing)
        : await promiseAtBest(what, { short, own: engines[0], least, recallAt, search, quick }),
    );
  }
  const seconds = new Map(engines.map((engine) => [engine.name, [engine.seconds]]));
  for (const [rival, least] of Object.entries(promised.build ?? {}))
    checks.push(promise(`build, CPU time, against ${rival}`, seconds, rival, least, missing, 's'));
  if (filters) {
    const usearch = engines.find(({ savedFile }) => savedFile !== undefined);
    const inCpp =
      usearch === undefined
        ? { missing: 'its JavaScript is not among the rivals of this case' }
        : await openUsearchFilters({
            indexFile: usearch.savedFile(),
            n,
            sharesOf: tags.sharesOf,
            log,
          });
    if (inCpp.missing !== undefined) missing.set('usearch C++', inCpp.missing);
    const part = await measureFilters({
      goal,
      data,
      queries,
      tags,
      floats,
      ours,
      engines: inCpp.engine === undefined ? engines : [...engines, inCpp.engine],
      missing,
      promised: promised.filters,
      quick,
      log,
    });
    metrics.push(...part.metrics);
    checks.push(...part.checks);
    floats.close();
    await inCpp.engine?.close();
  }
  ours.close();
  for (const engine of engines) await engine.close?.();
  return {
    setup: `${n} × ${DIMENSIONS} ${kind} vectors, k = ${K}, M = 16, efConstruction = 128, one thread, taking turns; ${describeMissing(missing)}`,
    metrics,
    checks,
  };
}

/** The least beam that reaches the goal, as `{ ef, recall }`, and the best point that was seen until then. */
export async function leastBeam(recallOfBeam, goal, beams = FINE_BEAMS) {
  let best = { ef: beams[0], recall: -1 };
  for (const ef of beams) {
    const recall = await recallOfBeam(ef);
    if (recall >= goal) return { ef, recall, best: { ef, recall } };
    if (recall > best.recall) best = { ef, recall };
  }
  return { best };
}

/** A rival that reaches the goal with no beam is judged where its recall is best, ours at no less. */
async function promiseAtBest(what, { short, own, least, recallAt, search, quick }) {
  const { engine, ef, recall } = short;
  const ours = await leastBeam((beam) => recallAt(own, beam), recall);
  const times = await inTurns(
    [
      { name: 'ours', call: search(own, ours.ef) },
      { name: 'theirs', call: search(engine, ef) },
    ],
    { quick },
  );
  const beside = `, at its best recall ${round(recall)} with ef ${ef}, ours ${round(ours.recall)} with ef ${ours.ef}, since it never reaches the goal`;
  return fasterThan({ what, ours: times.get('ours'), theirs: times.get('theirs'), least, beside });
}

function promise(what, times, rival, least, missing, unit = 'µs') {
  if (!times.has('errata')) return { what, ok: false, value: 'errata did not reach the recall' };
  if (times.has(rival))
    return fasterThan({ what, ours: times.get('errata'), theirs: times.get(rival), least, unit });
  return notMeasured(what, missing.get(rival) ?? 'it did not reach the recall');
}

/** Recall and time over the beam, for the plot. */
async function curves(engines, recallAt, query, quick) {
  const metrics = [];
  for (const ef of quick ? BEAMS.slice(1, 4) : BEAMS) {
    const times = await inTurns(
      engines.map((engine) => ({ name: engine.name, call: (i) => engine.search(query(i), K, ef) })),
      { quick: true },
    );
    for (const engine of engines) {
      const recall = await recallAt(engine, ef);
      metrics.push(
        timeMetric(`${engine.name}, graph, ef ${ef}`, times.get(engine.name), {
          recall,
          at: 'curve',
          engine: engine.name,
        }),
      );
    }
  }
  return metrics.map((metric) => ({ ...metric, value: round(metric.value) }));
}
