import { describe, expect, it } from 'vitest';
import { type CosineScore, cosine } from '../../src/domain/scores.js';
import type { LexicalHit } from '../../src/ports/lexical-index.js';
import { fuseScores } from '../../src/retrieval/score-fusion.js';

function fuse(cosines: Readonly<Record<string, number>>, lexical: readonly LexicalHit[], k = 20) {
  const known = new Map<string, CosineScore>(
    Object.entries(cosines).map(([id, value]) => [id, cosine(value)]),
  );
  const lexicalOnly = new Set(lexical.map(({ id }) => id));
  const vectorIds = [...known]
    .filter(([id]) => !(lexicalOnly.has(id) && id.startsWith('text')))
    .sort((a, b) => b[1] - a[1])
    .map(([id]) => id);
  return fuseScores({ vectorIds, lexical, cosines: known, k });
}

describe('fuseScores', () => {
  it('adds a tenth of the share of the best BM25 to the cosine', () => {
    const fused = fuse({ a: 0.5, b: 0.48, c: 0.3 }, [
      { id: 'b', score: 8 },
      { id: 'c', score: 4 },
    ]);
    expect(fused.map(({ id }) => id)).toEqual(['b', 'a', 'c']);
    expect(fused.map(({ score }) => score)).toEqual([
      expect.closeTo(0.58, 9),
      expect.closeTo(0.5, 9),
      expect.closeTo(0.35, 9),
    ]);
    expect(fused.map(({ vectorRank, lexicalRank }) => [vectorRank, lexicalRank])).toEqual([
      [2, 1],
      [1, undefined],
      [3, 2],
    ]);
  });

  it('keeps the best full-text hits among few candidates, however far their vectors are', () => {
    const cosines = { a: 0.9, b: 0.8, c: 0.7, d: 0.6, textX: 0.01, textY: 0 };
    const lexical = [
      { id: 'textX', score: 9 },
      { id: 'textY', score: 8 },
    ];
    expect(fuse(cosines, lexical, 4).map(({ id }) => id)).toEqual(['a', 'b', 'textX', 'textY']);
    expect(fuse(cosines, lexical, 2).map(({ id }) => id)).toEqual(['a', 'textX']);
    expect(fuse(cosines, lexical, 1).map(({ id }) => id)).toEqual(['a']);
  });

  it('ranks a note without a vector where the list of vectors ends', () => {
    const fused = fuse({ a: 0.9, b: 0.4, c: 0.35 }, [{ id: 'not embedded', score: 3 }]);
    expect(fused.map(({ id }) => id)).toEqual(['a', 'not embedded', 'b', 'c']);
  });

  it('breaks ties by id, takes text alone, and gives nothing for nothing', () => {
    expect(fuse({ z: 0.5, a: 0.5 }, []).map(({ id }) => id)).toEqual(['a', 'z']);
    expect(
      fuse({}, [
        { id: 'q', score: 2 },
        { id: 'p', score: 1 },
      ]).map(({ id }) => id),
    ).toEqual(['q', 'p']);
    expect(fuse({}, [])).toEqual([]);
  });
});
