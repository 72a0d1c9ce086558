// The whole read path: in the process, and through GraphQL over HTTP under load, at growing numbers of notes.
import { median } from '../../dist/evaluation/statistics/describe-sample.js';
import { BENCH_CALLER, openInstallation } from '../fixtures/installation.mjs';
import { lessonOf } from '../fixtures/lessons.mjs';
import { EMBEDDED, TASK_TYPE } from '../fixtures/notes.mjs';
import { figure, latencyMetric, measureLatency, residentMiB } from '../harness/measure.mjs';
import { coldStart } from '../retrieve/cold-start.mjs';
import { prepareStore } from '../retrieve/kept-store.mjs';
import { memoryMetrics } from '../retrieve/memory-metrics.mjs';
import { recallAt10 } from '../retrieve/recall.mjs';

const CONCURRENCY = 4;
const STEADY_CALLS = 10_000;
/** Whether a million notes are prepared by the run itself, which takes an hour or more. */
const MILLION = process.env.BENCH_MILLION === '1';

/** `kept`: the store outlasts the run, and is prepared by it where it is missing (`build`) or only where asked for (`ask`). */
const cases = ({ quick }) =>
  quick
    ? [
        { name: '1k', notes: 1_000 },
        { name: 'cold-start-2k', run: coldStart, notes: 2_000 },
      ]
    : [
        { name: '1k', notes: 1_000 },
        { name: '10k', notes: 10_000 },
        // The case that the README's budget is stated for.
        { name: '20k', notes: 20_000, budget: true },
        { name: '100k', notes: 100_000, kept: 'build' },
        { name: '1M', notes: 1_000_000, kept: 'ask' },
        { name: 'cold-start-20k', run: coldStart, notes: 20_000 },
      ];

const run = ({ run: other = readPath, ...parameters }, context) => other(parameters, context);

async function readPath({ notes, budget = false, kept }, { quick, log }) {
  if (kept === 'build' || (kept === 'ask' && MILLION)) await prepareStore(notes, { log });
  const installation = await openInstallation(notes, { kept: kept !== undefined });
  if (installation.missing !== undefined)
    return { skipped: `skipped: ${installation.missing}`, metrics: [], checks: [] };
  const { app, engines, memory } = installation;
  const opened = describeOpening(installation);
  log(`${notes} notes, ${opened}`);
  try {
    const call = (query) => app.useCases.retrieval.retrieve(BENCH_CALLER, { query, taskType: TASK_TYPE });
    const fresh = (index) => `${lessonOf(index % EMBEDDED)} Seen again, number ${index}.`;
    const repeated = (index) => `Is ${lessonOf(index % 50)} still right?`;

    let hits = 0;
    for (let index = 0; index < 100; index += 1) {
      const { candidates } = await call(lessonOf(index));
      hits += Number(candidates[0]?.note.lesson === lessonOf(index));
    }
    const recall = await recallAt10(installation, quick || notes > 100_000 ? 20 : 50);
    log(`${hits} of 100 notes found first by their own lesson, recall@10 ${recall.toFixed(3)}`);

    const calls = quick ? 200 : 2_000;
    await measureLatency('', {
      calls: 200,
      concurrency: CONCURRENCY,
      call: (index) => call(fresh(index + 1_000_000)),
    });
    const inProcess = await measureLatency(`in process, new queries, concurrency ${CONCURRENCY}`, {
      calls,
      concurrency: CONCURRENCY,
      call: (index) => call(fresh(index)),
      extra: { recall },
    });
    const metrics = [
      inProcess,
      await measureLatency(`in process, repeated queries, concurrency ${CONCURRENCY}`, {
        calls,
        concurrency: CONCURRENCY,
        call: (index) => call(repeated(index)),
        extra: { recall },
      }),
    ];
    let from = 10_000_000;
    for (const kind of ['new', 'repeated']) {
      for (const connections of [1, 8, 32]) {
        const queries = () => {
          from += 100_000;
          return { kind, from };
        };
        await installation.load({ connections, amount: quick ? 32 : 100, queries: queries() });
        const amount = connections === 1 ? calls / 2 : calls;
        const answer = await installation.load({ connections, amount, queries: queries() });
        metrics.push(
          latencyMetric(`GraphQL over HTTP, ${kind} queries, concurrency ${connections}`, answer, { recall }),
        );
      }
    }
    const checks = [
      { what: 'notes found first by their own lesson, of 100, at least 99', ok: hits >= 99, value: hits },
      { what: 'recall@10 of the index, at least 0.95', ok: recall >= 0.95, value: recall },
    ];
    if (budget) {
      const added = await addedByGraphql(installation, call, repeated);
      metrics.push(added);
      checks.push(
        { what: 'in process, new queries, p95 under 25 ms', ok: inProcess.p95 < 25, value: inProcess.p95 },
        { what: 'GraphQL adds at most 2 ms to a call', ok: added.value <= 2, value: added.value },
        await steadyMemory((index) => call(repeated(index))),
      );
    }
    metrics.push(...memoryMetrics(memory, installation));
    return {
      setup: `${notes} notes, ${engines.vectorIndex.stats().vectors} vectors; ${opened}; load generator in a process of its own on the same cores`,
      metrics,
      checks,
    };
  } finally {
    await installation.close();
  }
}

