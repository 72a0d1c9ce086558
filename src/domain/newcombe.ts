import { wilson } from './wilson.js';

export interface Difference {
  readonly difference: number;
  /** 95% interval. */
  readonly low: number;
  readonly high: number;
}

/**
 * Difference of two independent shares, a − b, with Newcombe's hybrid score interval (Newcombe, Statistics in Medicine 1998,
 * method 10): built from both Wilson intervals, so that it holds for few trials and for shares of 0 or 1. Without trials on
 * a side nothing is known: −1…1 at most.
 */
export function shareDifference(
  a: { readonly count: number; readonly total: number },
  b: { readonly count: number; readonly total: number },
): Difference {
  const [first, second] = [wilson(a.count, a.total), wilson(b.count, b.total)];
  if (a.total === 0 || b.total === 0) return { difference: 0, low: -1, high: 1 };
  const difference = first.rate - second.rate;
  return {
    difference,
    low: difference - Math.hypot(first.rate - first.low, second.high - second.rate),
    high: difference + Math.hypot(first.high - first.rate, second.rate - second.low),
  };
}
