import { z } from 'zod';
import { type Probability, probability } from '../domain/scores.js';
import {
  ANSWER_FEATURES,
  type AnswerContext,
  answerFeatures,
  CANDIDATE_FEATURES,
  type RankedCandidate,
  rankFeatures,
} from './answer-features.js';

/** Part of a calibration file: fitted on the tuning half by `evaluation/fit-late-interaction.ts`. */
export const lateInteractionSchema = z.strictObject({
  /** Log-odds of one candidate against another of the same query: they order, and set how far apart candidates stand. */
  candidate: z.record(z.enum(CANDIDATE_FEATURES), z.number()),
  /** Log-odds that the first candidate applies. */
  answer: z.strictObject({ bias: z.number(), weights: z.record(z.enum(ANSWER_FEATURES), z.number()) }),
  /** On the probability scale, chosen on the tuning half. */
  threshold: z.number().min(0).max(1),
  /** Base64 of `[dimensions]` little-endian float32: mean of the sample's note vectors, for namespaces with few notes. */
  centre: z.base64(),
});

export type LateInteractionFit = z.infer<typeof lateInteractionSchema>;
export type CandidateWeights = LateInteractionFit['candidate'];

/** One candidate's log-odds and its place in what was given. */
export interface JudgedCandidate {
  readonly index: number;
  readonly logit: number;
}

/** Candidates by their weighted features, best first; ties keep the order given. */
export function rankCandidates(
  weights: CandidateWeights,
  candidates: readonly RankedCandidate[],
  query: Float32Array,
): readonly JudgedCandidate[] {
  return candidates
    .map((candidate, index) => {
      const features = rankFeatures(candidate, query);
      return { index, logit: weighted(CANDIDATE_FEATURES, weights, features) };
    })
    .sort((a, b) => b.logit - a.logit || a.index - b.index);
}

/**
 * Judges the answer as a whole, and each candidate by its distance from the first: best first, with log-odds that the candidate
 * applies. `candidates` at least one.
 */
export function judgeCandidates(
  fit: Pick<LateInteractionFit, 'candidate' | 'answer'>,
  candidates: readonly RankedCandidate[],
  query: Float32Array,
  context: AnswerContext,
): readonly JudgedCandidate[] {
  const ranked = rankCandidates(fit.candidate, candidates, query);
  const ordered = ranked.flatMap(({ index }) => candidates[index] ?? []);
  const { bias, weights } = fit.answer;
  const answer = bias + weighted(ANSWER_FEATURES, weights, answerFeatures(ordered, context));
  const top = ranked[0]?.logit ?? 0;
  return ranked.map(({ index, logit }) => ({ index, logit: answer + logit - top }));
}

function weighted<Name extends string>(
  names: readonly Name[],
  weights: Readonly<Record<Name, number>>,
  features: Readonly<Record<Name, number>>,
): number {
  return names.reduce((sum, name) => sum + weights[name] * features[name], 0);
}

export function sigmoid(logit: number): Probability {
  return probability(1 / (1 + Math.exp(-logit)));
}

export function decodeCentre(fit: Pick<LateInteractionFit, 'centre'>): Float32Array {
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
