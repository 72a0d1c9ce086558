import { describe, expect, it } from 'vitest';
import { cosine } from '../../src/domain/scores.js';
import { ANSWER_FEATURES, CANDIDATE_FEATURES } from '../../src/retrieval/answer-features.js';
import {
  decodeCentre,
  encodeCentre,
  judgeCandidates,
  rankCandidates,
  sigmoid,
} from '../../src/retrieval/late-interaction.js';
import { termSpans, textTerms } from '../../src/retrieval/text-terms.js';

const zeros = <Name extends string>(names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
const query = Float32Array.from([1, 0]);
const candidate = (value: number, otherName: 0 | 1 = 0) => ({
  features: {
    cosine: cosine(value),
    idfCoverage: 0,
    identifierShare: 0,
    identifiersMissing: 0,
    lexicalShare: 0,
    otherName,
  },
  vectors: undefined,
});
const fit = {
  candidate: { ...zeros(CANDIDATE_FEATURES), cosine: 10, otherName: -3 },
  answer: { bias: -1, weights: { ...zeros(ANSWER_FEATURES), bestOtherName: -2 } },
};
const context = { keywords: new Float64Array(2), words: [], centre: new Float32Array(2) };

describe('rankCandidates', () => {
  it('moves single candidates, and keeps the order given where nothing tells them apart', () => {
    const candidates = [candidate(0.6, 1), candidate(0.5), candidate(0.5), candidate(0.4)];
    const ranked = rankCandidates(fit.candidate, candidates, query);
    expect(ranked.map(({ index }) => index)).toEqual([1, 2, 3, 0]);
  });
});

describe('judgeCandidates', () => {
  it('judges the answer by its best candidate and the others by their distance from it', () => {
    const judged = judgeCandidates(fit, [candidate(0.4), candidate(0.6)], query, context);
    expect(judged.map(({ index }) => index)).toEqual([1, 0]);
    expect(judged[0]?.logit).toBeCloseTo(-1, 9);
    expect(judged[1]?.logit).toBeCloseTo(-3, 6);
    const [other] = judgeCandidates(fit, [candidate(0.9, 1)], query, context);
    expect(other?.logit).toBeCloseTo(-3, 9);
    expect(sigmoid(0)).toBe(0.5);
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

describe('centre', () => {
  it('is saved bit for bit', () => {
    const centre = Float32Array.from([0.1, -0.2, 3e-8]);
    expect(decodeCentre({ centre: encodeCentre(centre) })).toEqual(centre);
  });
});
