import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modelForTests } from '../models/installed-model.js';
import { ADMIN, openRealApp, type RealApp } from './real-app.js';

const model = await modelForTests();
const reranker = fileURLToPath(new URL('../fixtures/models/tiny-bert-reranker', import.meta.url));

describe.skipIf(model.missing !== undefined)('an app with a cross-encoder from a folder', () => {
  let real: RealApp;
  beforeAll(async () => {
    real = await openRealApp({ flags: { reranker } });
    await real.app.useCases.commands.submitMany(
      ADMIN,
      ['netty floods', 'unused test jars', 'bundled browsers', 'bounds checks of callers'].map((subject) => ({
        taskType: 'code-review',
        wrongAnswer: `Reported ${subject}.`,
        correction: `It does not apply: ${subject}.`,
        lesson: `Reports about ${subject} are to be checked against the delivered program first.`,
      })),
    );
  });
  afterAll(() => real.close());
  const retrieve = (rest = {}) =>
    real.app.useCases.retrieval.retrieve(ADMIN, { query: 'netty floods', taskType: 'code-review', ...rest });

  it('ranks by its logits and says so', async () => {
    const answer = await retrieve();
    expect(answer.rerankModel).toMatch(/^tiny-bert-reranker@[0-9a-f]{12}$/);
    expect(answer.scoreScale).toBe('logit');
    expect(answer.threshold).toBe(0);
    expect(answer.degraded).toEqual([]);
    const logits = answer.candidates.map(({ rerankScore }) => rerankScore ?? Number.NaN);
    expect(logits).toHaveLength(4);
    expect(logits).toEqual(logits.toSorted((a, b) => b - a));
    expect(new Set(logits).size).toBe(4);
  });

  it('is left out where the risk is LOW', async () => {
    const answer = await retrieve({ risk: 'LOW' });
    expect(answer.rerankModel).toBeUndefined();
    expect(answer.scoreScale).toBe('probability');
  });

  it('leaves the answer to late interaction where it fails, and the answer says so', async () => {
    await real.engines.reranker?.close();
    const answer = await retrieve();
    expect(answer.degraded).toEqual(['rerank: CLOSED']);
    expect(answer.rerankModel).toBe('late-interaction');
  });
});
