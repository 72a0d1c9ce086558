import { describe, expect, it } from 'vitest';
import type { ScoredNote } from '../../src/domain/retrieval.js';
import {
  answerFeatures,
  answerLogit,
  decodeCentre,
  encodeCentre,
  keywordVector,
  logitOf,
  shiftScores,
  sigmoid,
} from '../../src/retrieval/late-interaction.js';
import { termSpans, textTerms } from '../../src/retrieval/text-terms.js';

/** [CLS] net ##ty scan [SEP] over "netty scan", one axis a token. */
const query = 'netty scan';
const tokens = {
  rows: new Float32Array([1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1]),
  spans: Int32Array.from([0, 0, 0, 3, 3, 5, 6, 10, 0, 0]),
};

describe('keywordVector', () => {
  it("weighs each token by its word's idf, special tokens not at all", () => {
    const idf = new Map([
      ['netty', 3],
      ['scan', 1],
    ]);
    expect([...keywordVector(query, tokens, idf)]).toEqual([0, 3 / 7, 3 / 7, 1 / 7, 0]);
  });

  it('is the plain mean where nothing has a weight', () => {
    for (const value of keywordVector(query, tokens, new Map())) expect(value).toBeCloseTo(0.2, 12);
  });
});

describe('termSpans', () => {
  it('has the terms of textTerms, at their places', () => {
    const text = 'Straße CVE-2023-20861, 検索結果 und ﬁne';
    const spans = termSpans(text);
    expect(new Set(spans.map(({ term }) => term).filter((term) => [...term].length > 1))).toEqual(
      new Set(textTerms(text)),
    );
    for (const { term, start, end } of spans)
      expect(text.slice(start, end).normalize('NFKC').toLowerCase()).toBe(term);
  });
});

describe('answerFeatures', () => {
  const unit = (...values: number[]) => {
    const norm = Math.hypot(...values);
    return Float32Array.from(values, (value) => value / norm);
  };

  it('takes away what all notes share before comparing, and takes the best row', () => {
    const centre = unit(1, 0, 0);
    const features = answerFeatures({
      keywords: Float64Array.from([1, 0.5, 0]),
      query: unit(1, 1, 0),
      centre,
      vectors: [
        { modelId: 'm', lesson: unit(1, 0, 1) },
        { modelId: 'm', lesson: unit(1, 0, 0), situation: Float32Array.from([1, 0.3, 0]) },
      ],
      topScore: 0.5,
    });
    expect(features.keywordCosine).toBeCloseTo(1, 6);
    expect(features.lessonCosine).toBeCloseTo(Math.SQRT1_2, 6);
    expect(features.top).toBeCloseTo(0, 12);
  });

  it('is finite without vectors and for a row that is the centre itself', () => {
    const centre = unit(1, 0, 0);
    const base = { keywords: Float64Array.from([1, 0, 0]), query: centre, centre, topScore: 1 };
    expect(answerFeatures({ ...base, vectors: [] })).toMatchObject({ keywordCosine: 0, lessonCosine: 0 });
    const same = answerFeatures({ ...base, vectors: [{ modelId: 'm', lesson: centre }] });
    expect(same.keywordCosine).toBe(0);
    const weights = { bias: 0, top: 1, keywordCosine: 1, lessonCosine: 1 };
    expect(Number.isFinite(answerLogit(weights, same))).toBe(true);
  });
});

describe('shiftScores', () => {
  it('gives the best candidate the logit, keeps the order and the distances', () => {
    const candidates = [0.6, 0.4, 0.01].map((score) => ({ score }) as ScoredNote);
    const shifted = shiftScores(candidates, -1.5);
    expect(shifted[0]?.score).toBeCloseTo(sigmoid(-1.5), 12);
    const gap = (list: readonly ScoredNote[]) => logitOf(list[0]!.score) - logitOf(list[1]!.score);
    expect(gap(shifted)).toBeCloseTo(gap(candidates), 9);
    expect(shifted[1]!.score).toBeGreaterThan(shifted[2]!.score);
    expect(shiftScores([], 1)).toEqual([]);
  });
});

describe('centre', () => {
  it('is saved bit for bit', () => {
    const centre = Float32Array.from([0.1, -0.2, 3e-8]);
    const weights = { bias: 0, top: 0, keywordCosine: 0, lessonCosine: 0 };
    expect(decodeCentre({ weights, threshold: 0, centre: encodeCentre(centre) })).toEqual(centre);
  });
});
