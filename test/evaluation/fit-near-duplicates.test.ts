import { describe, expect, it } from 'vitest';
import type { MeasuredPair } from '../../src/evaluation/duplicates-report.js';
import { fitNearDuplicates } from '../../src/evaluation/fit-near-duplicates.js';

const pair = (
  relation: MeasuredPair['relation'],
  cosine: number,
  texts: { readonly a: string; readonly b: string } = { a: 'Close the file.', b: 'A file must be closed.' },
): MeasuredPair => ({
  id: `${relation}-${cosine}`,
  half: 'tune',
  language: 'en',
  relation,
  cosine,
  ...texts,
});
const spread = (relation: MeasuredPair['relation'], from: number, to: number): MeasuredPair[] =>
  Array.from({ length: 101 }, (_, at) => pair(relation, from + ((to - from) * at) / 100));
const pairs = [
  ...spread('same', 0.9, 1),
  ...spread('paraphrase', 0.6, 0.9),
  ...spread('opposite', 0.7, 0.9),
  ...spread('different-facts', 0.8, 0.99),
  ...spread('different', 0.3, 0.8),
];

describe('limits for near duplicates', () => {
  it('see nearly all of what they are for, with their margins', () => {
    const { duplicateSimilarity, contradictionSimilarity, proposalSimilarity } = fitNearDuplicates(pairs);
    // 97% of the 202 pairs of the same lesson lie from .615 on; less 8% of what lies above.
    expect(proposalSimilarity).toBeCloseTo(0.61 - 0.08 * 0.39, 2);
    // 90% of the opposites.
    expect(contradictionSimilarity).toBeCloseTo(0.72, 2);
    // Two fifths from the nearest pair of other lessons, .8, to identity.
    expect(duplicateSimilarity).toBe(0.88);
  });

  it('fit a model whose cosines all lie close together', () => {
    const close = pairs.map((one) => ({ ...one, cosine: 0.7 + 0.3 * one.cosine }));
    const limits = fitNearDuplicates(close);
    expect(limits.proposalSimilarity).toBeGreaterThan(0.85);
    expect(limits.duplicateSimilarity).toBeCloseTo(0.96, 2);
  });

  it('rise above what the words would let through', () => {
    const words = {
      a: 'Close the file handle before you rename it.',
      b: 'Close the file handle before you rename it!',
    };
    const wrong = pair('different', 0.5, words);
    expect(fitNearDuplicates([...pairs, wrong]).duplicateSimilarity).toBe(0.88);
    const nearer = pair('different-facts', 0.95, words);
    expect(fitNearDuplicates([...pairs, nearer]).duplicateSimilarity).toBe(0.96);
  });

  it('are refused without pairs of every relation', () => {
    expect(() => fitNearDuplicates(pairs.filter(({ relation }) => relation !== 'opposite'))).toThrowError(
      /Expected pairs of opposite/,
    );
  });
});
