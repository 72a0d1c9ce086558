import { describe, expect, it } from 'vitest';
import {
  areaUnderCurve,
  computeMetrics,
  cutoffMetrics,
  injectedAtRecall,
} from '../../src/evaluation/metrics.js';

describe('computeMetrics', () => {
  it('counts by hand', () => {
    const metrics = computeMetrics([
      { ranking: ['x', 'a', 'y', 'z'], answered: ['x', 'a'], expected: new Map([['a', 3]]) },
      {
        ranking: ['b'],
        answered: [],
        expected: new Map([
          ['b', 1],
          ['c', 2],
        ]),
      },
      { ranking: ['q'], answered: [], expected: new Map() },
      { ranking: ['q'], answered: ['q'], expected: new Map() },
    ]);
    expect(metrics).toMatchObject({ queries: 4, answerable: 2, unanswerable: 2 });
    expect(metrics.recallAt3).toBeCloseTo((1 + 0.5) / 2, 12);
    expect(metrics.precisionAt3).toBeCloseTo(1 / 3, 12);
    expect(metrics.hitAt3).toBe(1);
    expect(metrics.hitAt1).toBe(0.5);
    expect(metrics.mrr).toBeCloseTo((0.5 + 1) / 2, 12);
    expect(metrics.map).toBeCloseTo((0.5 + 0.5) / 2, 12);
    const second = 1 / (2 + 1 / Math.log2(3));
    expect(metrics.ndcgAt10).toBeCloseTo((1 / Math.log2(3) + second) / 2, 12);
    expect(metrics).toMatchObject({
      answeredRight: 0.5,
      abstentionRate: 0.5,
      wrongAbstentionRate: 0.5,
      wronglyInjectedRate: 0.5,
      contextPrecision: 0.25,
      contextRecall: 0.5,
      noiseRate: 0.5,
    });
  });

  it('gives zeros, not NaN, for an empty class', () => {
    expect(Object.values(computeMetrics([])).every((value) => value === 0)).toBe(true);
  });
});

describe('cutoffMetrics', () => {
  const results = [
    {
      ranking: ['x', 'a', 'y', 'b'],
      answered: [],
      expected: new Map([
        ['a', 3],
        ['b', 1],
      ]),
    },
    { ranking: ['c'], answered: [], expected: new Map([['c', 2]]) },
    { ranking: ['q'], answered: ['q'], expected: new Map() },
  ];

  it('counts by hand, over answerable queries only', () => {
    expect(cutoffMetrics(results, 1)).toEqual({ k: 1, recall: 0.5, precision: 0.5, hit: 0.5, ndcg: 0.5 });
    const first = 3 / Math.log2(3) / (3 + 1 / Math.log2(3));
    const two = cutoffMetrics(results, 2);
    expect(two).toMatchObject({ k: 2, recall: 0.75, precision: 0.5, hit: 1 });
    expect(two.ndcg).toBeCloseTo((first + 1) / 2, 12);
    expect(cutoffMetrics(results, 20)).toMatchObject({ recall: 1, precision: (2 / 20 + 1 / 20) / 2, hit: 1 });
  });

  it('agrees with the fixed measures, and gives zeros where nothing is answerable', () => {
    const all = computeMetrics(results);
    expect(cutoffMetrics(results, 3).recall).toBe(all.recallAt3);
    expect(cutoffMetrics(results, 3).precision).toBe(all.precisionAt3);
    expect(cutoffMetrics(results, 10).ndcg).toBe(all.ndcgAt10);
    expect(cutoffMetrics([], 5)).toEqual({ k: 5, recall: 0, precision: 0, hit: 0, ndcg: 0 });
  });
});

describe('areaUnderCurve', () => {
  it('is 1 for separation, 0.5 for ties and for an empty class', () => {
    expect(areaUnderCurve([3, 4], [1, 2])).toBe(1);
    expect(areaUnderCurve([1, 1], [1])).toBe(0.5);
    expect(areaUnderCurve([], [1])).toBe(0.5);
    expect(areaUnderCurve([1, 3], [2])).toBe(0.5);
  });
});

describe('injectedAtRecall', () => {
  it('counts what passes the threshold that the recall needs', () => {
    expect(injectedAtRecall([5, 4, 3, 2, 1], [4.5, 2, 0.5, 0], 0.8)).toBe(0.5);
    expect(injectedAtRecall([5, 4, 3, 2, 1], [0.5, 0.9], 1)).toBe(0);
    expect(injectedAtRecall([], [1], 0.8)).toBe(0);
  });
});
