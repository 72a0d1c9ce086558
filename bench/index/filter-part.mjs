// Filters: the rivals' at three random shares, and the planner at every selectivity, near, far and combined.
import { median } from '../../dist/evaluation/statistics/describe-sample.js';
import { rowOf } from './data.mjs';
import { TAG } from './graph-case.mjs';
import { answersOf } from './ours.mjs';
import { bounded, fasterThan, notMeasured } from './targets.mjs';
import { inTurns, recallOf, timeMetric } from './timing.mjs';

const K = 10;
const EF = 64;
const PERCENT = { s01: '0.1%', s1: '1%', s10: '10%' };
/** Recall that an answer under a filter must have, by share. */
const GOALS = { s01: 0.999, s1: 0.999, s10: 0.99 };

export async function measureFilters(context) {
  const rivals = await againstRivals(context);
  const planner = await plannerFilters(context);
  return { metrics: [...rivals.metrics, ...planner.metrics], checks: [...rivals.checks, ...planner.checks] };
}

async function againstRivals({ data, queries, floats, ours, engines, missing, promised = {}, quick, log }) {
  const metrics = [];
  const checks = [];
  const query = (i) => rowOf(data.queries, i % queries);
  for (const share of Object.keys(PERCENT)) {
    log(`filter of ${PERCENT[share]}`);
    const tags = Uint32Array.of(TAG[share]);
    const exact = await answersOf(data, queries, (one) => floats.keys(one, K, { tags }));
    const contestants = [
      { name: 'errata', call: (i) => ours.search(query(i), K, { tags }), keys: (answer) => answer.keys },
      ...engines
        .filter(({ filtered }) => filtered !== undefined)
        .map((engine) => ({
          name: engine.name,
          call: (i) => engine.filtered(query(i), K, EF, share),
          keys: (answer) => answer,
        })),
    ];
    const times = await inTurns(contestants, { quick });
    const sample = Math.min(queries, 50);
    for (const { name, call, keys } of contestants) {
      const found = [];
      for (let i = 0; i < sample; i += 1) found.push([...keys(await call(i))]);
      const recall = recallOf(found, exact.slice(0, sample));
      metrics.push(timeMetric(`${name}, filter of ${PERCENT[share]}`, times.get(name), { recall }));
      if (name === 'errata')
        checks.push(
          bounded({ what: `filter of ${PERCENT[share]}: recall`, value: recall, least: GOALS[share] }),
        );
    }
    for (const [rival, least] of Object.entries(promised[share] ?? {})) {
      const what = `filter of ${PERCENT[share]} against ${rival}`;
      if (times.has(rival))
        checks.push(fasterThan({ what, ours: times.get('errata'), theirs: times.get(rival), least }));
      else checks.push(notMeasured(what, missing.get(rival) ?? 'its npm package has no filtered search'));
    }
  }
  return { metrics, checks };
}

/** One tag list a query: far is the complement of the query's own side of all seven planes. */
function plannerCases(data, queries) {
  const sides = Array.from({ length: queries }, (_, i) => data.sideOf(rowOf(data.queries, i)));
  const one = (tag) => () => Uint32Array.of(tag);
  return {
    'random 0.01%': one(TAG.s001),
    'random 0.1%': one(TAG.s01),
    'random 1%': one(TAG.s1),
    'random 10%': one(TAG.s10),
    'random 50%': one(TAG.s50),
    'all 100%': one(TAG.all),
    'near side (1 of 128)': (i) => Uint32Array.of(TAG.near + sides[i]),
    'far side (1 of 128)': (i) => Uint32Array.of(TAG.near + (~sides[i] & 127)),
    'near half': (i) => Uint32Array.of(TAG.half + (sides[i] & 1)),
    'far half': (i) => Uint32Array.of(TAG.half + (~sides[i] & 1)),
    'random 10% and near half': (i) => Uint32Array.of(TAG.s10, TAG.half + (sides[i] & 1)),
    'random 50% and far half': (i) => Uint32Array.of(TAG.s50, TAG.half + (~sides[i] & 1)),
  };
}

async function plannerFilters({ goal, data, queries, floats, ours, promised, quick, log }) {
  log('the planner over filters');
  const metrics = [];
  const complete = [];
  const recalls = [];
  const regrets = [];
  for (const [name, tagsOf] of Object.entries(plannerCases(data, queries))) {
    const count = Math.min(queries, 50);
    const exact = [];
    const found = [];
    let plan = '';
    for (let i = 0; i < count; i += 1) {
      const query = rowOf(data.queries, i);
      const options = { tags: tagsOf(i) };
      exact.push(await floats.keys(query, K, options));
      plan = await ours.planOf(query, K, options);
      found.push([...ours.search(query, K, options).keys]);
    }
    const short = found.filter((keys, i) => keys.length < exact[i].length).length;
    const recall = recallOf(found, exact);
    const forced = (what) => ({
      name: what,
      call: (i) => ours.search(rowOf(data.queries, i % count), K, { tags: tagsOf(i % count), plan: what }),
    });
    const contestants = [
      {
        name: 'planned',
        call: (i) => ours.search(rowOf(data.queries, i % count), K, { tags: tagsOf(i % count) }),
      },
      forced('scan'),
      // Among few rows there is no graph search; this is then the scan again.
      forced('graph'),
    ];
    const times = await inTurns(contestants, { quick: true });
    metrics.push(timeMetric(`errata, ${name} (${plan})`, times.get('planned'), { recall }));
    complete.push(short);
    recalls.push(recall);
    const [planned, scan, graph] = ['planned', 'scan', 'graph'].map((one) => median(times.get(one)));
    metrics.push(
      timeMetric(`errata, ${name}, always a scan`, times.get('scan')),
      timeMetric(`errata, ${name}, a graph where there can be one`, times.get('graph')),
    );
    regrets.push(planned / Math.min(scan, graph));
  }
  const checks = [
    bounded({
      what: 'filters: answers with fewer than min(k, matches) notes',
      value: Math.max(...complete),
      most: 0,
    }),
    bounded({ what: 'filters: least recall', value: Math.min(...recalls), least: Math.min(goal, 0.99) }),
  ];
  const what = 'filters: time ÷ the better of scan and graph, worst of all';
  if (promised !== undefined && !quick)
    checks.push(bounded({ what, value: Math.max(...regrets), most: 1.3 }));
  return { metrics, checks };
}
