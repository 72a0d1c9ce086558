// A partition with a graph under adds, removals, re-adds and searches at a steady rate, then one that shrinks by two fifths: what
// searches and writes take, what searches find, what the background does, what is held.
import { median, quantile } from '../../dist/evaluation/statistics/describe-sample.js';
import { figure, latencyMetric, residentMiB } from '../harness/measure.mjs';
import { ChurnLoad } from './churn-load.mjs';
import { DIMENSIONS, loadData, rowOf } from './data.mjs';
import { openOurs } from './ours.mjs';
import { bounded } from './targets.mjs';
import { recallOf, round } from './timing.mjs';

const K = 10;
const QUERIES = 200;
const BATCH_MS = 50;
/** Rows a batch: at 40,000 rows two rounds of links anew and a new graph within the time; a busy service sees a tenth of it. */
const BATCH = 16;
const SHRINKING_BATCH = 64;
const SHRINKS_BY = 0.4;
const SEARCHES_A_SECOND = 150;
const QUIET_SECONDS = { quick: 2, full: 10 };
const MEMORY_EVERY_MS = 100;

const partsMiB = (stats) =>
  (stats.rowBytes + stats.codeBytes + stats.graphBytes + stats.filterBytes + stats.bookkeepingBytes) /
  2 ** 20;

/** Looks at the partition now and then while `work` runs: the most memory, and how often the background was at work. */
async function watched(partition, work) {
  const seen = { mostMiB: 0, looks: 0, building: 0 };
  const timer = setInterval(() => {
    const stats = partition.stats();
    seen.mostMiB = Math.max(seen.mostMiB, partsMiB(stats));
    seen.looks += 1;
    seen.building += Number(stats.building);
  }, MEMORY_EVERY_MS);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return seen;
}

export async function churnCase({ rows: n, seconds }, { quick, log }) {
  const data = await loadData('clustered', { n: Math.ceil(n * 1.25), queries: QUERIES, log });
  const load = new ChurnLoad(data, n);
  const held = { ...data, n, rows: data.rows.subarray(0, n * DIMENSIONS) };
  const ours = await openOurs(held, { graph: true, tagsOf: load.tagsOf });
  const { partition } = ours;
  const begin = partition.stats();
  const [startMiB, startResident] = [partsMiB(begin), residentMiB()];
  const searching = { batchMs: BATCH_MS, searches: SEARCHES_A_SECOND };
  const phases = [];
  const phase = async (name, options) => {
    log(name);
    const before = partition.stats();
    load.reset();
    const seen = await watched(partition, () => load.run(partition, { ...searching, ...options }));
    const after = partition.stats();
    const counted = Object.fromEntries(
      ['audits', 'repairs', 'compactions'].map((what) => [what, after[what] - before[what]]),
    );
    const { times, timeline, late, recall, stale, own, done } = load;
    const { seconds: long } = options;
    phases.push({ name, seconds: long, seen, counted, times, timeline, late, recall, stale, own, done });
    return phases.at(-1);
  };
  try {
    await phase('warming up', { seconds: 1, remove: 0, add: 0 });
    phases.length = 0;
    const calm = await phase('searches alone', {
      seconds: QUIET_SECONDS[quick ? 'quick' : 'full'],
      remove: 0,
      add: 0,
    });
    const steady = await phase('steady churn', { seconds, remove: BATCH, add: BATCH });
    const shrinking = (n * SHRINKS_BY * BATCH_MS) / SHRINKING_BATCH / 1_000;
    const shrink = await phase('shrinking', { seconds: shrinking, remove: SHRINKING_BATCH, add: 0 });
    await partition.settle();
    const end = partition.stats();
    const settled = await recallAtRest(ours, data);
    const heldRows = await openOurs(rowsOf(data, load.heldKeys), { graph: true });
    const anew = { recall: await recallAtRest(heldRows, data), miB: partsMiB(heldRows.stats()) };
    heldRows.close();
    const [audits, compactions] = ['audits', 'compactions'].map((what) => end[what] - begin[what]);
    const both = [steady, shrink];
    const total = (of) => phases.reduce((sum, one) => sum + of(one), 0);
    const share = ({ right, wanted }) => right / wanted;
    return {
      setup: `${n} × ${DIMENSIONS} clustered vectors with a graph, k = ${K}, a tenth of the rows tagged; every ${BATCH_MS} ms ${BATCH} removals and ${BATCH} additions, three of four of keys removed before, for ${seconds} s, then ${SHRINKING_BATCH} removals each for ${Math.round(shrinking)} s; ${SEARCHES_A_SECOND} searches a second, a quarter of them filtered, asynchronous calls from one thread`,
      metrics: [
        ...phases.flatMap(metricsOf),
        figure('memory of the index, before', 'MiB', 'lower', startMiB),
        figure(
          'memory of the index, most during it',
          'MiB',
          'lower',
          Math.max(...both.map(({ seen }) => seen.mostMiB)),
        ),
        figure('memory of the index, shrunk and settled', 'MiB', 'lower', partsMiB(end)),
        figure('memory of the process, grown', 'MiB', 'lower', Math.max(0, residentMiB() - startResident)),
      ],
      checks: [
        bounded({
          what: 'rows in answers that were removed, or lack the tag',
          value: total(({ stale }) => stale),
          most: 0,
        }),
        bounded({
          what: 'added rows found by their own vector once acknowledged',
          value: steady.own.found / steady.own.asked,
          least: 0.999,
        }),
        notBelow(
          'steady churn: live recall against exact',
          share(steady.recall),
          share(calm.recall),
          'before',
        ),
        notBelow(
          'shrinking: live recall against exact',
          share(shrink.recall),
          anew.recall,
          'a graph built anew',
        ),
        notBelow('settled: recall against exact', settled, anew.recall, 'a graph built anew'),
        bounded({
          what: 'keys held at the end less those that must be',
          value: Math.abs(end.keys - load.heldKeys.length),
          most: 0,
        }),
        bounded({ what: 'steady churn: changes done of those planned', value: doneOf(steady), least: 0.95 }),
        bounded({ what: 'background: audits of the links', value: audits, least: 1 }),
        bounded({ what: 'background: compactions', value: compactions, least: 1 }),
        bounded({
          what: 'settled: memory of the index ÷ that of one built anew of its rows',
          value: partsMiB(end) / anew.miB,
          most: MOST_MEMORY,
        }),
      ],
    };
  } finally {
    ours.close();
  }
}

