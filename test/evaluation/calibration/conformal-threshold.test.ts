import { describe, expect, it } from 'vitest';
import {
  conformalThreshold,
  nextAbove,
  queriesNeeded,
} from '../../../src/evaluation/calibration/conformal-threshold.js';
import { seededRandom } from '../../../src/evaluation/statistics/seeded-random.js';

describe('conformalThreshold', () => {
  it('passes as many as (passed + 1) / (n + 1) ≤ alpha allows, and no more', () => {
    const scores = Array.from({ length: 59 }, (_, index) => index / 100);
    expect(conformalThreshold(scores, 0.05)).toEqual({ value: nextAbove(0.56), queries: 59, passed: 2 });
    expect(conformalThreshold(scores.slice(0, 19), 0.05)).toMatchObject({
      value: nextAbove(0.18),
      passed: 0,
    });
  });

  it('counts ties on the safe side', () => {
    const scores = [...new Array<number>(10).fill(0.7), ...new Array<number>(49).fill(0.1)];
    expect(conformalThreshold(scores, 0.05)).toMatchObject({ value: nextAbove(0.7), passed: 0 });
  });

  it('lets everything in where fewer had candidates than may pass, and survives JSON', () => {
    const scores = [0.9, ...new Array<number>(58).fill(Number.NEGATIVE_INFINITY)];
    const threshold = conformalThreshold(scores, 0.05);
    expect(threshold.passed).toBe(1);
    expect(JSON.parse(JSON.stringify(threshold))).toEqual(threshold);
  });

  it.each([
    [0.05, 19],
    [0.1, 9],
    [0.5, 1],
    [0.01, 99],
    [0.3, 3],
  ])('needs, for alpha %f, %i queries and refuses fewer', (alpha, needed) => {
    expect(queriesNeeded(alpha)).toBe(needed);
    expect(() => conformalThreshold(new Array(needed - 1).fill(0), alpha)).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT' }),
    );
    expect(conformalThreshold(new Array(needed).fill(0), alpha).passed).toBe(0);
  });

  // The promise itself, where for a new query the exact chance to pass is known.
  it.each([
    [19, 0.05],
    [41, 0.05],
    [100, 0.05],
    [50, 0.2],
  ])('keeps its promise with %i queries at alpha %f over 4,000 calibrations', (n, alpha) => {
    const random = seededRandom(n);
    let risk = 0;
    const rounds = 4_000;
    for (let round = 0; round < rounds; round += 1) {
      // score = u³: P(score ≥ t) = 1 − ∛t.
      const scores = Array.from({ length: n }, () => random() ** 3);
      const { value } = conformalThreshold(scores, alpha);
      risk += Math.max(0, 1 - Math.cbrt(value));
    }
    const mean = risk / rounds;
    // Three standard errors of the mean; and not needlessly careful: within 1 / (n + 1) of alpha.
    expect(mean).toBeLessThanOrEqual(alpha + (3 * alpha) / Math.sqrt(rounds));
    expect(mean).toBeGreaterThan(alpha - 1 / (n + 1) - (3 * alpha) / Math.sqrt(rounds));
  });
});

describe('nextAbove', () => {
  it.each([0.5, -0.5, 0, 1e-300, -1e-300, 12_345.678])('is above %f with nothing between', (value) => {
    const above = nextAbove(value);
    expect(above).toBeGreaterThan(value);
    const middle = value + (above - value) / 2;
    expect(middle === value || middle === above).toBe(true);
  });
});
