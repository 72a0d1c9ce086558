import { describe, expect, it } from 'vitest';
import { bootstrapInterval, bootstrapRatio } from '../../../src/evaluation/statistics/bootstrap.js';
import { mean, median, quantile } from '../../../src/evaluation/statistics/describe-sample.js';
import { seededRandom } from '../../../src/evaluation/statistics/seeded-random.js';

describe('bootstrapInterval', () => {
  it('agrees with the normal approximation on a mean, and is the same for the same seed', () => {
    const random = seededRandom(3);
    const values = Array.from({ length: 400 }, () => random() * 2);
    const { estimate, low, high } = bootstrapInterval(values, { seed: 9 });
    // Uniform on [0, 2]: sd 0.5774, standard error 0.0289.
    expect(estimate).toBe(mean(values));
    expect(estimate - low).toBeCloseTo(1.96 * 0.0289, 1.9);
    expect(high - estimate).toBeCloseTo(1.96 * 0.0289, 1.9);
    expect(bootstrapInterval(values, { seed: 9 })).toEqual({ estimate, low, high });
  });

  it('covers the truth in about 95 of 100 samples', () => {
    const random = seededRandom(11);
    let covered = 0;
    for (let trial = 0; trial < 300; trial += 1) {
      const values = Array.from({ length: 60 }, () => Number(random() < 0.3));
      const { low, high } = bootstrapInterval(values, { resamples: 400, seed: trial });
      covered += Number(low <= 0.3 && 0.3 <= high);
    }
    expect(covered / 300).toBeGreaterThan(0.9);
    expect(covered / 300).toBeLessThan(0.99);
  });

  it('has no interval over nothing and a point over constants', () => {
    expect(bootstrapInterval([])).toEqual({ estimate: 0, low: 0, high: 0 });
    expect(bootstrapInterval([2, 2, 2])).toEqual({ estimate: 2, low: 2, high: 2 });
  });
});

describe('bootstrapRatio', () => {
  it('holds the ratio of medians', () => {
    const a = [10, 11, 12, 10, 11];
    const { estimate, low, high } = bootstrapRatio(
      a,
      a.map((value) => value * 2),
      median,
    );
    expect(estimate).toBe(2);
    expect(low).toBeGreaterThan(1.5);
    expect(high).toBeLessThan(2.5);
  });
});

describe('quantile', () => {
  it('interpolates between order statistics', () => {
    expect(quantile([1, 2, 3, 4], 0.5)).toBe(2.5);
    expect(quantile([1, 2, 3, 4], 1)).toBe(4);
    expect(quantile([], 0.5)).toBe(0);
    expect(median([3, 1, 2])).toBe(2);
  });
});
