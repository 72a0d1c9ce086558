import { describe, expect, it } from 'vitest';
import { fitLogistic, fitStandardised } from '../../src/evaluation/fit-logistic.js';

/** Deterministic uniform numbers (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

describe('fitLogistic', () => {
  it('finds the weights that made the labels', () => {
    const next = random(7);
    const rows = Array.from({ length: 20_000 }, () => [next() * 2 - 1, next() * 2 - 1]);
    const labels = rows.map(([a = 0, b = 0]) => Number(next() < 1 / (1 + Math.exp(-(0.5 + 2 * a - 3 * b)))));
    const [bias = 0, first = 0, second = 0] = fitLogistic(rows, labels, { l2: 1e-3 });
    expect(bias).toBeCloseTo(0.5, 0.9);
    expect(Math.abs(first - 2)).toBeLessThan(0.15);
    expect(Math.abs(second + 3)).toBeLessThan(0.15);
  });

  it('gives weights for features of any unit', () => {
    const next = random(8);
    const rows = Array.from({ length: 5_000 }, () => [next() * 1_000 + 500, next() * 0.01]);
    const labels = rows.map(([a = 0, b = 0]) =>
      Number(next() < 1 / (1 + Math.exp(-(0.004 * (a - 1_000) + 300 * (b - 0.005))))),
    );
    const [, first = 0, second = 0] = fitStandardised(rows, labels, { l2: 1 });
    expect(first).toBeGreaterThan(0.003);
    expect(first).toBeLessThan(0.005);
    expect(second).toBeGreaterThan(230);
    expect(second).toBeLessThan(370);
    expect(fitStandardised([[1], [1]], [0, 1], { l2: 1 }).every(Number.isFinite)).toBe(true);
  });

  it('stays finite where the classes are separable', () => {
    const weights = fitLogistic([[0], [1]], [0, 1], { l2: 0.1 });
    expect(weights.every(Number.isFinite)).toBe(true);
    expect(weights[1]).toBeGreaterThan(0);
  });
});
