import { describe, expect, it } from 'vitest';
import { mcnemarExact } from '../../../src/evaluation/statistics/mcnemar.js';
import {
  adjustByHolm,
  minimumDetectableDifference,
  permutationTest,
} from '../../../src/evaluation/statistics/permutation-test.js';
import { seededRandom } from '../../../src/evaluation/statistics/seeded-random.js';

describe('permutationTest', () => {
  it('counts all sign patterns where there are few', () => {
    // 5 equal differences: only the two patterns of one sign are as extreme.
    expect(permutationTest([1, 1, 1, 1, 1])).toBe(2 / 32);
    expect(permutationTest([1, 1, -1, 0])).toBe(1);
    expect(permutationTest([0, 0])).toBe(1);
    expect(permutationTest([])).toBe(1);
  });

  it('holds its level where nothing differs and finds what does, with drawn patterns', () => {
    const random = seededRandom(5);
    let alarms = 0;
    for (let trial = 0; trial < 60; trial += 1) {
      const differences = Array.from({ length: 40 }, () => random() - 0.5);
      alarms += Number(permutationTest(differences, trial) < 0.05);
    }
    expect(alarms).toBeLessThanOrEqual(8);
    expect(permutationTest(Array.from({ length: 40 }, () => random() - 0.1))).toBeLessThan(0.001);
  });
});

describe('minimumDetectableDifference', () => {
  it('is found in about 80 of 100 sets', () => {
    const [pairs, spread] = [100, 0.5];
    const shift = minimumDetectableDifference(spread, pairs);
    expect(shift).toBeCloseTo(0.14, 3);
    const random = seededRandom(8);
    const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    let found = 0;
    for (let trial = 0; trial < 100; trial += 1) {
      const differences = Array.from({ length: pairs }, () => shift + spread * normal());
      const mean = differences.reduce((sum, value) => sum + value, 0) / pairs;
      const deviation = Math.sqrt(differences.reduce((sum, value) => sum + (value - mean) ** 2, 0) / pairs);
      found += Number(Math.abs(mean) / (deviation / Math.sqrt(pairs)) > 1.96);
    }
    expect(found).toBeGreaterThan(68);
    expect(found).toBeLessThan(92);
  });
});

describe('mcnemarExact', () => {
  it('agrees with binomial tails by hand', () => {
    expect(mcnemarExact(0, 5)).toBeCloseTo(2 / 32, 12);
    expect(mcnemarExact(1, 9)).toBeCloseTo((2 * 11) / 1024, 12);
    expect(mcnemarExact(4, 4)).toBe(1);
    expect(mcnemarExact(0, 0)).toBe(1);
    expect(mcnemarExact(400, 600)).toBeLessThan(1e-9);
  });
});

describe('adjustByHolm', () => {
  it('multiplies the smallest most and never reverses an order', () => {
    expect(adjustByHolm([0.01, 0.04, 0.03])).toEqual([0.03, 0.06, 0.06]);
    expect(adjustByHolm([0.9])).toEqual([0.9]);
  });
});
