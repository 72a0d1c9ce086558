import { afterEach, describe, expect, it } from 'vitest';
import { createNativeVectorIndex } from '../../src/adapters/native/native-vector-index.js';
import type { Caller } from '../../src/domain/api-key.js';
import { ErrataError } from '../../src/domain/errors.js';
import type { Retrieval } from '../../src/domain/retrieval.js';
import { seededRandom } from '../../src/evaluation/statistics/seeded-random.js';
import type { AnsweredRetrieval, FailedRetrieval, RetrievalWatcher } from '../../src/ports/telemetry.js';
import type { RetrievalQueries } from '../../src/ports/use-cases.js';
import { watchRetrieval } from '../../src/retrieval/watch-retrieval.js';

const DIMENSIONS = 64;
const NOTES = 3_000;
/** So many, and so long, that the planner takes the graph where its beam is narrow. */
const LARGE = { notes: 16_000, dimensions: 128 };
const caller: Caller = { name: 'x', roles: ['reader'] };
const random = seededRandom(11);

function unit(dimensions = DIMENSIONS): Float32Array {
  const vector = Float32Array.from({ length: dimensions }, () => random() + random() - 1);
  const norm = Math.hypot(...vector);
  return vector.map((value) => value / norm);
}

const answerOf = (exhaustive: boolean): Retrieval => ({
  id: 'r',
  namespace: 'n',
  notes: [],
  candidates: [],
  abstained: true,
  threshold: 0,
  scoreScale: 'cosine',
  degraded: [],
  plan: 'graph',
  exhaustive,
  indexRevision: '1',
  embeddingModel: 'm',
  truncated: false,
  stages: [],
  createdAt: '2026-01-01T00:00:00.000Z',
});

function recorder() {
  const answers: AnsweredRetrieval[] = [];
  const failures: FailedRetrieval[] = [];
  const recalls: number[] = [];
  const waiting: (() => void)[] = [];
  const watcher: RetrievalWatcher = {
    answered: (answer) => void answers.push(answer),
    failed: (failure) => void failures.push(failure),
    liveRecall(recall) {
      recalls.push(recall);
      waiting.shift()?.();
    },
  };
  const nextRecall = () => new Promise<void>((resolve) => waiting.push(resolve));
  return { answers, failures, recalls, watcher, nextRecall };
}

const queriesOf = (retrieve: RetrievalQueries['retrieve']): RetrievalQueries => ({
  retrieve,
  buildPrompt: async (asker, request) => ({
    prompt: '',
    context: '',
    contextTokens: 0,
    included: [],
    omitted: [],
    retrieval: await retrieve(asker, request.retrieve),
  }),
  receipt: async () => undefined,
});

let close: (() => Promise<void>) | undefined;
afterEach(async () => {
  await close?.();
  close = undefined;
});

/** Embeds every text as the next random vector. */
async function partsOf(efSearch: number, { notes, dimensions } = { notes: NOTES, dimensions: DIMENSIONS }) {
  const index = createNativeVectorIndex({ dimensions, graphThreshold: 100, efSearch });
  close = () => index.close();
  await index.upsert(
    Array.from({ length: notes }, (_, at) => ({
      id: at.toString(16).padStart(64, '0'),
      namespace: 'n',
      taskType: 't',
      attributes: {},
      version: 1,
      vectors: { lesson: unit(dimensions) },
    })),
  );
  await index.settle();
  const embedder = {
    embed: async () => [{ vector: unit(dimensions), tokens: 1, truncated: false }],
  };
  const parts = { embedder, vectorIndex: index };
  return { ...parts, serving: () => parts };
}

