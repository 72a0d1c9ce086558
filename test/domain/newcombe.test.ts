import { describe, expect, it } from 'vitest';
import { shareDifference } from '../../src/domain/newcombe.js';

describe('shareDifference', () => {
  // Newcombe 1998, table II, method 10.
  it.each([
    [56, 70, 48, 80, 0.0524, 0.3339],
    [9, 10, 3, 10, 0.1705, 0.809],
    [10, 10, 0, 20, 0.6791, 1],
    [10, 10, 0, 10, 0.6075, 1],
  ])('gives the published interval for %d/%d − %d/%d', (a, m, b, n, low, high) => {
    const found = shareDifference({ count: a, total: m }, { count: b, total: n });
    expect(found.difference).toBeCloseTo(a / m - b / n, 12);
    expect(found.low).toBeCloseTo(low, 4);
    expect(found.high).toBeCloseTo(high, 4);
  });

  it('says nothing where a side has no trial', () => {
    expect(shareDifference({ count: 0, total: 0 }, { count: 3, total: 3 })).toEqual({
      difference: 0,
      low: -1,
      high: 1,
    });
  });
});
