import type { EmbeddingEntry } from './manifest-schema.js';

export type Pooling = EmbeddingEntry['pooling'];

/** Added to the length before dividing, as the index does, so that a zero vector stays zero instead of NaN. */
const EPSILON = 1e-12;

/**
 * One text's vector from its token vectors: `[tokens, dimensions]` row-major float32, every row a real token (no
 * padding), to `[dimensions]`. Sums in double precision, in token order: the same input gives the same bits.
 */
export function poolTokens(
  hidden: Float32Array,
  tokens: number,
  dimensions: number,
  pooling: Pooling,
): Float32Array<ArrayBuffer> {
  if (pooling === 'cls') return hidden.slice(0, dimensions) as Float32Array<ArrayBuffer>;
  if (pooling === 'last')
    return hidden.slice((tokens - 1) * dimensions, tokens * dimensions) as Float32Array<ArrayBuffer>;
  const sums = new Float64Array(dimensions);
  for (let token = 0, at = 0; token < tokens; token += 1)
    for (let d = 0; d < dimensions; d += 1, at += 1) sums[d] = (sums[d] ?? 0) + (hidden[at] ?? 0);
  return Float32Array.from(sums, (sum) => sum / tokens);
}

/** Scales a vector in place to unit length, `v / (|v| + 1e-12)`. */
export function normaliseInPlace(vector: Float32Array): void {
  let squares = 0;
  for (const value of vector) squares += value * value;
  const scale = 1 / (Math.sqrt(squares) + EPSILON);
  for (let d = 0; d < vector.length; d += 1) vector[d] = (vector[d] ?? 0) * scale;
}

/** Scales every row of `[n, dimensions]` in place to unit length; a zero row stays zero. */
export function normaliseRows<T extends Float32Array>(rows: T, dimensions: number): T {
  for (let from = 0; from < rows.length; from += dimensions)
    normaliseInPlace(rows.subarray(from, from + dimensions));
  return rows;
}
