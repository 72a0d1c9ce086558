import { ErrataError } from '../domain/errors.js';
import type { EmbeddingEntry } from './manifest-schema.js';

/** Allowed distance of a vector's length from 1; float32 sums over 384 numbers stay below 1e-5. */
const UNIT_TOLERANCE = 1e-3;
/**
 * int8 kernels differ between instruction sets (with and without VNNI), a broken runtime differs far more: between
 * unrelated texts the cosine is near 0. 0.99 is the distance of this int8 model from its float32 original.
 */
const CANARY_COSINE = 0.99;

/** Errors: `INVALID_VECTOR` unless the vector has the dimensions, only finite numbers and unit length. */
export function checkUnitVector(vector: Float32Array, dimensions: number): void {
  if (vector.length !== dimensions)
    throw new ErrataError(
      'INVALID_VECTOR',
      `Expected ${dimensions} dimensions for vector, received ${vector.length}`,
    );
  let squares = 0;
  for (const value of vector) squares += value * value;
  if (!Number.isFinite(squares))
    throw new ErrataError('INVALID_VECTOR', 'Expected finite numbers for vector, received a non-finite one');
  const length = Math.sqrt(squares);
  if (Math.abs(length - 1) > UNIT_TOLERANCE)
    throw new ErrataError('INVALID_VECTOR', `Expected unit length for vector, received ${length}`);
}

/** A unit vector as models.json keeps it: base64 of int8 `[dimensions]`, the largest number at ±127. */
export function packCanary(vector: Float32Array): string {
  const largest = vector.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return Buffer.from(Int8Array.from(vector, (value) => Math.round((value / largest) * 127)).buffer).toString(
    'base64',
  );
}

/**
 * Refuses a runtime whose vector for the canary text is not the known one.
 *
 * Errors: `INVALID_VECTOR`; `MODEL_UNAVAILABLE` naming the cosine.
 */
export function checkCanary(vector: Float32Array, entry: EmbeddingEntry): void {
  checkUnitVector(vector, entry.dimensions);
  if (entry.canary === undefined) return;
  const known = new Int8Array(Buffer.from(entry.canary.vectorInt8, 'base64'));
  let dot = 0;
  let squares = 0;
  for (const [d, value] of known.entries()) {
    dot += value * (vector[d] ?? 0);
    squares += value * value;
  }
  const cosine = dot / Math.sqrt(squares);
  if (known.length === entry.dimensions && cosine >= CANARY_COSINE) return;
  throw new ErrataError(
    'MODEL_UNAVAILABLE',
    `Expected a cosine of at least ${CANARY_COSINE} to the known vector for the canary text of ${entry.name}, received ${cosine}`,
  );
}
