import { mean, standardDeviation } from './describe-sample.js';
import { seededRandom } from './seeded-random.js';

/** Up to this many differences that are not 0, all sign patterns are counted (65,536); above, they are drawn. */
const EXACT_LIMIT = 16;
const DRAWS = 10_000;
/** Sums of the same numbers in another order differ by rounding. */
const EPSILON = 1e-9;

/**
 * Two-sided p-value of the paired sign-flip permutation test (Fisher 1935): how often a mean difference at least this large comes
 * about where each pair's order is a coin's. Drawn patterns count the observed one too (Phipson & Smyth 2010), so p is never 0.
 */
export function permutationTest(differences: readonly number[], seed = 1): number {
  const moved = differences.filter((difference) => difference !== 0);
  if (moved.length === 0) return 1;
  const observed = Math.abs(sum(moved)) - EPSILON;
  if (moved.length <= EXACT_LIMIT) {
    let extreme = 0;
    const patterns = 2 ** moved.length;
    for (let pattern = 0; pattern < patterns; pattern += 1) {
      let total = 0;
      moved.forEach((value, index) => {
        total += (pattern >> index) & 1 ? value : -value;
      });
      if (Math.abs(total) >= observed) extreme += 1;
    }
    return extreme / patterns;
  }
  const random = seededRandom(seed);
  let extreme = 1;
  for (let draw = 0; draw < DRAWS; draw += 1) {
    let total = 0;
    for (const value of moved) total += random() < 0.5 ? value : -value;
    if (Math.abs(total) >= observed) extreme += 1;
  }
  return extreme / (DRAWS + 1);
}

/** Two-sided 5% level and 80% power: z(0.975) + z(0.8). */
const POWER_FACTOR = 1.959964 + 0.841621;

/**
 * The smallest true mean difference that a paired test at the 5% level would find in 80 of 100 sets like this one, by the normal
 * approximation. `spread` is the standard deviation of the paired differences.
 */
export function minimumDetectableDifference(spread: number, pairs: number): number {
  return pairs === 0 ? Number.POSITIVE_INFINITY : (POWER_FACTOR * spread) / Math.sqrt(pairs);
}

/**
 * A bound on the spread of paired differences where no second run is at hand: that of two independent runs, √2 times the values'.
 * Real pairs agree on most queries, so the set can do better than this says.
 */
export function spreadWithoutPairs(values: readonly number[]): number {
  return Math.SQRT2 * standardDeviation(values);
}

/** Holm's step-down adjustment (1979): p-values that keep the chance of any false alarm at their level. In the order given. */
export function adjustByHolm(pValues: readonly number[]): readonly number[] {
  const order = pValues.map((p, index) => ({ p, index })).sort((a, b) => a.p - b.p);
  const adjusted = new Array<number>(pValues.length).fill(1);
  let running = 0;
  order.forEach(({ p, index }, rank) => {
    running = Math.max(running, Math.min(1, p * (pValues.length - rank)));
    adjusted[index] = running;
  });
  return adjusted;
}

function sum(values: readonly number[]): number {
  return mean(values) * values.length;
}
