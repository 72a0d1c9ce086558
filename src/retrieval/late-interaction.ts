import { z } from 'zod';
import type { NoteVectors } from '../domain/note.js';
import type { ScoredNote } from '../domain/retrieval.js';
import { type CosineScore, cosine, type Probability, probability } from '../domain/scores.js';
import type { TokenVectors } from '../ports/embedder.js';
import { termSpans } from './text-terms.js';

/** Part of a calibration file: fitted on the tuning half by `evaluation/fit-late-interaction.ts`. */
export const lateInteractionSchema = z.strictObject({
  weights: z.strictObject({
    bias: z.number(),
    /** Of the best candidate's logit, as the match score gives it. */
    top: z.number(),
    keywordCosine: z.number(),
    lessonCosine: z.number(),
  }),
  /** On the probability scale, chosen on the tuning half. */
  threshold: z.number().min(0).max(1),
  /** Base64 of `[dimensions]` little-endian float32: mean of the sample's note vectors, for namespaces with few notes. */
  centre: z.base64(),
});

export type LateInteractionFit = z.infer<typeof lateInteractionSchema>;
export type LateInteractionWeights = LateInteractionFit['weights'];

/** What a query and its candidates have to do with each other as a whole; best values over the candidates. */
export interface AnswerFeatures {
  /** Logit of the best candidate's match score. */
  readonly top: number;
  /** Cosine of the query's idf-weighted token vectors and a note row, both without what all notes share. */
  readonly keywordCosine: CosineScore | 0;
  /** Cosine of the query and a lesson. */
  readonly lessonCosine: CosineScore | 0;
}

/**
 * The query's token vectors, each weighted by the idf of the word it belongs to (SIF's idea, Arora et al. 2017, on
 * contextual vectors): "package", "reported", "customer" count for little, what is peculiar to the query for much.
 * `[dimensions]`, not normalised; where no token has a weight, all count the same.
 */
export function keywordVector(
  query: string,
  tokens: TokenVectors,
  idf: ReadonlyMap<string, number>,
): Float64Array {
  const count = tokens.spans.length / 2;
  const dimensions = tokens.rows.length / count;
  const weights = tokenWeights(query, tokens.spans, idf);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const mean = new Float64Array(dimensions);
  weights.forEach((weight, token) => {
    const share = total === 0 ? 1 / count : weight / total;
    if (share === 0) return;
    for (let d = 0; d < dimensions; d += 1)
      mean[d] = (mean[d] ?? 0) + share * (tokens.rows[token * dimensions + d] ?? 0);
  });
  return mean;
}

function tokenWeights(query: string, spans: Int32Array, idf: ReadonlyMap<string, number>): Float64Array {
  const weights = new Float64Array(spans.length / 2);
  for (const { start, end, term } of termSpans(query)) {
    const weight = idf.get(term) ?? 0;
    for (let token = 0; token < weights.length; token += 1) {
      const from = spans[2 * token] ?? 0;
      const to = spans[2 * token + 1] ?? 0;
      // In unspaced scripts two pairs of characters cover a token: the rarer one counts.
      if (from < to && from >= start && from < end) weights[token] = Math.max(weights[token] ?? 0, weight);
    }
  }
  return weights;
}

export interface AnswerContext {
  /** Of `keywordVector`. */
  readonly keywords: Float64Array;
  /** The query's own vector. */
  readonly query: Float32Array;
  /** Mean of the namespace's rows, from `NamespaceCentres`. */
  readonly centre: Float32Array;
  readonly vectors: readonly NoteVectors[];
  /** Best match score, a probability. */
  readonly topScore: number;
}

export function answerFeatures(context: AnswerContext): AnswerFeatures {
  const { keywords, query, centre, vectors, topScore } = context;
  const centred = keywords.map((value, d) => value - (centre[d] ?? 0));
  let keywordBest = Number.NEGATIVE_INFINITY;
  let lessonBest = Number.NEGATIVE_INFINITY;
  for (const { lesson, situation } of vectors) {
    keywordBest = Math.max(keywordBest, centredCosine(centred, lesson, centre));
    if (situation !== undefined)
      keywordBest = Math.max(keywordBest, centredCosine(centred, situation, centre));
    lessonBest = Math.max(lessonBest, dot(query, lesson));
  }
  return {
    top: logitOf(topScore),
    keywordCosine: vectors.length === 0 ? 0 : cosine(keywordBest),
    lessonCosine: vectors.length === 0 ? 0 : cosine(lessonBest),
  };
}

/** Log-odds that the best candidate applies. */
export function answerLogit(weights: LateInteractionWeights, features: AnswerFeatures): number {
  return (
    weights.bias +
    weights.top * features.top +
    weights.keywordCosine * features.keywordCosine +
    weights.lessonCosine * features.lessonCosine
  );
}

/**
 * Moves all candidates' log-odds by the same amount, so that the best one has `logit`: the order stays, and the threshold
 * judges the answer as a whole.
 */
export function shiftScores(candidates: readonly ScoredNote[], logit: number): readonly ScoredNote[] {
  const top = logitOf(candidates[0]?.score ?? 0);
  return candidates.map((candidate) => ({
    ...candidate,
    score: sigmoid(logitOf(candidate.score) - top + logit),
  }));
}

export function sigmoid(logit: number): Probability {
  return probability(1 / (1 + Math.exp(-logit)));
}

/** Finite for 0 and 1, too. */
export function logitOf(score: number): number {
  const clamped = Math.min(1 - 1e-9, Math.max(1e-9, score));
  return Math.log(clamped / (1 - clamped));
}

export function decodeCentre(fit: LateInteractionFit): Float32Array {
  const bytes = Buffer.from(fit.centre, 'base64');
  return Float32Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(4 * index));
}

export function encodeCentre(centre: Float32Array): string {
  const bytes = Buffer.alloc(4 * centre.length);
  centre.forEach((value, index) => {
    bytes.writeFloatLE(value, 4 * index);
  });
  return bytes.toString('base64');
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let d = 0; d < a.length; d += 1) sum += (a[d] ?? 0) * (b[d] ?? 0);
  return sum;
}

/** Cosine of an already centred vector and a row, 0 where nothing is left of either. */
function centredCosine(query: Float64Array, row: Float32Array, centre: Float32Array): number {
  let product = 0;
  let querySquares = 0;
  let rowSquares = 0;
  for (let d = 0; d < row.length; d += 1) {
    const value = (row[d] ?? 0) - (centre[d] ?? 0);
    const asked = query[d] ?? 0;
    product += asked * value;
    querySquares += asked * asked;
    rowSquares += value * value;
  }
  const norms = Math.sqrt(querySquares * rowSquares);
  return norms < 1e-12 ? 0 : product / norms;
}
