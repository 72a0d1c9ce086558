/** Weights of a logistic model: `bias` first, then one a feature. */
export type LogisticWeights = readonly number[];

const MAX_ITERATIONS = 100;
const TOLERANCE = 1e-10;

/**
 * Logistic regression by Newton's method with an L2 penalty on the features (not the bias).
 *
 * `rows` is [n][features], `labels` 0 or 1, `weights` one a row. Deterministic; a singular system cannot occur with
 * `l2 > 0`, and the bias' curvature is kept away from 0.
 */
export function fitLogistic(
  rows: readonly (readonly number[])[],
  labels: readonly number[],
  options: { readonly l2: number; readonly sampleWeights?: readonly number[] },
): LogisticWeights {
  const size = (rows[0]?.length ?? 0) + 1;
  let weights = new Array<number>(size).fill(0);
  for (let iteration = 0; iteration < MAX_ITERATIONS; iteration += 1) {
    const gradient = new Array<number>(size).fill(0);
    const hessian = Array.from({ length: size }, () => new Array<number>(size).fill(0));
    rows.forEach((row, index) => {
      const x = [1, ...row];
      const p = 1 / (1 + Math.exp(-dot(weights, x)));
      const weight = options.sampleWeights?.[index] ?? 1;
      const error = weight * (p - (labels[index] ?? 0));
      const curvature = weight * Math.max(p * (1 - p), 1e-9);
      x.forEach((value, i) => {
        gradient[i] = (gradient[i] ?? 0) + error * value;
        const hessianRow = hessian[i] ?? [];
        x.forEach((other, j) => {
          hessianRow[j] = (hessianRow[j] ?? 0) + curvature * value * other;
        });
      });
    });
    for (let i = 1; i < size; i += 1) {
      gradient[i] = (gradient[i] ?? 0) + options.l2 * (weights[i] ?? 0);
      const hessianRow = hessian[i] ?? [];
      hessianRow[i] = (hessianRow[i] ?? 0) + options.l2;
    }
    const step = solve(hessian, gradient);
    weights = weights.map((value, i) => value - (step[i] ?? 0));
    if (Math.max(...step.map(Math.abs)) < TOLERANCE) break;
  }
  return weights;
}

/**
 * The same on features scaled to mean 0 and deviation 1, so that the penalty is fair to features of any unit; the weights
 * are given back for the features as they were.
 */
export function fitStandardised(
  rows: readonly (readonly number[])[],
  labels: readonly number[],
  options: { readonly l2: number },
): LogisticWeights {
  const features = rows[0]?.length ?? 0;
  const mean = Array.from({ length: features }, (_, i) => average(rows.map((row) => row[i] ?? 0)));
  const deviation = mean.map(
    (centre, i) => Math.sqrt(average(rows.map((row) => ((row[i] ?? 0) - centre) ** 2))) || 1,
  );
  const scaled = rows.map((row) => row.map((value, i) => (value - (mean[i] ?? 0)) / (deviation[i] ?? 1)));
  const [bias = 0, ...fitted] = fitLogistic(scaled, labels, options);
  const weights = fitted.map((weight, i) => weight / (deviation[i] ?? 1));
  return [bias - dot(weights, mean), ...weights];
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
}

/** Gaussian elimination with partial pivoting. */
export function solve(matrix: readonly (readonly number[])[], vector: readonly number[]): readonly number[] {
  const rows = matrix.map((row, index) => [...row, vector[index] ?? 0]);
  const size = rows.length;
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0;
  for (let column = 0; column < size; column += 1) {
    let pivot = column;
    for (let row = column + 1; row < size; row += 1) {
      if (Math.abs(at(row, column)) > Math.abs(at(pivot, column))) pivot = row;
    }
    const pivotRow = rows[pivot] ?? [];
    rows[pivot] = rows[column] ?? [];
    rows[column] = pivotRow;
    for (let row = column + 1; row < size; row += 1) {
      const factor = at(row, column) / at(column, column);
      const target = rows[row] ?? [];
      for (let j = column; j <= size; j += 1) target[j] = (target[j] ?? 0) - factor * at(column, j);
    }
  }
  const solution = new Array<number>(size).fill(0);
  for (let row = size - 1; row >= 0; row -= 1) {
    let value = at(row, size);
    for (let j = row + 1; j < size; j += 1) value -= at(row, j) * (solution[j] ?? 0);
    solution[row] = value / at(row, row);
  }
  return solution;
}
