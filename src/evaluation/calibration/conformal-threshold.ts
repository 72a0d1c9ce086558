import type { ConformalThreshold } from '../../domain/calibration.js';
import { ErrataError } from '../../domain/errors.js';

/** Fewest queries without an answer with which `alpha` can be promised at all: 19 for 5%. */
export function queriesNeeded(alpha: number): number {
  return Math.ceil(1 / alpha - 1 - 1e-9);
}

/**
 * The lowest threshold with which the expected share of wrongly answered queries is at most `alpha` (conformal risk control,
 * Angelopoulos, Bates, Fisch, Lei & Schuster 2022): where `passed` of n calibration queries score at least the threshold,
 * (passed + 1) / (n + 1) ≤ alpha. Holds for every n and every distribution, on average over calibration sets, for new queries that come
 * as these came; the score must not have been fitted on them.
 *
 * `scores` are best scores of queries that no note answers, −∞ where there was no candidate. Errors: `INVALID_INPUT` for too few.
 */
export function conformalThreshold(scores: readonly number[], alpha: number): ConformalThreshold {
  const needed = queriesNeeded(alpha);
  if (scores.length < needed) {
    throw new ErrataError(
      'INVALID_INPUT',
      `Expected at least ${needed} queries without an answer for alpha ${alpha}, received ${scores.length}`,
      { details: { field: 'golden', needed, received: scores.length } },
    );
  }
  const sorted = [...scores].sort((a, b) => b - a);
  const allowed = Math.floor(alpha * (scores.length + 1) + 1e-9) - 1;
  const firstKeptOut = sorted[allowed] ?? Number.NEGATIVE_INFINITY;
  // Where fewer had candidates than may pass, any score may: the lowest finite number keeps JSON whole.
  const value = Number.isFinite(firstKeptOut) ? nextAbove(firstKeptOut) : -Number.MAX_VALUE;
  return { value, queries: scores.length, passed: sorted.filter((score) => score >= value).length };
}

/** The smallest double above a finite one: "at least" the result is "above" the argument. */
export function nextAbove(value: number): number {
  if (value === 0) return Number.MIN_VALUE;
  const bits = new BigInt64Array(1);
  const numbers = new Float64Array(bits.buffer);
  numbers[0] = value;
  bits[0] = (bits[0] ?? 0n) + (value > 0 ? 1n : -1n);
  return numbers[0] ?? value;
}
