import { z } from 'zod';
import type { Probability, ScoreScale } from '../domain/scores.js';
import { probability } from '../domain/scores.js';
import { lateInteractionSchema } from './late-interaction.js';
import type { MatchFeatures } from './match-features.js';
import { LEXICAL_SHARE } from './score-fusion.js';

const weightsSchema = z.strictObject({
  bias: z.number(),
  cosine: z.number(),
  idfCoverage: z.number(),
  identifierShare: z.number(),
  identifiersMissing: z.number(),
});

/** Cosines of two lessons, see `SimilarityLimits` of the write path. */
const nearDuplicatesSchema = z.strictObject({
  duplicateSimilarity: z.number().min(-1).max(1),
  contradictionSimilarity: z.number().min(-1).max(1),
  proposalSimilarity: z.number().min(-1).max(1),
  /** Which labelled pairs they were chosen on. */
  fittedOn: z.string(),
});

const fittedSchema = z.strictObject({
  /** Id of the embedding model whose cosines the weights were fitted on; any other model's are refused. */
  embeddingModel: z.string(),
  weights: weightsSchema,
  /** On the probability scale: chosen on the tuning half of the golden set. */
  threshold: z.number().min(0).max(1),
  /** Where the figures come from: data set digest, queries, date. */
  fittedOn: z.string(),
  /** Judges the answer as a whole; none: the match score alone decides. */
  lateInteraction: lateInteractionSchema.optional(),
  /** For the write path; none: its own, careful ones. */
  nearDuplicates: nearDuplicatesSchema.optional(),
});

export type ScoreWeights = z.infer<typeof weightsSchema>;
export type FittedScore = z.infer<typeof fittedSchema>;

/** Turns features into the number that order and threshold use. */
export interface ScoreModel {
  readonly scale: ScoreScale;
  readonly threshold: number;
  /** Why scores are not calibrated, if so. */
  readonly uncalibrated?: string | undefined;
  score(features: MatchFeatures): number;
}

/**
 * For models that nothing was fitted for: no cosine is below it. Any other number would be a guess that lets everything through
 * with one model (E5 puts unrelated texts at .75) and nothing with another; `errata calibrate` sets one for a namespace.
 */
export const NO_THRESHOLD = -1;

/** Logistic mapping of the features, as fitted by `evaluation/fit-score.ts`. */
export function fittedProbability(weights: ScoreWeights, features: MatchFeatures): Probability {
  const z =
    weights.bias +
    weights.cosine * features.cosine +
    weights.idfCoverage * features.idfCoverage +
    weights.identifierShare * features.identifierShare +
    weights.identifiersMissing * features.identifiersMissing;
  return probability(1 / (1 + Math.exp(-z)));
}

/** What a cosine of all-MiniLM-L6-v2 weighs, for which `LEXICAL_SHARE` was chosen. */
const REFERENCE_COSINE_WEIGHT = 10.828529;

/**
 * What the best full-text hit adds to a cosine of this model: as much of a match as `LEXICAL_SHARE` is beside all-MiniLM-L6-v2's, by the
 * fitted weights. E5's cosines lie close together, so that .1 drowned them (nDCG@10 of med .812, vectors alone .832).
 */
export function lexicalShareOf(embeddingModelId: string, fitted: FittedScore | undefined): number {
  const weight = fitted?.embeddingModel === embeddingModelId ? fitted.weights.cosine : 0;
  if (weight <= 0) return LEXICAL_SHARE;
  return Math.round(((LEXICAL_SHARE * REFERENCE_COSINE_WEIGHT) / weight) * 1_000) / 1_000;
}

/** The fitted model where it belongs to the embedding model in use, else plain cosine, said so. */
export function createScoreModel(embeddingModelId: string, fitted: FittedScore | undefined): ScoreModel {
  if (fitted !== undefined && fitted.embeddingModel === embeddingModelId) {
    const { weights, threshold } = fitted;
    return { scale: 'probability', threshold, score: (features) => fittedProbability(weights, features) };
  }
  return {
    scale: 'cosine',
    threshold: NO_THRESHOLD,
    uncalibrated: `no fitted scores for ${embeddingModelId}, so no threshold; run errata calibrate`,
    score: (features) => features.cosine,
  };
}

/** Errors: a ZodError or SyntaxError for a broken text. */
export function parseFittedScore(json: string): FittedScore {
  return fittedSchema.parse(JSON.parse(json));
}
