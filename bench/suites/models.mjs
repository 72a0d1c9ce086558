// Embedding against the bare runtime and transformers.js on the same file, one query, reranking, and memory over many texts.
import { median } from '../../dist/evaluation/statistics/describe-sample.js';
import { openCollection, SAMPLE } from '../fixtures/collections.mjs';
import { BENCH_CALLER } from '../fixtures/installation.mjs';
import { lessonOf } from '../fixtures/lessons.mjs';
import { figure, latencyMetric, residentMiB } from '../harness/measure.mjs';
import { mixedTexts, openBare, openErrata, openTransformers, tokenize } from '../models/contestants.mjs';

const THREADS = 2;
const RIVAL_BATCH = 32;

const cases = () => [{ name: 'embedding' }, { name: 'query' }, { name: 'rerank' }, { name: 'memory' }];

async function seconds(work) {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1_000;
}

const ratios = (others, own) => others.map((value, round) => value / own[round]);
const meets = (what, ok, value) => ({ what, ok, value: Math.round(value * 1_000) / 1_000 });

function cosine(a, b) {
  let [product, first, second] = [0, 0, 0];
  for (let d = 0; d < a.length; d += 1) {
    product += a[d] * b[d];
    first += a[d] * a[d];
    second += b[d] * b[d];
  }
  return product / Math.sqrt(first * second);
}

async function embedding({ quick, log }) {
  const count = quick ? 160 : 2_000;
  const rounds = quick ? 2 : 10;
  const texts = mixedTexts(count, lessonOf);
  const ids = await tokenize(texts);
  const ours = await openErrata(THREADS);
  const bare = await openBare(THREADS);
  const rival = await openTransformers({ installs: !quick, log });
  try {
    const embed = (some) => ours.embed(some, { kind: 'passage', priority: 'bulk' });
    const [alone] = await embed(texts.slice(0, 1));
    const first = (await embed(texts.slice(0, 40)))[0];
    const checks = [
      meets(
        'the same bits alone as among others',
        Buffer.from(alone.vector.buffer).equals(Buffer.from(first.vector.buffer)),
        1,
      ),
    ];
    await bare.run(ids.slice(0, 40));
    const times = { ours: [], bare: [], batched: [], single: [] };
    const size = count / rounds;
    for (let round = 0; round < rounds; round += 1) {
      const part = texts.slice(round * size, (round + 1) * size);
      times.ours.push(await seconds(() => embed(part)));
      times.bare.push(await seconds(() => bare.run(ids.slice(round * size, (round + 1) * size))));
      if (rival.missing !== undefined) continue;
      if (round === 0) {
        await rival.embed(part.slice(0, 4));
        const [theirs] = await rival.embed([part[0]]);
        const agreement = cosine(theirs, (await embed([part[0]]))[0].vector);
        checks.push(
          meets(
            'agrees with transformers.js on one text, cosine at least 0.999',
            agreement >= 0.999,
            agreement,
          ),
        );
      }
      times.batched.push(
        await seconds(async () => {
          for (let at = 0; at < part.length; at += RIVAL_BATCH)
            await rival.embed(part.slice(at, at + RIVAL_BATCH));
        }),
      );
      times.single.push(
        await seconds(async () => {
          for (const text of part) await rival.embed([text]);
        }),
      );
    }
    const metrics = [
      figure(
        'Errata',
        'texts/s',
        'higher',
        times.ours.map((time) => size / time),
      ),
      figure(
        'bare runs, two threads',
        'texts/s',
        'higher',
        times.bare.map((time) => size / time),
      ),
    ];
    const promise = (name, others, least) => {
      const all = ratios(others, times.ours);
      metrics.push(figure(`Errata ÷ ${name}`, '×', 'higher', all));
      checks.push(meets(`Errata at least ${least} × ${name}`, median(all) >= least, median(all)));
    };
    promise('bare runs of the same texts', times.bare, 0.95);
    if (rival.missing === undefined) {
      metrics.push(
        figure(
          `transformers.js, batches of ${RIVAL_BATCH}`,
          'texts/s',
          'higher',
          times.batched.map((time) => size / time),
        ),
        figure(
          'transformers.js, one by one',
          'texts/s',
          'higher',
          times.single.map((time) => size / time),
        ),
      );
      promise(`transformers.js in batches of ${RIVAL_BATCH}`, times.batched, 2.9);
      promise('transformers.js one by one', times.single, 1.4);
    } else checks.push({ what: 'Errata beside transformers.js', value: rival.missing });
    return {
      setup: `${count} texts of 5 to 200 tokens, ${rounds} rounds in turns, ${THREADS} threads each`,
      metrics,
      checks,
    };
  } finally {
    await rival.close?.();
    await bare.close();
    await ours.close();
  }
}