function describeOpening({ storeSeconds, indexSeconds, graphSeconds, prepared }) {
  const shown = (seconds) => (seconds === undefined ? 'more than one go' : `${seconds.toFixed(1)} s`);
  const told = (times) =>
    `stored in ${shown(times.storeSeconds)}, indexes filled in ${shown(times.indexSeconds)}, graph built in ${shown(times.graphSeconds)}`;
  if (prepared === undefined) return told({ storeSeconds, indexSeconds, graphSeconds });
  return `prepared ahead (${told(prepared)}); opened from the store and the index's snapshot in ${shown(indexSeconds)}`;
}

/** Median of single calls over HTTP less the median of the same calls in the process, taken in turns. */
async function addedByGraphql(installation, call, repeated) {
  const rounds = [];
  for (let round = 0; round < 10; round += 1) {
    const inside = await measureLatency('', { calls: 60, call: (index) => call(repeated(index)) });
    const { times } = await installation.load({
      connections: 1,
      amount: 60,
      queries: { kind: 'repeated', from: 0 },
    });
    rounds.push(median(times) - inside.value);
  }
  return figure('added by GraphQL and HTTP to a call', 'ms', 'lower', rounds);
}

async function steadyMemory(call) {
  await measureLatency('', { calls: STEADY_CALLS / 5, concurrency: CONCURRENCY, call });
  const before = residentMiB();
  await measureLatency('', { calls: STEADY_CALLS, concurrency: CONCURRENCY, call });
  const grown = Math.round(residentMiB() - before);
  return { what: `memory grown over ${STEADY_CALLS} calls, MiB, under 30`, ok: grown < 30, value: grown };
}

function plots(results) {
  const done = results.filter(({ metrics }) => metrics.some(({ name }) => name.startsWith('in process')));
  const notesOf = ({ name }) => cases({ quick: false }).find((one) => one.name === name)?.notes ?? Number.NaN;
  const over = (metricName, pick) =>
    done.flatMap((one) => {
      const metric = one.metrics.find(({ name }) => name === metricName);
      return metric === undefined ? [] : [[notesOf(one), pick(metric)]];
    });
  const series = (metricName) => [
    { name: `${metricName}: median`, points: over(metricName, ({ value }) => value) },
    { name: `p95`, points: over(metricName, ({ p95 }) => p95) },
  ];
  return [
    {
      name: 'growth',
      title: 'Retrieve in the process, new queries, concurrency 4',
      x: { title: 'notes', scale: 'log' },
      y: { title: 'ms' },
      series: series(`in process, new queries, concurrency ${CONCURRENCY}`).map((one, index) => ({
        ...one,
        name: index === 0 ? 'median' : 'p95',
      })),
    },
    {
      name: 'load',
      title: 'GraphQL over HTTP, new queries: p95 by concurrency',
      x: { title: 'concurrent requests', scale: 'log' },
      y: { title: 'p95, ms' },
      series: done.map((one) => ({
        name: `${one.name} notes`,
        points: [1, 8, 32].map((connections) => [
          connections,
          one.metrics.find(
            ({ name }) => name === `GraphQL over HTTP, new queries, concurrency ${connections}`,
          )?.p95 ?? Number.NaN,
        ]),
      })),
    },
  ];
}

export const suite = {
  name: 'retrieve',
  title: 'the whole read path, in the process and through GraphQL',
  cases,
  run,
  plots,
};
