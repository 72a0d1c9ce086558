import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { lexicalShareOf, parseFittedScore } from '../../src/retrieval/score-model.js';

const fitted = (name: string) => parseFittedScore(readFileSync(`calibration/${name}.json`, 'utf8'));

describe('the share of full text in the fusion', () => {
  it.each([
    ['all-MiniLM-L6-v2', 0.1],
    ['e5-small-v2', 0.029],
    ['starter', 0.169],
  ])('fits the scale of %s’s cosines', (name, share) => {
    const score = fitted(name);
    expect(lexicalShareOf(score.embeddingModel, score)).toBe(share);
  });

  it('is that of the default model where nothing was fitted, or for another model', () => {
    expect(lexicalShareOf('other@1', undefined)).toBe(0.1);
    expect(lexicalShareOf('other@1', fitted('e5-small-v2'))).toBe(0.1);
    const score = fitted('starter');
    const useless = { ...score, weights: { ...score.weights, cosine: 0 } };
    expect(lexicalShareOf(score.embeddingModel, useless)).toBe(0.1);
  });
});