describe('watchRetrieval', () => {
  it('tells every answer, of prompts too, and every failure, which still fails', async () => {
    const { answers, failures, watcher } = recorder();
    let fail = false;
    const watched = watchRetrieval(
      queriesOf(async () => {
        if (fail) throw new ErrataError('QUEUE_FULL', 'Expected room, received none');
        return answerOf(true);
      }),
      { serving: (await partsOf(64)).serving, watchers: [watcher], recallShare: 0 },
    );
    await watched.retrieve(caller, { query: 'a', taskType: 't' });
    await watched.buildPrompt(caller, { retrieve: { query: 'b' }, baseInstructions: '', item: 'i' });
    fail = true;
    await expect(watched.retrieve(caller, { query: 'c' })).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    expect(answers.map(({ taskType }) => taskType)).toEqual(['t', undefined]);
    expect(answers[0]?.tookMs).toBeGreaterThanOrEqual(0);
    expect(Math.abs((answers[0]?.startedMs ?? 0) - Date.now())).toBeLessThan(60_000);
    expect(failures.map(({ code }) => code)).toEqual(['QUEUE_FULL']);
  });

  it('measures what the index found of what an exact search finds', async () => {
    const { recalls, watcher, nextRecall } = recorder();
    const { embedder, vectorIndex } = await partsOf(64);
    // An index that misses every fourth of the best.
    const search: typeof vectorIndex.search = async (query) => {
      const answer = await vectorIndex.search({ ...query, exact: true });
      if (query.exact === true) return answer;
      return { ...answer, exhaustive: false, hits: answer.hits.filter((_, at) => at % 4 !== 3) };
    };
    const watched = watchRetrieval(
      queriesOf(async () => answerOf(false)),
      { serving: () => ({ embedder, vectorIndex: { search } }), watchers: [watcher], recallShare: 1 },
    );
    for (let at = 0; at < 5; at += 1) {
      const told = nextRecall();
      await watched.retrieve(caller, { query: `q${at}`, namespace: 'n', taskType: 't' });
      await told;
    }
    expect(recalls).toEqual([0.75, 0.75, 0.75, 0.75, 0.75]);
    const exact = await vectorIndex.search({ namespace: 'n', vector: unit(), k: 20, exact: true });
    expect(exact.exhaustive).toBe(true);
    expect(exact.hits).toHaveLength(20);
  });

  it('falls with the beam of the graph: a narrow one finds less of the exact best', {
    timeout: 120_000,
  }, async () => {
    const { embedder, vectorIndex } = await partsOf(64, LARGE);
    const meanRecall = async (efSearch: number) => {
      const { recalls, watcher, nextRecall } = recorder();
      const plans: string[] = [];
      const search: typeof vectorIndex.search = async (query) => {
        const answer = await vectorIndex.search({ ...query, efSearch });
        plans.push(answer.plan);
        return answer;
      };
      const watched = watchRetrieval(
        queriesOf(async () => answerOf(false)),
        { serving: () => ({ embedder, vectorIndex: { search } }), watchers: [watcher], recallShare: 1 },
      );
      for (let at = 0; at < 30; at += 1) {
        const told = nextRecall();
        await watched.retrieve(caller, { query: `q${at}`, namespace: 'n', taskType: 't' });
        await told;
      }
      return { plans, recall: recalls.reduce((sum, recall) => sum + recall, 0) / recalls.length };
    };
    const narrow = await meanRecall(4);
    const wide = await meanRecall(512);
    expect(narrow.plans).toContain('graph');
    expect(wide.recall).toBeGreaterThan(0.9);
    expect(narrow.recall).toBeGreaterThan(0.1);
    expect(narrow.recall).toBeLessThan(wide.recall - 0.05);
  });

  it('counts an exhaustive search as whole, and samples no more than its share', async () => {
    const { recalls, watcher } = recorder();
    const draws = seededRandom(3);
    const watched = watchRetrieval(
      queriesOf(async () => answerOf(true)),
      { serving: (await partsOf(64)).serving, watchers: [watcher], recallShare: 0.1, random: draws },
    );
    for (let at = 0; at < 1_000; at += 1) await watched.retrieve(caller, { query: 'q' });
    expect(new Set(recalls)).toEqual(new Set([1]));
    expect(recalls.length).toBeGreaterThan(60);
    expect(recalls.length).toBeLessThan(140);
  });
});
