import { solve } from './fit-logistic.js';

/** One query's candidates: `rows` [candidates][features], at least one of them chosen. */
export interface Choice {
  readonly rows: readonly (readonly number[])[];
  readonly chosen: readonly boolean[];
}

const MAX_ITERATIONS = 50;
const TOLERANCE = 1e-9;

/**
 * Conditional logistic regression (McFadden 1974): weights under which the chosen candidates of each query are the likely ones among
 * its own candidates, so that how easy a query is does not matter. Several chosen ones share their query's weight. Features are scaled to
 * deviation 1 for the L2 penalty; weights are given back for the features as they were. Newton's method; deterministic.
 */
export function fitConditional(
  choices: readonly Choice[],
  options: { readonly l2: number },
): readonly number[] {
  const size = choices[0]?.rows[0]?.length ?? 0;
  const scale = deviations(
    choices.flatMap(({ rows }) => rows),
    size,
  );
  const scaled = choices.map(({ rows, chosen }) => ({
    rows: rows.map((row) => row.map((value, i) => value / (scale[i] ?? 1))),
    chosen,
  }));
  const lossOf = (weights: readonly number[]): number =>
    scaled.reduce((sum, choice) => sum + lossOfChoice(choice, weights), 0) +
    (options.l2 / 2) * weights.reduce((sum, weight) => sum + weight * weight, 0);
  let weights: readonly number[] = new Array<number>(size).fill(0);
  let loss = lossOf(weights);
  for (let iteration = 0; iteration < MAX_ITERATIONS; iteration += 1) {
    const gradient = weights.map((weight) => options.l2 * weight);
    const hessian = weights.map((_, i) => weights.map((__, j) => (i === j ? options.l2 : 0)));
    for (const choice of scaled) addChoice(choice, weights, gradient, hessian);
    const step = solve(hessian, gradient);
    // Newton's step can overshoot where the odds are steep; half of it, a quarter, … is always downhill.
    let share = 1;
    let next = weights;
    let nextLoss = loss;
    do {
      next = weights.map((weight, i) => weight - share * (step[i] ?? 0));
      nextLoss = lossOf(next);
      share /= 2;
    } while (nextLoss > loss && share > 1e-6);
    const gain = loss - nextLoss;
    if (gain > 0) [weights, loss] = [next, nextLoss];
    if (gain < TOLERANCE) break;
  }
  return weights.map((weight, i) => weight / (scale[i] ?? 1));
}

function logitsOf({ rows }: Choice, weights: readonly number[]): readonly number[] {
  return rows.map((row) => row.reduce((sum, value, i) => sum + value * (weights[i] ?? 0), 0));
}

function lossOfChoice(choice: Choice, weights: readonly number[]): number {
  const logits = logitsOf(choice, weights);
  const top = Math.max(...logits);
  const total = top + Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - top), 0));
  const chosen = logits.filter((_, k) => choice.chosen[k]);
  return chosen.reduce((sum, logit) => sum + total - logit, 0) / chosen.length;
}

function addChoice(
  { rows, chosen }: Choice,
  weights: readonly number[],
  gradient: number[],
  hessian: number[][],
): void {
  const logits = logitsOf({ rows, chosen }, weights);
  const top = Math.max(...logits);
  const odds = logits.map((logit) => Math.exp(logit - top));
  const total = odds.reduce((sum, value) => sum + value, 0);
  const share = 1 / chosen.filter(Boolean).length;
  const mean = weights.map((_, i) =>
    rows.reduce((sum, row, k) => sum + ((odds[k] ?? 0) / total) * (row[i] ?? 0), 0),
  );
  rows.forEach((row, k) => {
    const p = (odds[k] ?? 0) / total;
    const centred = row.map((value, i) => value - (mean[i] ?? 0));
    row.forEach((value, i) => {
      gradient[i] = (gradient[i] ?? 0) + (p - (chosen[k] ? share : 0)) * value;
      const line = hessian[i] ?? [];
      centred.forEach((other, j) => {
        line[j] = (line[j] ?? 0) + p * (centred[i] ?? 0) * other;
      });
    });
  });
}

function deviations(rows: readonly (readonly number[])[], size: number): readonly number[] {
  return Array.from({ length: size }, (_, i) => {
    const values = rows.map((row) => row[i] ?? 0);
    const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, values.length);
    return Math.sqrt(variance) || 1;
  });
}
