import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normaliseInPlace, poolTokens } from '../../src/models/pooling.js';
import { checkCanary, checkUnitVector, packCanary } from '../../src/models/vector-checks.js';
import { pinnedEmbedding } from './tiny-model.js';

/** Two tokens of three dimensions. */
const hidden = new Float32Array([1, 2, 3, 3, 6, 9]);
const withCode = (code: string) => expect.objectContaining({ code });

describe('pooling', () => {
  it('takes the mean, the first or the last token', () => {
    expect([...poolTokens(hidden, 2, 3, 'mean')]).toEqual([2, 4, 6]);
    expect([...poolTokens(hidden, 2, 3, 'cls')]).toEqual([1, 2, 3]);
    expect([...poolTokens(hidden, 2, 3, 'last')]).toEqual([3, 6, 9]);
  });

  it('normalises to unit length and leaves a zero vector zero', () => {
    const vector = new Float32Array([3, 0, 4]);
    normaliseInPlace(vector);
    expect([...vector]).toEqual([Math.fround(0.6), 0, Math.fround(0.8)]);
    const zero = new Float32Array(3);
    normaliseInPlace(zero);
    expect([...zero]).toEqual([0, 0, 0]);
  });

  it('gives unit vectors for any finite token vectors', () => {
    const numbers = fc.array(fc.float({ min: -1e3, max: 1e3, noNaN: true }), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(numbers, (values) => {
        const vector = poolTokens(Float32Array.from(values), 2, 4, 'mean');
        // Shorter ones are dominated by the 1e-12 of the division.
        fc.pre(Math.hypot(...vector) > 1e-6);
        normaliseInPlace(vector);
        checkUnitVector(vector, 4);
      }),
    );
  });
});

describe('vector checks', () => {
  it('refuses wrong sizes, non-finite numbers, zero and other lengths', () => {
    expect(() => checkUnitVector(new Float32Array([1, 0]), 2)).not.toThrow();
    for (const bad of [
      [1],
      [1, 0, 0],
      [0, 0],
      [0.9, 0],
      [1.1, 0],
      [Number.NaN, 1],
      [Number.POSITIVE_INFINITY, 0],
    ])
      expect(() => checkUnitVector(Float32Array.from(bad), 2), String(bad)).toThrowError(
        withCode('INVALID_VECTOR'),
      );
  });

  it('takes the known vector with small differences and refuses another', () => {
    const vector = Float32Array.from({ length: 384 }, (_, d) => Math.sin(d * d + 1));
    normaliseInPlace(vector);
    const entry = {
      ...pinnedEmbedding('all-MiniLM-L6-v2'),
      canary: { text: 'x', vectorInt8: packCanary(vector) },
    };
    expect(() => checkCanary(vector, entry)).not.toThrow();
    const near = vector.map((value, d) => value + 0.004 * Math.cos(d));
    normaliseInPlace(near);
    expect(() => checkCanary(near, entry)).not.toThrow();
    expect(() => checkCanary(vector.toReversed(), entry)).toThrowError(withCode('MODEL_UNAVAILABLE'));
    expect(() => checkCanary(new Float32Array(384), entry)).toThrowError(withCode('INVALID_VECTOR'));
  });
});