/** What churn may cost of recall, and of memory (blocks that are not full). */
const LOSS = 0.03;
const MOST_MEMORY = 1.25;

const notBelow = (what, value, than, name) =>
  bounded({ what: `${what}, ${name} ${round(than)}`, value, least: round(than - LOSS) });

/** As `data`, of some rows only. */
function rowsOf(data, keys) {
  const rows = new Float32Array(keys.length * DIMENSIONS);
  keys.forEach((key, i) => {
    rows.set(rowOf(data.rows, key), i * DIMENSIONS);
  });
  return { ...data, n: keys.length, rows };
}

const doneOf = ({ seconds, done }) =>
  (done.added + done.readded + done.removed) / ((2 * BATCH * seconds * 1_000) / BATCH_MS);

function metricsOf({ name, seconds, seen, counted, times, timeline, late, recall, done }) {
  const latency = (what, list) =>
    list.length === 0 ? [] : [latencyMetric(`${name}: ${what}`, { times: list, seconds })];
  const sorted = late.toSorted((a, b) => a - b);
  const searches = latencyMetric(`${name}: search`, { times: times.search, seconds });
  return [
    {
      ...searches,
      recall: Math.round((recall.right / recall.wanted) * 1e4) / 1e4,
      at: 'timeline',
      phase: name,
      timeline: bySecond(timeline),
    },
    ...latency('search with a filter of 10%', times.filtered),
    ...latency(`a batch of additions`, times.add),
    ...latency(`a batch of removals`, times.remove),
    ...(done.added + done.removed === 0
      ? []
      : [
          figure(`${name}: rows added anew`, 'rows', 'higher', done.added),
          figure(`${name}: rows added again`, 'rows', 'higher', done.readded),
          figure(`${name}: rows removed`, 'rows', 'higher', done.removed),
          figure(`${name}: audits ended`, '', 'higher', counted.audits),
          figure(`${name}: rows linked anew by audits`, 'rows', 'lower', counted.repairs),
          figure(`${name}: compactions ended`, '', 'higher', counted.compactions),
          figure(`${name}: background at work, share of the time`, '', 'lower', seen.building / seen.looks),
        ]),
    figure(`${name}: calls started late, p99`, 'ms', 'lower', quantile(sorted, 0.99)),
  ];
}

/** `[second, median, p95, recall]` of the searches of each second. */
function bySecond(timeline) {
  const seconds = new Map();
  for (const point of timeline) {
    if (!seconds.has(point.second)) seconds.set(point.second, []);
    seconds.get(point.second).push(point);
  }
  return [...seconds].map(([second, points]) => {
    const times = points.map(({ ms }) => ms).sort((a, b) => a - b);
    const recalls = points.flatMap(({ recall }) => (recall === undefined ? [] : [recall]));
    const recall = recalls.length === 0 ? null : recalls.reduce((sum, one) => sum + one, 0) / recalls.length;
    return [second, median(times), quantile(times, 0.95), recall];
  });
}

/** Of searches by time, through the phases: for the suite's plots. */
export function churnPlots({ name, metrics }) {
  const points = [];
  let from = 0;
  for (const { timeline } of metrics.filter(({ at }) => at === 'timeline')) {
    for (const [second, ...values] of timeline) points.push([from + second, ...values]);
    from += timeline.at(-1)[0] + 1;
  }
  const series = (label, column) => ({
    name: label,
    points: points.map((point) => [point[0], point[column] ?? Number.NaN]),
  });
  const x = { title: 'seconds: searches alone, steady churn, shrinking' };
  return [
    {
      name: `${name}-latency`,
      title: `${name}: searches beside changes, by second`,
      x,
      y: { title: 'ms', scale: 'log' },
      series: [series('median', 1), series('p95', 2)],
    },
    {
      name: `${name}-recall`,
      title: `${name}: live recall@10 against exact, by second`,
      x,
      y: { title: 'recall@10' },
      series: [series('recall', 3)],
    },
  ];
}

async function recallAtRest({ partition }, data) {
  const [found, exact] = [[], []];
  for (let i = 0; i < QUERIES; i += 1) {
    const query = rowOf(data.queries, i);
    found.push([...(await partition.search(query, K, undefined, undefined)).keys]);
    exact.push([...(await partition.search(query, K, undefined, undefined, undefined, 'scan')).keys]);
  }
  return recallOf(found, exact);
}
