import { describe, expect, it } from 'vitest';
import { keywordVector, queryWords } from '../../src/retrieval/query-words.js';

/** [CLS] net ##ty scan [SEP] over "netty scan", one axis a token. */
const query = 'netty scan';
const tokens = {
  rows: new Float32Array([1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1]),
  spans: Int32Array.from([0, 0, 0, 3, 3, 5, 6, 10, 0, 0]),
};
const idf = new Map([
  ['netty', 3],
  ['scan', 1],
]);

describe('keywordVector', () => {
  it("weighs each token by its word's idf, special tokens not at all", () => {
    expect([...keywordVector(query, tokens, idf)]).toEqual([0, 3 / 7, 3 / 7, 1 / 7, 0]);
  });

  it('is the plain mean where nothing has a weight', () => {
    for (const value of keywordVector(query, tokens, new Map())) expect(value).toBeCloseTo(0.2, 12);
  });
});

describe('queryWords', () => {
  it('has a unit vector a word, from its tokens less the centre', () => {
    const words = queryWords(query, tokens, idf, new Float32Array(5));
    expect(words.map(({ weight }) => weight)).toEqual([3, 1]);
    const [netty, scan] = words.map(({ vector }) => [...vector]);
    [0, Math.SQRT1_2, Math.SQRT1_2, 0, 0].forEach((value, d) => {
      expect(netty![d]).toBeCloseTo(value, 9);
    });
    expect(scan).toEqual([0, 0, 0, 1, 0]);
    const [moved] = queryWords(query, tokens, idf, Float32Array.from([0, 0.5, 0, 0, 0]));
    expect([...moved!.vector]).toEqual([0, 0, 1, 0, 0]);
  });

  it('leaves out words without weight, unread words, and what the centre takes away altogether', () => {
    expect(queryWords(query, tokens, new Map([['scan', 1]]), new Float32Array(5))).toHaveLength(1);
    expect(queryWords('netty scan later', tokens, new Map([['later', 2]]), new Float32Array(5))).toEqual([]);
    expect(queryWords(query, tokens, idf, Float32Array.from([0, 0, 0, 1, 0]))).toHaveLength(1);
  });
});