async function query({ quick }) {
  const calls = quick ? 100 : 1_000;
  const texts = Array.from({ length: calls + 20 }, (_, index) => `${lessonOf(index * 17)} Number ${index}.`);
  const ids = await tokenize(texts);
  const ours = await openErrata(1);
  const bare = await openBare(1);
  try {
    const times = { ours: [], bare: [] };
    for (const [index, text] of texts.entries()) {
      const own = await seconds(() => ours.embed([text], { kind: 'query' }));
      const theirs = await seconds(() => bare.run([ids[index]]));
      if (index < 20) continue;
      times.ours.push(own * 1_000);
      times.bare.push(theirs * 1_000);
    }
    const ratio = median(times.ours) / median(times.bare);
    const total = (list) => list.reduce((sum, value) => sum + value, 0) / 1_000;
    return {
      setup: `${calls} new queries, one at a time, in turns with the bare run of the same token ids in a thread of its own`,
      metrics: [
        latencyMetric('one query, not cached', { times: times.ours, seconds: total(times.ours) }),
        latencyMetric('bare run', { times: times.bare, seconds: total(times.bare) }),
        figure('Errata ÷ bare run', '×', 'lower', ratio),
      ],
      checks: [meets('one query within 1.1 × the bare run', ratio <= 1.1, ratio)],
    };
  } finally {
    await bare.close();
    await ours.close();
  }
}

/** From the read path's own stage times: what reranking adds to a query's embedding. */
async function rerank({ quick }) {
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
    const total = (list) => list.reduce((sum, value) => sum + value, 0) / 1_000;
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
        meets('20 candidates reranked in under 0.1 × the embedding', share < 0.1, share),
      ],
    };
  } finally {
    await collection.close();
  }
}

async function memory({ quick }) {
  const total = quick ? 3_000 : 50_000;
  const ours = await openErrata(THREADS);
  try {
    const batch = async (from, count) => {
      const texts = Array.from({ length: count }, (_, index) => `${lessonOf(from + index)} ${from + index}`);
      await ours.embed(texts, { kind: 'passage', priority: 'bulk' });
    };
    const warm = total / 5;
    for (let at = 0; at < warm; at += 500) await batch(at, Math.min(500, warm - at));
    const before = residentMiB();
    const seen = [before];
    for (let at = 0; at < total; at += 500) {
      await batch(100_000 + at, Math.min(500, total - at));
      if (at % 5_000 === 0) seen.push(residentMiB());
    }
    const grown = residentMiB() - before;
    return {
      setup: `${total} different texts after ${warm} for warming up`,
      metrics: [
        figure('resident memory', 'MiB', 'lower', seen),
        figure('grown', 'MiB', 'lower', Math.max(0, grown)),
      ],
      checks: [meets(`memory grown over ${total} texts, MiB, under 20`, grown < 20, grown)],
    };
  } finally {
    await ours.close();
  }
}

const RUNS = { embedding, query, rerank, memory };
const run = ({ name }, options) => RUNS[name](options);

export const suite = {
  name: 'models',
  title: 'embedding beside the bare runtime and transformers.js, reranking, memory',
  cases,
  run,
};
