import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

describe.skipIf(model.missing !== undefined)('an app with a screening model from a folder', () => {
  it('asks it about what the rules let pass, and refuses to start with an embedding model as one', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'errata-screen-'));
    const lessons = Array.from({ length: 4 }, (_, index) => `Case ${index * 7919} of the pool is ${index}`);
    const corrections = lessons.map((lesson, index) => ({
      ...{ taskType: `t${index}`, lesson },
      ...{ wrongAnswer: `Reported ${index}.`, correction: `It is ${lesson.length + index}.` },
    }));
    const seen: string[] = [];
    // The tiny model has learned nothing; whichever way its label reads, one of both takes everything for an attack.
    for (const label of ['attack', 'benign']) {
      const place = join(folder, label);
      cpSync(reranker, place, { recursive: true });
      const config = JSON.parse(readFileSync(join(place, 'config.json'), 'utf8'));
      writeFileSync(join(place, 'config.json'), JSON.stringify({ ...config, id2label: { 0: label } }));
      const real = await openRealApp({ flags: { 'screen-model': place } });
      const results = await real.app.useCases.commands.submitMany(ADMIN, corrections);
      const worst = await Promise.all(
        corrections.map(async ({ lesson, correction, wrongAnswer }) => {
          const texts = [lesson, correction, wrongAnswer, [lesson, correction, wrongAnswer].join(' ')];
          return Math.max(...(await real.engines.screenModel!.attackLogOdds(texts)));
        }),
      );
      const outcomes = results.map(({ outcome }) => outcome);
      expect(outcomes).toEqual(worst.map((odds) => (odds >= 0 ? 'QUARANTINED' : 'CREATED')));
      seen.push(...outcomes);
      await real.close();
    }
    expect([...new Set(seen)].sort()).toEqual(['CREATED', 'QUARANTINED']);
    rmSync(folder, { recursive: true, force: true });
    const cls = fileURLToPath(new URL('../fixtures/models/tiny-bert-cls', import.meta.url));
    await expect(openRealApp({ flags: { 'screen-model': cls } })).rejects.toMatchObject({
      code: 'UNKNOWN_MODEL',
    });
  });
});
