import type { Share } from '../../domain/wilson.js';
import type { RateComparison } from './compare-answers.js';

export const VERDICTS = {
  better: 'Better with lessons',
  worse: 'WORSE with lessons',
  same: 'No difference beyond chance',
} as const;

export function shareText({ count, total, rate }: Share): string {
  return total === 0 ? '-' : `${count}/${total} ${(100 * rate).toFixed(1)}%`;
}

export function differenceText({ difference: { estimate, low, high }, before }: RateComparison): string {
  return before.total === 0
    ? '-'
    : `${signedPoints(estimate)} (${signedPoints(low)} to ${signedPoints(high)})`;
}

/** Percentage points. */
export function points(share: number): string {
  return Number.isFinite(share) ? (100 * share).toFixed(1) : '-';
}

function signedPoints(share: number): string {
  return `${share < 0 ? '−' : '+'}${(100 * Math.abs(share)).toFixed(1)}`;
}
