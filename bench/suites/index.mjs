// The vector index beside other libraries' indexes, and what is promised of it; the targets hold at their sizes only, so quick
// runs check answers and show times.
import { bindingCase } from '../index/binding-case.mjs';
import { churnCase, churnPlots } from '../index/churn-case.mjs';
import { graphCase } from '../index/graph-case.mjs';
import { loadRival, RIVALS } from '../index/install-rivals.mjs';
import { scanCase } from '../index/scan-case.mjs';
import { snapshotCase } from '../index/snapshot-case.mjs';

const GRAPH_100K = {
  search: { usearch: 5, 'hnswlib-node': 4, '@zvec/zvec': 2.5, '@lancedb/lancedb': 25 },
};

const cases = ({ quick }) =>
  quick
    ? [
        { name: 'binding', run: bindingCase },
        { name: 'snapshot-20k', run: snapshotCase, rows: 20_000, graph: false },
        { name: 'scan-20k', run: scanCase, rows: 20_000, data: 'hard' },
        {
          name: 'graph-10k',
          run: graphCase,
          rows: 10_000,
          data: 'clustered',
          goal: 0.97,
          filters: true,
          rivals: ['usearch', 'hnswlib-node'],
        },
        { name: 'churn-8k', run: churnCase, rows: 8_000, seconds: 6 },
      ]
    : [
        { name: 'binding', run: bindingCase },
        { name: 'scan-100k-hard', run: scanCase, rows: 100_000, data: 'hard' },
        { name: 'scan-100k-real', run: scanCase, rows: 100_000, data: 'real' },
        { name: 'scan-1M', run: scanCase, rows: 1_000_000, data: 'clustered', promised: true },
        {
          name: 'graph-100k',
          run: graphCase,
          rows: 100_000,
          data: 'clustered',
          goal: 0.995,
          filters: true,
          promised: {
            ...GRAPH_100K,
            build: { usearch: 3, '@zvec/zvec': 1.8 },
            memory: 0.45,
            filters: {
              s01: { 'hnswlib-node': 500, 'usearch C++': 40, '@zvec/zvec': 1 },
              s1: { 'hnswlib-node': 500, 'usearch C++': 40, '@zvec/zvec': 6 },
              s10: { 'hnswlib-node': 8, '@zvec/zvec': 15 },
            },
          },
        },
        {
          name: 'graph-100k-hard',
          run: graphCase,
          rows: 100_000,
          data: 'hard',
          goal: 0.995,
          promised: GRAPH_100K,
        },
        {
          name: 'graph-100k-real',
          run: graphCase,
          rows: 100_000,
          data: 'real',
          goal: 0.995,
          filters: true,
          promised: { ...GRAPH_100K, filters: {} },
        },
        {
          name: 'graph-1M',
          run: graphCase,
          rows: 1_000_000,
          data: 'clustered',
          goal: 0.97,
          kept: true,
          rivals: ['usearch', '@zvec/zvec'],
          promised: { search: { usearch: 6, '@zvec/zvec': 2 } },
        },
        { name: 'churn-40k', run: churnCase, rows: 40_000, seconds: 45 },
        { name: 'snapshot-100k', run: snapshotCase, rows: 100_000, graph: true },
        { name: 'snapshot-1M', run: snapshotCase, rows: 1_000_000, graph: false, promised: 100 },
        { name: 'rivals', run: rivalsCase },
      ];

/** Rivals that can be installed, but that no case drives: named with the reason, not called measured. */
const NOT_COMPARED = {
  'faiss-node': 'not compared: no case drives it',
};

/** Which rivals could be had, so that none is dropped silently. */
async function rivalsCase(_parameters, { log }) {
  const checks = Object.entries(RIVALS).map(([name, version]) => {
    const { missing } = loadRival(name, { installs: true, log });
    return {
      what: `${name} ${version}`,
      ok: missing === undefined && NOT_COMPARED[name] === undefined ? true : undefined,
      value: missing ?? NOT_COMPARED[name] ?? 'measured',
    };
  });
  return { setup: 'rivals installed into .cache/bench-rivals', metrics: [], checks };
}

/** Recall against time, one plot a graph case; churn by the second. */
function plots(results) {
  return results.flatMap((result) => {
    if (result.metrics.some(({ at }) => at === 'timeline')) return churnPlots(result);
    return result.metrics.some(({ at }) => at === 'curve') ? [recallPlot(result)] : [];
  });
}

function recallPlot({ name, metrics }) {
  const engines = [...new Set(metrics.flatMap(({ at, engine }) => (at === 'curve' ? [engine] : [])))];
  return {
    name,
    title: `${name}: recall@10 by time of a query`,
    x: { title: 'µs a query', scale: 'log' },
    y: { title: 'recall@10' },
    series: engines.map((engine) => ({
      name: engine,
      points: metrics
        .filter((metric) => metric.at === 'curve' && metric.engine === engine)
        .map(({ value, recall }) => [value, recall]),
    })),
  };
}

export const suite = {
  name: 'index',
  title: 'the vector index beside other libraries’',
  cases,
  run: ({ run, ...parameters }, context) => run(parameters, context),
  plots,
};
