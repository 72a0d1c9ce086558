// Embedding against the bare runtime and transformers.js on the same file, tokenizing, one query, reranking, and memory over many texts.
import { median } from '../../dist/evaluation/statistics/describe-sample.js';
import { lessonOf } from '../fixtures/lessons.mjs';
import { figure, latencyMetric, residentMiB } from '../harness/measure.mjs';
import { promised } from '../harness/promises.mjs';
import {
  mixedTexts,
  openBare,
  openErrata,
  openTokenizer,
  openTransformers,
  tokenize,
} from '../models/contestants.mjs';
import { meets, ratios, seconds, total } from '../models/ratio.mjs';
import { crossEncoder, lateInteraction } from '../models/rerank-cases.mjs';

const THREADS = 2;
const RIVAL_BATCH = 32;

const cases = () => Object.keys(RUNS).map((name) => ({ name }));

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
      checks.push(promised(meets(`Errata at least ${least} × ${name}`, median(all) >= least, median(all))));
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

async function tokenizing({ quick }) {
  const rounds = quick ? 3 : 10;
  const texts = mixedTexts(quick ? 150 : 1_000, lessonOf);
  const size = texts.length / rounds;
  const tokenizer = await openTokenizer();
  const ours = await openErrata(THREADS);
  try {
    const times = { tokenize: [], embed: [] };
    for (const text of texts.slice(0, 20)) await tokenizer.encode(text);
    await ours.embed(texts.slice(0, 20), { kind: 'passage' });
    for (let round = 0; round < rounds; round += 1) {
      const part = texts.slice(round * size, (round + 1) * size);
      times.tokenize.push(
        await seconds(async () => {
          for (const text of part) await tokenizer.encode(text);
        }),
      );
      times.embed.push(await seconds(() => ours.embed(part, { kind: 'passage', priority: 'bulk' })));
    }
    const shares = ratios(times.tokenize, times.embed);
    return {
      setup: `${texts.length} texts of 5 to 200 tokens, ${rounds} rounds: token ids one text after the other, then the embedding of the same texts on ${THREADS} threads, which tokenizes them again`,
      metrics: [
        figure(
          'tokenizing',
          'texts/s',
          'higher',
          times.tokenize.map((time) => size / time),
        ),
        figure('tokenizing ÷ embedding', '×', 'lower', shares),
      ],
      checks: [
        promised(meets('tokenizing at most 0.03 × the embedding', median(shares) <= 0.03, median(shares))),
      ],
    };
  } finally {
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
    return {
      setup: `${calls} new queries, one at a time, in turns with the bare run of the same token ids in a thread of its own`,
      metrics: [
        latencyMetric('one query, not cached', { times: times.ours, seconds: total(times.ours) }),
        latencyMetric('bare run', { times: times.bare, seconds: total(times.bare) }),
        figure('Errata ÷ bare run', '×', 'lower', ratio),
      ],
      checks: [promised(meets('one query within 1.1 × the bare run', ratio <= 1.1, ratio))],
    };
  } finally {
    await bare.close();
    await ours.close();
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

const RUNS = { embedding, tokenizing, query, rerank: lateInteraction, 'cross-encoder': crossEncoder, memory };
const run = ({ name }, options) => RUNS[name](options);

export const suite = {
  name: 'models',
  title: 'embedding beside the bare runtime and transformers.js, reranking, memory',
  cases,
  run,
};
