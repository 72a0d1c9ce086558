import { describe, expect, it } from 'vitest';
import { fitConditional } from '../../src/evaluation/fit-conditional.js';
import { seededRandom } from '../../src/evaluation/statistics/seeded-random.js';

describe('fitConditional', () => {
  it('finds the weights that choices were drawn from', () => {
    const random = seededRandom(3);
    const truth = [2, -1];
    const choices = Array.from({ length: 3_000 }, () => {
      const rows = Array.from({ length: 4 }, () => [random() * 2, random() * 2]);
      const odds = rows.map((row) => Math.exp(row[0]! * truth[0]! + row[1]! * truth[1]!));
      let left = random() * odds.reduce((sum, one) => sum + one, 0);
      const chosen = odds.findIndex((one) => {
        left -= one;
        return left < 0;
      });
      return { rows, chosen: rows.map((_, index) => index === chosen) };
    });
    const weights = fitConditional(choices, { l2: 0.001 });
    truth.forEach((value, i) => {
      expect(Math.abs(weights[i]! - value)).toBeLessThan(0.15);
    });
  });

  it('ignores what all candidates of a query share', () => {
    const choices = [0, 50, -20].map((shift) => ({
      rows: [[1 + shift], [0 + shift]],
      chosen: [true, false],
    }));
    expect(fitConditional(choices, { l2: 1 })[0]).toBeGreaterThan(0);
  });

  it('stays finite where one feature decides every choice', () => {
    const choices = Array.from({ length: 100 }, () => ({
      rows: [[1_000], [0], [1]],
      chosen: [true, false, false],
    }));
    const [weight] = fitConditional(choices, { l2: 1 });
    expect(Number.isFinite(weight)).toBe(true);
    expect(weight).toBeGreaterThan(0);
  });

  it('shares a query among its chosen candidates', () => {
    const choices = [{ rows: [[1], [1], [0]], chosen: [true, true, false] }];
    expect(fitConditional(choices, { l2: 0.1 })[0]).toBeGreaterThan(0);
  });
});
