import { describe, expect, it } from 'vitest';
import { cosine } from '../../src/domain/scores.js';
import { inverseDocumentFrequency, matchFeatures } from '../../src/retrieval/match-features.js';
import { namesIn } from '../../src/retrieval/names.js';

const query = {
  terms: ['netty', 'desktop', 'cve-2023-20861'],
  identifiers: ['cve-2023-20861'],
  names: namesIn('netty desktop CVE-2023-20861'),
  idf: new Map([
    ['netty', 2],
    ['desktop', 1],
    ['cve-2023-20861', 5],
  ]),
};

describe('matchFeatures', () => {
  it('weighs covered terms by idf', () => {
    const features = matchFeatures(
      query,
      { terms: new Set(['netty', 'desktop']), identifiers: new Set(), names: namesIn('CVE-2021-44228') },
      { cosine: cosine(0.5), lexicalShare: 0.4 },
    );
    expect(features.idfCoverage).toBeCloseTo(3 / 8, 12);
    expect(features).toMatchObject({
      cosine: 0.5,
      identifierShare: 0,
      identifiersMissing: 1,
      lexicalShare: 0.4,
      otherName: 1,
    });
  });

  it('finds identifiers and takes a missing vector for 0', () => {
    const note = {
      terms: new Set(['cve-2023-20861']),
      identifiers: new Set(['cve-2023-20861']),
      names: namesIn('CVE-2023-20861'),
    };
    expect(matchFeatures(query, note, { cosine: undefined, lexicalShare: 0 })).toMatchObject({
      cosine: 0,
      identifierShare: 1,
      identifiersMissing: 0,
      otherName: 0,
    });
  });

  it('gives finite values for an empty query', () => {
    const empty = { terms: [], identifiers: [], names: namesIn(''), idf: new Map() };
    const note = { terms: new Set<string>(), identifiers: new Set<string>(), names: namesIn('') };
    const features = matchFeatures(empty, note, { cosine: undefined, lexicalShare: 0 });
    expect(Object.values(features)).toEqual([0, 0, 0, 0, 0, 0]);
  });
});

describe('inverseDocumentFrequency', () => {
  it('is larger for rarer terms and never negative', () => {
    expect(inverseDocumentFrequency(1_000, 1)).toBeGreaterThan(inverseDocumentFrequency(1_000, 100));
    expect(inverseDocumentFrequency(1_000, 1_000)).toBeGreaterThan(0);
  });
});
