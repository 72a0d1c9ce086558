import { describe, expect, it } from 'vitest';
import { fuseByReciprocalRank } from '../../src/retrieval/reciprocal-rank-fusion.js';

describe('fuseByReciprocalRank', () => {
  it('puts what both lists hold before what only one holds', () => {
    const fused = fuseByReciprocalRank([
      { ids: ['a', 'b', 'c'], weight: 1 },
      { ids: ['d', 'b'], weight: 1 },
    ]);
    expect(fused.map((candidate) => candidate.id)).toEqual(['b', 'a', 'd', 'c']);
    expect(fused[0]?.score).toBeCloseTo(2 / 62, 12);
    expect(fused[0]?.ranks).toEqual([2, 2]);
    expect(fused[1]?.ranks).toEqual([1, undefined]);
  });

  it('weighs lists', () => {
    const fused = fuseByReciprocalRank([
      { ids: ['a'], weight: 1 },
      { ids: ['b'], weight: 1.5 },
    ]);
    expect(fused.map((candidate) => candidate.id)).toEqual(['b', 'a']);
  });

  it('breaks ties by id and gives nothing for nothing', () => {
    const lists = [
      { ids: ['z'], weight: 1 },
      { ids: ['a'], weight: 1 },
    ];
    expect(fuseByReciprocalRank(lists).map((candidate) => candidate.id)).toEqual(['a', 'z']);
    expect(fuseByReciprocalRank([])).toEqual([]);
  });
});
