// What reranking costs: late interaction beside the query's embedding, a cross-encoder beside the bare runtime.
import { median } from '../../dist/evaluation/statistics/describe-sample.js';
import { openCollection, SAMPLE } from '../fixtures/collections.mjs';
import { BENCH_CALLER } from '../fixtures/installation.mjs';
import { lessonOf } from '../fixtures/lessons.mjs';
import { figure, latencyMetric } from '../harness/measure.mjs';
import { promised } from '../harness/promises.mjs';
import { benchModel, openBare, openReranker } from './contestants.mjs';
import { makeCrossEncoder } from './cross-encoder.mjs';
import { meets, ratios, seconds, total } from './ratio.mjs';

const THREADS = 2;
const PAIRS = 20;

/** From the read path's own stage times: what reranking adds to a query's embedding. */
export async function lateInteraction({ quick }) {
  const collection = await openCollection(SAMPLE);
  try {
    const times = { embed: [], rerank: [] };
    let reranked = 0;
    const rounds = quick ? 1 : 4;
    for (let round = 0; round < rounds; round += 1)
      for (const { expected: _expected, query: text, ...request } of collection.queries) {
        const asked = { ...request, query: `${text} (${round})` };
        const { stages, rerankModel, candidates } = await collection.app.useCases.retrieval.retrieve(
          BENCH_CALLER,
          asked,
        );
        if (candidates.length < 20) continue;
        reranked += Number(rerankModel === 'late-interaction');
        for (const name of ['embed', 'rerank'])
          times[name].push(stages.find((stage) => stage.name === name).ms);
      }
    const share = median(times.rerank) / median(times.embed);
    return {
      setup: `${times.rerank.length} new queries of the sample with 20 candidates each; times of the read path's stages`,
      metrics: [
        latencyMetric('embed', { times: times.embed, seconds: total(times.embed) }),
        latencyMetric('rerank 20 candidates, late interaction', {
          times: times.rerank,
          seconds: total(times.rerank),
        }),
        figure('rerank ÷ embed', '×', 'lower', share),
      ],
      checks: [
        meets('every answer was reranked', reranked === times.rerank.length, reranked),
        promised(meets('20 candidates reranked in under 0.1 × the embedding', share < 0.1, share)),
      ],
    };
  } finally {
    await collection.close();
  }
}

/** 20 pairs a query, in turns with the bare runs of the same pairs on as many threads. */
export async function crossEncoder({ quick }) {
  const { directory, weightsPath, entry } = benchModel();
  const model = makeCrossEncoder({ directory, weightsPath, dimensions: entry.dimensions });
  const { reranker, inputsOf } = await openReranker(model.folder, THREADS);
  const bare = await openBare(THREADS, model.weights);
  try {
    const calls = quick ? 8 : 60;
    const times = { ours: [], bare: [] };
    const scores = new Set();
    for (let call = -2; call < calls; call += 1) {
      const query = `Does this apply to case ${call}: ${lessonOf(call + 1_000)}`;
      const passages = Array.from({ length: PAIRS }, (_, pair) => lessonOf(call * 31 + pair * 7 + 100));
      const inputs = await inputsOf(query, passages);
      const own = await seconds(async () => {
        for (const score of await reranker.rerank(query, passages)) scores.add(score);
      });
      const theirs = await seconds(() => bare.run(inputs));
      // The first two warm up.
      if (call < 0) continue;
      times.ours.push(own * 1_000);
      times.bare.push(theirs * 1_000);
    }
    const speed = ratios(times.bare, times.ours);
    return {
      setup: `${calls} queries with ${PAIRS} passages, ${THREADS} threads each: the encoder of all-MiniLM-L6-v2 (6 layers, int8) with a head; its scores mean nothing`,
      metrics: [
        latencyMetric(`rerank ${PAIRS} pairs, cross-encoder`, {
          times: times.ours,
          seconds: total(times.ours),
        }),
        latencyMetric('bare runs of the same pairs', { times: times.bare, seconds: total(times.bare) }),
        figure('Errata ÷ bare runs', '×', 'higher', speed),
      ],
      checks: [
        meets('scores differ from pair to pair', scores.size > PAIRS, scores.size),
        promised(meets('cross-encoder at least 0.9 × the bare runs', median(speed) >= 0.9, median(speed))),
      ],
    };
  } finally {
    await bare.close();
    await reranker.close();
    model.remove();
  }
}
