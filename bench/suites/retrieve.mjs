// The whole read path: in the process, and through GraphQL over HTTP under load, at growing numbers of notes.
import { median } from '../../dist/evaluation/statistics/describe-sample.js';
import { BENCH_CALLER, openInstallation } from '../fixtures/installation.mjs';
import { lessonOf } from '../fixtures/lessons.mjs';
import { EMBEDDED, TASK_TYPE } from '../fixtures/notes.mjs';
import { figure, latencyMetric, measureLatency, residentMiB } from '../harness/measure.mjs';

const CONCURRENCY = 4;
const STEADY_CALLS = 10_000;
/** 3 GB of vectors and an hour of graph building: only where asked for. */
const MILLION = process.env.BENCH_MILLION === '1';

const cases = ({ quick }) => [
  { name: '1k', notes: 1_000 },
  ...(quick ? [] : [{ name: '10k', notes: 10_000 }]),
  // The case that the README's budget is stated for.
  ...(quick ? [] : [{ name: '20k', notes: 20_000, budget: true }]),
  ...(quick ? [] : [{ name: '100k', notes: 100_000 }]),
  ...(MILLION && !quick ? [{ name: '1M', notes: 1_000_000 }] : []),
];

/** Share of the exact ten best notes, by JavaScript's own arithmetic, that the index finds; over `queries` new queries. */
async function recallAt10({ app, engines }, notes, queries) {
  const all = await storedVectors(app, notes);
  let found = 0;
  for (let number = 0; number < queries; number += 1) {
    const text = `${lessonOf(number * 7)} Seen again, number ${number}.`;
    const [{ vector }] = await engines.embedder.embed([text], { kind: 'query' });
    const scores = all.map(({ id, rows }) => ({
      id,
      score: Math.max(...rows.map((row) => dot(row, vector))),
    }));
    const exact = new Set(
      scores
        .sort((a, b) => b.score - a.score)
        .slice(0, 10)
        .map(({ id }) => id),
    );
    const { hits } = await engines.vectorIndex.search({
      namespace: 'default',
      taskType: TASK_TYPE,
      vector,
      k: 10,
    });
    found += hits.filter(({ id }) => exact.has(id)).length;
  }
  return found / (queries * 10);
}

async function storedVectors({ retrieveDeps: { store } }, notes) {
  const all = [];
  let after;
  while (all.length < notes) {
    const page = await store.notes.scanActive(after, 1_000);
    if (page.length === 0) break;
    for (const { note, vectors } of page)
      all.push({ id: note.id, rows: [vectors.lesson, vectors.situation] });
    after = page.at(-1).note.id;
  }
  return all;
}

function dot(a, b) {
  let sum = 0;
  for (let i = 0; i < a.length; i += 1) sum += a[i] * b[i];
  return sum;
}

async function run({ notes, budget = false }, { quick, log }) {
  const installation = await openInstallation(notes);
  const { app, engines, memory } = installation;
  log(
    `${notes} notes stored in ${installation.storeSeconds.toFixed(1)} s, index filled in ${installation.indexSeconds.toFixed(1)} s, graph in ${installation.graphSeconds.toFixed(1)} s`,
  );
  try {
    const call = (query) => app.useCases.retrieval.retrieve(BENCH_CALLER, { query, taskType: TASK_TYPE });
    const fresh = (index) => `${lessonOf(index % EMBEDDED)} Seen again, number ${index}.`;
    const repeated = (index) => `Is ${lessonOf(index % 50)} still right?`;

    let hits = 0;
    for (let index = 0; index < 100; index += 1) {
      const { candidates } = await call(lessonOf(index));
      hits += Number(candidates[0]?.note.lesson === lessonOf(index));
    }
    const recall = await recallAt10(installation, notes, quick ? 20 : 50);
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
    metrics.push(...memoryMetrics(memory, engines));
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
    return {
      setup: `${notes} notes, ${engines.vectorIndex.stats().vectors} vectors; stored in ${installation.storeSeconds.toFixed(1)} s, index filled in ${installation.indexSeconds.toFixed(1)} s, graph built in ${installation.graphSeconds.toFixed(1)} s; load generator in a process of its own on the same cores`,
      metrics,
      checks,
    };
  } finally {
    await installation.close();
  }
}

function memoryMetrics(memory, engines) {
  const mib = (name, value) => figure(`memory: ${name}`, 'MiB', 'lower', Math.max(0, value));
  return [
    mib('Node and store driver', memory.start),
    mib('models', memory.models - memory.start),
    mib('vector, lexical index and caches', memory.index - memory.store),
    mib('vector index by its own count', engines.vectorIndex.stats().memoryBytes / 2 ** 20),
  ];
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
  const done = results.filter(({ metrics }) => metrics.length > 0);
  const notesOf = ({ name }) =>
    cases({ quick: false })
      .concat(name === '1M' ? [{ name: '1M', notes: 1e6 }] : [])
      .find((one) => one.name === name)?.notes ?? Number.NaN;
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
