// Vectors of the index suite: `[n, dimensions]` float32, unit length, row-major; seeded, so that every run sees the same.
import { seededRandom } from '../../dist/evaluation/statistics/seeded-random.js';
import { realVectors } from './real-vectors.mjs';

export const DIMENSIONS = 384;
/** As in the figures that the targets come from. */
const CLUSTERS = 2_000;
/** A row's noise against its centre's length of 1 a dimension: neighbours of a row are its cluster, as with embeddings. */
const NOISE = 0.7;
const OUTLIERS = [7, 101, 233];

/** Row `i` of a matrix as a view. */
export const rowOf = (matrix, i) => matrix.subarray(i * DIMENSIONS, (i + 1) * DIMENSIONS);

/** Standard normal numbers, two a pair of uniforms (Marsaglia's polar method). */
function normalFrom(random) {
  let spare = Number.NaN;
  return () => {
    if (!Number.isNaN(spare)) {
      const value = spare;
      spare = Number.NaN;
      return value;
    }
    for (;;) {
      const a = 2 * random() - 1;
      const b = 2 * random() - 1;
      const square = a * a + b * b;
      if (square >= 1 || square === 0) continue;
      const scale = Math.sqrt((-2 * Math.log(square)) / square);
      spare = b * scale;
      return a * scale;
    }
  };
}

/**
 * `clustered`, or `hard`: with a shared mean, axes of power-law scale and three outlier dimensions, which real embeddings have
 * and which narrow codes lose their recall on.
 */
function synthetic({ n, queries, seed, hard }) {
  const clusters = Math.min(CLUSTERS, Math.max(1, Math.floor(n / 10)));
  const random = seededRandom(seed);
  const normal = normalFrom(random);
  const mean = new Float64Array(DIMENSIONS);
  const scale = new Float64Array(DIMENSIONS).fill(1);
  if (hard) {
    for (let d = 0; d < DIMENSIONS; d += 1) {
      scale[d] = (1 + d) ** -0.35;
      mean[d] = 0.5 * scale[d] * normal();
    }
    for (const d of OUTLIERS) {
      mean[d] = 3;
      scale[d] *= 4;
    }
  }
  const centres = Float32Array.from({ length: clusters * DIMENSIONS }, normal);
  // Drawn once and read from a random place on: 384 million fresh ones at a million rows would take a minute.
  const noise = Float32Array.from({ length: 2 ** 20 + DIMENSIONS }, () => NOISE * normal());
  const fill = (count) => {
    const matrix = new Float32Array(count * DIMENSIONS);
    const clusterOf = new Uint32Array(count);
    for (let row = 0; row < count; row += 1) {
      const cluster = Math.floor(random() * clusters);
      clusterOf[row] = cluster;
      const from = Math.floor(random() * 2 ** 20);
      const sign = random() < 0.5 ? -1 : 1;
      const at = row * DIMENSIONS;
      let squares = 0;
      for (let d = 0; d < DIMENSIONS; d += 1) {
        const value = mean[d] + scale[d] * (centres[cluster * DIMENSIONS + d] + sign * noise[from + d]);
        matrix[at + d] = value;
        squares += value * value;
      }
      const factor = 1 / Math.sqrt(squares);
      for (let d = 0; d < DIMENSIONS; d += 1) matrix[at + d] *= factor;
    }
    return { matrix, clusterOf };
  };
  const rows = fill(n);
  return { rows: rows.matrix, clusterOf: rows.clusterOf, queries: fill(queries).matrix };
}

/**
 * `{ n, rows, queries, queryCount, sideOf }`, or `{ missing }` with the reason. `sideOf(vector)` is the side of seven fixed random
 * hyperplanes that a vector lies on, as 7 bits: rows of one side are near each other, those of the complement far.
 */
export async function loadData(kind, { n, queries: queryCount, log }) {
  const made =
    kind === 'real'
      ? await realVectors({ n, queries: queryCount, log })
      : synthetic({ n, queries: queryCount, seed: 42, hard: kind === 'hard' });
  if (made.missing !== undefined) return made;
  const normal = normalFrom(seededRandom(7));
  const planes = Float64Array.from({ length: 7 * DIMENSIONS }, normal);
  const offsets = planeOffsets(planes, made.rows);
  const sideOf = (vector) => {
    let side = 0;
    for (let plane = 0; plane < 7; plane += 1) {
      if (dot(planes.subarray(plane * DIMENSIONS), vector) > offsets[plane]) side |= 1 << plane;
    }
    return side;
  };
  return { n: made.rows.length / DIMENSIONS, rows: made.rows, queries: made.queries, queryCount, sideOf };
}

function dot(a, b) {
  let sum = 0;
  for (let d = 0; d < DIMENSIONS; d += 1) sum += a[d] * b[d];
  return sum;
}

/** Medians over a thousand rows, so that every plane halves the rows even where they share a mean. */
function planeOffsets(planes, rows) {
  const n = rows.length / DIMENSIONS;
  const step = Math.max(1, Math.floor(n / 1_000));
  return Array.from({ length: 7 }, (_, plane) => {
    const values = [];
    for (let row = 0; row < n; row += step)
      values.push(dot(planes.subarray(plane * DIMENSIONS), rowOf(rows, row)));
    values.sort((a, b) => a - b);
    return values[Math.floor(values.length / 2)];
  });
}

/** The `k` best rows by a plain double-precision loop: what every engine's exact answer is checked against. */
export function naiveBest({ rows, n }, query, k, allows = () => true) {
  const best = [];
  for (let row = 0; row < n; row += 1) {
    if (!allows(row)) continue;
    const score = dot(rowOf(rows, row), query);
    if (best.length === k && score <= best[k - 1].score) continue;
    best.push({ row, score });
    best.sort((a, b) => b.score - a.score || a.row - b.row);
    if (best.length > k) best.pop();
  }
  return best.map(({ row }) => row);
}
