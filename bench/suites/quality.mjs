// How well the right texts come first, nDCG@10: full text, vectors, their fusion, and the whole read path, on collections with
// judged queries.
import { evaluateSample } from '../../dist/app/evaluate-sample.js';
import { parseConfig } from '../../dist/config/parse-config.js';
import { computeMetrics } from '../../dist/evaluation/metrics.js';
import { checkRequest } from '../../dist/retrieval/check-request.js';
import { findCandidates } from '../../dist/retrieval/find-candidates.js';
import { StageTimer } from '../../dist/retrieval/stage-timer.js';
import { absence, modelAbsence, openCollection, SAMPLE } from '../fixtures/collections.mjs';
import { BENCH_CALLER } from '../fixtures/installation.mjs';
import { figure } from '../harness/measure.mjs';
import { promised } from '../harness/promises.mjs';
import { bounded } from '../index/targets.mjs';

const CANDIDATES = 100;
const METHODS = ['BM25', 'embedder', 'fusion', 'late interaction'];
/** nDCG@10 of all-MiniLM-L6-v2 (int8) with mean pooling by another implementation; ours must be within `WITHIN`. */
const REFERENCE = { cran: 0.393, med: 0.793 };
const WITHIN = 0.005;

/** What is promised of the embedder that ships, as a share of the default model's nDCG@10, on every collection. */
const STARTER_SHARE = 0.85;
/** What is promised of abstention on the sample's test half. */
const LEAST_AUC = 0.85;
const MOST_INJECTED_AT_80 = 0.05;

const COLLECTIONS = ['cran', 'med', SAMPLE];
const OTHER_MODELS = ['starter', 'e5-small-v2'];

/** The default model on every collection, then the others; cran and the others cost minutes of embedding, so only in full. */
function cases({ quick }) {
  const own = COLLECTIONS.filter((name) => !quick || name !== 'cran').map((name) => ({
    name,
    collection: name,
  }));
  if (quick) return own;
  return [
    ...own,
    { name: 'abstention' },
    ...OTHER_MODELS.flatMap((embedder) =>
      COLLECTIONS.map((collection) => ({ name: `${collection}/${embedder}`, collection, embedder })),
    ),
  ];
}

async function rankings({ app }, request) {
  const { lexicalIndex, vectorIndex, embedder } = app.retrieveDeps;
  const valid = checkRequest({ ...request, candidateK: CANDIDATES });
  const { namespace, taskType, attributes, query } = valid;
  const [{ vector }] = await embedder.embed([query], { kind: 'query', tokenVectors: true });
  const scope = { namespace, taskType, attributes, k: CANDIDATES };
  const lexical = await lexicalIndex.search({ ...scope, text: query });
  const { hits } = await vectorIndex.search({ ...scope, vector });
  const { fused } = await findCandidates(app.retrieveDeps, valid, vector, new StageTimer(), undefined);
  const { candidates } = await app.useCases.retrieval.retrieve(BENCH_CALLER, {
    ...request,
    candidateK: CANDIDATES,
  });
  const ids = (list) => list.map(({ id }) => id);
  return [ids(lexical), ids(hits), ids(fused), ids(candidates.map(({ note }) => note))];
}

/** Whether scores tell queries that a note answers from those that none does. */
async function abstention() {
  const skipped = await modelAbsence({});
  if (skipped !== undefined) return { skipped, metrics: [], checks: [] };
  const { report } = await evaluateSample({ config: parseConfig({ env: process.env, flags: {} }) });
  const { answerableAuc, injectedAt80, cases: queries } = report;
  const exact = { exact: true };
  return {
    setup: `test half of the sample's ${queries.length} queries, ${report.embeddingModel}, ${report.rerankModel ?? 'no reranker'}`,
    metrics: [
      figure('AUC of the best score', '', 'higher', answerableAuc, exact),
      figure('wrongly injected where 80% are answered', '', 'lower', injectedAt80, exact),
    ],
    checks: [
      promised(
        bounded({
          what: 'AUC of answerable against unanswerable queries',
          value: answerableAuc,
          least: LEAST_AUC,
        }),
      ),
      promised(
        bounded({
          what: 'wrongly injected at a recall of 80%',
          value: injectedAt80,
          most: MOST_INJECTED_AT_80,
        }),
      ),
    ],
  };
}

