import type { NoteVectors } from '../domain/note.js';
import type { MatchFeatures } from './match-features.js';
import type { QueryWord } from './query-words.js';

/** What orders the candidates of one query among themselves. */
export const CANDIDATE_FEATURES = [
  'cosine',
  'lessonCosine',
  'identifierShare',
  'lexicalShare',
  'otherName',
] as const;
export type CandidateFeatures = Readonly<Record<(typeof CANDIDATE_FEATURES)[number], number>>;

/** What tells whether any candidate applies. `best…` is of the first in order, the others of the whole answer. */
export const ANSWER_FEATURES = [
  /** Best cosine of the idf-weighted query and a situation, both without what all notes share. */
  'situationCosine',
  /** Of the best candidate: the cosine that half of the query's words, by weight, reach. */
  'bestMedianWord',
  'bestIdentifierShare',
  'bestOtherName',
] as const;
export type AnswerFeatures = Readonly<Record<(typeof ANSWER_FEATURES)[number], number>>;

export interface RankedCandidate {
  readonly features: MatchFeatures;
  /** Absent: not embedded by the model in use. */
  readonly vectors: NoteVectors | undefined;
}

export interface AnswerContext {
  /** Of `keywordVector`. */
  readonly keywords: Float64Array;
  readonly words: readonly QueryWord[];
  /** Mean of the namespace's rows, from `NamespaceCentres`. */
  readonly centre: Float32Array;
}

export function rankFeatures({ features, vectors }: RankedCandidate, query: Float32Array): CandidateFeatures {
  return { ...features, lessonCosine: vectors === undefined ? 0 : dot(query, vectors.lesson) };
}

/** `candidates` best first, at least one. O(candidates · dimensions + words · dimensions). */
export function answerFeatures(
  candidates: readonly RankedCandidate[],
  { keywords, words, centre }: AnswerContext,
): AnswerFeatures {
  const asked = without(keywords, centre);
  const askedNorm = Math.sqrt(dot(asked, asked));
  let situationCosine = Number.NEGATIVE_INFINITY;
  for (const { vectors } of candidates) {
    const row = vectors?.situation ?? vectors?.lesson;
    if (row === undefined || askedNorm < 1e-12) continue;
    situationCosine = Math.max(situationCosine, cosineWithout(asked, askedNorm, row, centre));
  }
  const [best] = candidates;
  const bestRows = [best?.vectors?.lesson, best?.vectors?.situation].flatMap((row) =>
    row === undefined ? [] : [unitWithout(row, centre)],
  );
  return {
    situationCosine: Number.isFinite(situationCosine) ? situationCosine : 0,
    bestMedianWord: weightedMedian(words.map((word) => ({ ...word, value: bestOf(word, bestRows) }))),
    bestIdentifierShare: best?.features.identifierShare ?? 0,
    bestOtherName: best?.features.otherName ?? 0,
  };
}

/** Nothing is left of a vector that is this near the centre. */
const NOTHING = 1e-9;

/** Cosine of `asked` (of norm `askedNorm`) with `row − centre`. Nothing is allocated: this runs for every candidate of every query. */
function cosineWithout(
  asked: Float64Array,
  askedNorm: number,
  row: Float32Array,
  centre: Float32Array,
): number {
  let sum = 0;
  let squares = 0;
  for (let d = 0; d < asked.length; d += 1) {
    const rest = (row[d] ?? 0) - (centre[d] ?? 0);
    sum += rest * (asked[d] ?? 0);
    squares += rest * rest;
  }
  const norm = Math.sqrt(squares);
  return norm < NOTHING ? 0 : sum / (norm * askedNorm);
}

/** `vector − centre`. Plain loops here and below, for the same reason. */
function without(vector: Float32Array | Float64Array, centre: Float32Array): Float64Array {
  const rest = new Float64Array(vector.length);
  for (let d = 0; d < rest.length; d += 1) rest[d] = (vector[d] ?? 0) - (centre[d] ?? 0);
  return rest;
}

/** The same, unit length; zero where nothing is left. */
function unitWithout(vector: Float32Array, centre: Float32Array): Float64Array {
  const rest = without(vector, centre);
  const norm = Math.sqrt(dot(rest, rest));
  if (norm < NOTHING) return rest.fill(0);
  for (let d = 0; d < rest.length; d += 1) rest[d] = (rest[d] ?? 0) / norm;
  return rest;
}

function bestOf({ vector }: QueryWord, rows: readonly Float64Array[]): number {
  return rows.length === 0 ? 0 : Math.max(...rows.map((row) => dot(vector, row)));
}

/** The smallest value that half of the weight does not exceed; 0 for nothing. */
function weightedMedian(values: readonly { readonly value: number; readonly weight: number }[]): number {
  const half = values.reduce((sum, { weight }) => sum + weight, 0) / 2;
  let passed = 0;
  for (const { value, weight } of [...values].sort((a, b) => a.value - b.value)) {
    passed += weight;
    if (passed >= half) return value;
  }
  return 0;
}

function dot(a: Float32Array | Float64Array, b: Float32Array | Float64Array): number {
  let sum = 0;
  for (let d = 0; d < a.length; d += 1) sum += (a[d] ?? 0) * (b[d] ?? 0);
  return sum;
}
