import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ErrataError } from '../../src/domain/errors.js';
import type { ScoredNote } from '../../src/domain/retrieval.js';
import { logit } from '../../src/domain/scores.js';
import type { Reranker } from '../../src/ports/reranker.js';
import { type RerankInput, rerankCandidates } from '../../src/retrieval/rerank-candidates.js';
import { StageTimer } from '../../src/retrieval/stage-timer.js';

const candidates = Array.from({ length: 6 }, (_, at) => ({
  note: { id: `note-${at}`, lesson: `lesson ${at}` },
  score: 0.9 - at / 10,
})) as unknown as readonly ScoredNote[];

function input(request: object = {}): RerankInput {
  return {
    request: { query: 'q', namespace: 'n', risk: 'NORMAL', finalK: 3, ...request },
    candidates,
  } as unknown as RerankInput;
}

/** Logits by lesson number; `asked` collects what it was called with. */
function reranker(logits: readonly number[], asked: string[][] = []): Reranker {
  return {
    modelId: 'test@1',
    rerank: async (_, passages) => {
      asked.push([...passages]);
      return passages.map((passage) => logit(logits[Number(passage.at(-1))] ?? Number.NaN));
    },
    close: async () => undefined,
  };
}

const store = { notes: { getVectors: async () => new Map() } };
const run = (one: Reranker, request?: object) =>
  rerankCandidates({ store, reranker: one }, input(request), new StageTimer(), undefined);
const order = (notes: readonly ScoredNote[]) => notes.map(({ note }) => note.id.at(-1)).join('');

describe('rerankCandidates with a cross-encoder', () => {
  it('orders by logits on their own scale', async () => {
    const outcome = await run(reranker([-3, 2, 0, 5, -1, 1]));
    expect(order(outcome.candidates)).toBe('315240');
    expect(outcome.candidates.map(({ rerankScore }) => rerankScore)).toEqual([5, 2, 1, 0, -1, -3]);
    expect(outcome.ran).toEqual({ modelId: 'test@1', scale: 'logit', threshold: 0 });
  });

  it('stops early only where the answer is full of certain ones', async () => {
    const asked: string[][] = [];
    const outcome = await run(reranker([9.5, 11, 10, 20, 20, 20], asked));
    expect(asked).toEqual([['lesson 0', 'lesson 1', 'lesson 2']]);
    expect(order(outcome.candidates)).toBe('120345');
    expect(outcome.candidates[3]?.rerankScore).toBeUndefined();

    for (const [logits, request] of [
      [[9.5, 11, 9, 20, 20, 20], {}],
      [[9.5, 11, 10, 20, 20, 20], { threshold: 9.8 }],
      [[9.5, 11, 10, 9, 20, 20], { finalK: 4 }],
    ] as const) {
      const all: string[][] = [];
      expect((await run(reranker(logits, all), request)).candidates[0]?.rerankScore).toBe(20);
      expect(all.flat()).toHaveLength(6);
    }
  });

  it('asks a service for all passages at once, and stops nowhere early', async () => {
    const asked: string[][] = [];
    const outcome = await run({ ...reranker([9.5, 11, 10, 20, 20, 20], asked), inOneCall: true });
    expect(asked.map((passages) => passages.length)).toEqual([6]);
    expect(order(outcome.candidates)).toBe('345120');
  });

  it('spares none that would have ranked among certain ones below the mark, whatever the logits', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.double({ min: -12, max: 12, noNaN: true }), { minLength: 6, maxLength: 6 }),
        async (logits) => {
          const outcome = await run(reranker(logits));
          const all = logits
            .map((value, at) => ({ value, at }))
            .sort((a, b) => b.value - a.value || a.at - b.at);
          const stopped = logits.slice(0, 3).every((value) => value >= 9.21);
          // Exact wherever it did not stop; where it did, every note of the answer is certain by the model's own account.
          if (!stopped) expect(order(outcome.candidates)).toBe(all.map(({ at }) => at).join(''));
          else
            for (const { rerankScore } of outcome.candidates.slice(0, 3))
              expect(rerankScore).toBeGreaterThanOrEqual(9.21);
        },
      ),
    ));

  it('skips the reranker where the risk is LOW', async () => {
    const asked: string[][] = [];
    const outcome = await run(reranker([1, 2, 3, 4, 5, 6], asked), { risk: 'LOW' });
    expect(asked).toEqual([]);
    expect(order(outcome.candidates)).toBe('012345');
    expect(outcome.degraded).toEqual([]);
  });

  it.each<[string, Reranker['rerank']]>([
    ['TIMED_OUT', async () => Promise.reject(new ErrataError('TIMED_OUT', 'late'))],
    ['INTERNAL', async () => Promise.reject(new TypeError('bug'))],
    ['MODEL_UNAVAILABLE', async (_, passages) => passages.map(() => logit(Number.NaN))],
    ['MODEL_UNAVAILABLE', async () => []],
  ])('keeps the order and says %s where it fails', async (code, rerank) => {
    const outcome = await run({ ...reranker([]), rerank });
    expect(order(outcome.candidates)).toBe('012345');
    expect(outcome).toMatchObject({ degraded: [`rerank: ${code}`] });
    expect(outcome.ran).toBeUndefined();
  });

  it('passes a stop on', async () => {
    const rerank = async () => Promise.reject(new ErrataError('ABORTED', 'stop'));
    await expect(run({ ...reranker([]), rerank })).rejects.toMatchObject({ code: 'ABORTED' });
  });
});
