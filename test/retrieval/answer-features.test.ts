import { describe, expect, it } from 'vitest';
import { cosine } from '../../src/domain/scores.js';
import { answerFeatures, type RankedCandidate, rankFeatures } from '../../src/retrieval/answer-features.js';

const unit = (...values: number[]) => {
  const norm = Math.hypot(...values);
  return Float32Array.from(values, (value) => value / norm);
};
const features = {
  cosine: cosine(0.5),
  idfCoverage: 0.25,
  identifierShare: 1,
  identifiersMissing: 0,
  lexicalShare: 0.75,
  otherName: 1,
} as const;
const candidate = (lesson: Float32Array, situation?: Float32Array): RankedCandidate => ({
  features,
  vectors: { modelId: 'm', lesson, situation },
});

describe('answerFeatures', () => {
  const centre = unit(1, 0, 0);
  const context = {
    keywords: Float64Array.from([1, 0.5, 0]),
    words: [
      { vector: Float64Array.from([0, 1, 0]), weight: 3 },
      { vector: Float64Array.from([0, 0, 1]), weight: 2 },
    ],
    centre,
  };

  it('takes away what all notes share before comparing, and takes the best situation', () => {
    const situation = Float32Array.from([1, 0.3, 0]);
    const found = answerFeatures([candidate(unit(1, 0, 1)), candidate(centre, situation)], context);
    expect(found.situationCosine).toBeCloseTo(1, 6);
    expect(found).toMatchObject({ bestIdentifierShare: 1, bestOtherName: 1 });
  });

  it('takes the cosine that half of the words, by weight, reach', () => {
    const both = candidate(Float32Array.from([1, 0.2, 0]), Float32Array.from([1, 0, 0.2]));
    expect(answerFeatures([both], context).bestMedianWord).toBeCloseTo(1, 6);
    const second = candidate(Float32Array.from([1, 0, 0.2]));
    expect(answerFeatures([second], context).bestMedianWord).toBeCloseTo(0, 6);
  });

  it('is finite without vectors, without words, and for a row that is the centre itself', () => {
    const bare: RankedCandidate = { features, vectors: undefined };
    for (const one of [bare, candidate(centre)])
      for (const words of [context.words, []])
        for (const value of Object.values(answerFeatures([one], { ...context, words })))
          expect(Number.isFinite(value)).toBe(true);
  });
});

describe('rankFeatures', () => {
  it('adds the cosine of the lesson, 0 where there is no vector', () => {
    expect(rankFeatures(candidate(unit(1, 1)), unit(1, 0)).lessonCosine).toBeCloseTo(Math.SQRT1_2, 6);
    expect(rankFeatures({ features, vectors: undefined }, unit(1, 0)).lessonCosine).toBe(0);
  });
});
