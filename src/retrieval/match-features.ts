import type { CosineScore } from '../domain/scores.js';
import { type Names, namesAnother } from './names.js';

/** What a candidate's score is made of; every feature is 0…1 or a cosine, so that one saved model fits every note set. */
export interface MatchFeatures {
  /** Best cosine over the note's rows; 0 where the note has no vector. */
  readonly cosine: CosineScore | 0;
  /** Share of the query's idf weight that the note's text holds, 0…1. */
  readonly idfCoverage: number;
  /** Share of the query's identifiers found in the note, 0…1; 0 where the query has none. */
  readonly identifierShare: number;
  /** Share of the query's identifiers missing from the note, 0…1; 0 where the query has none. */
  readonly identifiersMissing: number;
  /** BM25 relative to the best hit's, 0…1. */
  readonly lexicalShare: number;
  /** 1 where the query names another CVE, rule, article, … than the note does. */
  readonly otherName: 0 | 1;
}

export interface QueryTerms {
  /** Distinct lower-case words and identifiers. */
  readonly terms: readonly string[];
  readonly identifiers: readonly string[];
  readonly names: Names;
  /** Inverse document frequency by term, within the namespace. */
  readonly idf: ReadonlyMap<string, number>;
}

/** BM25's idf, never negative: ln(1 + (n − df + 0.5) / (df + 0.5)). */
export function inverseDocumentFrequency(notes: number, notesWithTerm: number): number {
  return Math.log(1 + (notes - notesWithTerm + 0.5) / (notesWithTerm + 0.5));
}

export interface NoteTerms {
  readonly terms: ReadonlySet<string>;
  readonly identifiers: ReadonlySet<string>;
  readonly names: Names;
}

/** Features of one candidate, from its term and identifier sets (lower case). */
export function matchFeatures(
  query: Pick<QueryTerms, 'terms' | 'identifiers' | 'names' | 'idf'>,
  note: NoteTerms,
  found: { readonly cosine: CosineScore | undefined; readonly lexicalShare: number },
): MatchFeatures {
  let total = 0;
  let covered = 0;
  for (const term of query.terms) {
    const weight = query.idf.get(term) ?? 0;
    total += weight;
    if (note.terms.has(term)) covered += weight;
  }
  const present = query.identifiers.filter((identifier) => note.identifiers.has(identifier)).length;
  const asked = query.identifiers.length;
  return {
    cosine: found.cosine ?? 0,
    idfCoverage: total === 0 ? 0 : covered / total,
    identifierShare: asked === 0 ? 0 : present / asked,
    identifiersMissing: asked === 0 ? 0 : (asked - present) / asked,
    lexicalShare: found.lexicalShare,
    otherName: namesAnother(query.names, note.names) ? 1 : 0,
  };
}