/** nDCG@10 of the default model's vectors alone: what the shipped embedder is measured by where no reference stands. */
async function defaultVectors(name) {
  if ((await modelAbsence({})) !== undefined) return undefined;
  const collection = await openCollection(name);
  try {
    const results = [];
    for (const { expected, ...request } of collection.queries) {
      const [, ranking] = await rankings(collection, request);
      results.push({ ranking, answered: [], expected });
    }
    return computeMetrics(results).ndcgAt10;
  } finally {
    await collection.close();
  }
}

async function starterCheck(name, metrics) {
  const what = `starter at least ${STARTER_SHARE} of the default model's nDCG@10, vectors alone`;
  const measured = REFERENCE[name] ?? (await defaultVectors(name));
  if (measured === undefined)
    return { what, ok: undefined, value: 'not measured: the default model is not installed' };
  const share = metrics.find((metric) => metric.name === 'embedder: nDCG@10').value / measured;
  return promised({ what, ok: share >= STARTER_SHARE, value: Number(share.toFixed(3)) });
}

async function run({ name: caseName, collection: name, embedder: model }, { log }) {
  if (caseName === 'abstention') return abstention();
  const flags = model === undefined ? {} : { embedder: model };
  const skipped = absence(name) ?? (await modelAbsence(flags));
  if (skipped !== undefined) {
    log(skipped);
    return { skipped, metrics: [], checks: [] };
  }
  const collection = await openCollection(name, flags);
  try {
    const results = METHODS.map(() => []);
    for (const { expected, ...request } of collection.queries) {
      const lists = await rankings(collection, request);
      lists.forEach((ranking, method) => {
        results[method].push({ ranking, answered: [], expected });
      });
    }
    const metrics = METHODS.flatMap((method, index) => {
      const { ndcgAt10, recallAt10 } = computeMetrics(results[index]);
      return [
        figure(`${method}: nDCG@10`, '', 'higher', ndcgAt10, { exact: true }),
        figure(`${method}: recall@10`, '', 'higher', recallAt10, { exact: true }),
      ];
    });
    const { embedder, vectorIndex } = collection.engines;
    return {
      setup: `${collection.queries.length} answerable queries, ${vectorIndex.stats().notes} texts, ${embedder.model.id}, ${CANDIDATES} candidates`,
      metrics,
      checks: [
        ...checksOf(name, model, metrics),
        ...(model === 'starter' ? [await starterCheck(name, metrics)] : []),
      ],
    };
  } finally {
    await collection.close();
  }
}

function checksOf(name, model, metrics) {
  const [lexical, vector, fusion] = METHODS.map(
    (method) => metrics.find((metric) => metric.name === `${method}: nDCG@10`).value,
  );
  const reference = REFERENCE[name];
  const checks = [
    {
      what: 'fusion reaches at least the better of both parts',
      ok: fusion >= Math.max(lexical, vector),
      value: fusion,
    },
  ];
  if (reference === undefined) return checks;
  if (model !== undefined) return checks;
  return [
    {
      what: `embedder within ${WITHIN} of the reference's ${reference}`,
      ok: Math.abs(vector - reference) <= WITHIN,
      value: vector,
    },
    ...checks,
  ];
}

function plots(results) {
  const done = results.filter(({ metrics }) => metrics.some(({ name }) => name.endsWith('nDCG@10')));
  return [
    {
      name: 'ndcg',
      title: `nDCG@10 by collection: ${done.map(({ name }, index) => `${index + 1} ${name}`).join(', ')}`,
      x: { title: 'collection' },
      y: { title: 'nDCG@10' },
      series: METHODS.map((method) => ({
        name: method,
        mark: 'points',
        points: done.map(({ metrics }, index) => [
          index + 1,
          metrics.find((metric) => metric.name === `${method}: nDCG@10`).value,
        ]),
      })),
    },
  ];
}

export const suite = { name: 'quality', title: 'how well the right texts come first', cases, run, plots };
