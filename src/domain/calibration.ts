import type { Instant } from './note.js';
import { type Probability, probability, type ScoreScale } from './scores.js';
import type { Share } from './wilson.js';

/** What gave a score: a threshold means nothing for scores of another origin. */
export interface ScoreOrigin {
  readonly embeddingModel: string;
  /** Null where no reranker ran. */
  readonly rerankModel: string | null;
  readonly scoreScale: ScoreScale;
  /** Digest of the fitted weights behind the score; null where nothing was fitted. */
  readonly scoreFit: string | null;
}

/** A threshold and the queries without an answer that it rests on. */
export interface ConformalThreshold {
  /** A note is injected where its score is at least this. */
  readonly value: number;
  readonly queries: number;
  /** How many of them still get a note: the most that the bound allows. */
  readonly passed: number;
}

/** P(a note applies | score) = 1 / (1 + e^−(bias + slope·x)); x is the score, or its log-odds on the probability scale. */
export interface ProbabilityMapping {
  readonly bias: number;
  /** Positive: a mapping never changes an order. */
  readonly slope: number;
}

/** What a threshold does to queries that nothing was fitted on. */
export interface HeldOutFigures {
  /** Of the queries without an answer, those that got a note. */
  readonly wronglyInjected: Share;
  /** Of the queries with an answer, those whose answer holds a right note. */
  readonly answered: Share;
  /** Mean share of the expected notes that were injected. */
  readonly recall: number;
}

export interface HeldOutReport {
  readonly after: HeldOutFigures;
  /** With the threshold in force before. */
  readonly before: HeldOutFigures;
  /** Upper end: what a threshold of any kind could keep at most. */
  readonly ceiling: HeldOutFigures;
  readonly byTaskType: Readonly<Record<string, HeldOutFigures>>;
  /** Of the mapping: mean squared error of the probabilities, and what the base rate alone would have. */
  readonly brier?: { readonly mapped: number; readonly baseRate: number; readonly notes: number } | undefined;
}

/** Thresholds of one namespace for one origin of scores, as they are kept. */
export interface Calibration extends ScoreOrigin {
  readonly namespace: string;
  /** On average over calibrations, at most this share of new queries without an answer gets a note. */
  readonly alpha: number;
  readonly goldenDigest: string;
  readonly createdAt: Instant;
  readonly createdBy: string;
  /** Over all task types: for those that have too few queries of their own. */
  readonly pooled: ConformalThreshold;
  readonly byTaskType: Readonly<Record<string, ConformalThreshold>>;
  /** Undefined where scores and judgements do not rise together. */
  readonly mapping?: ProbabilityMapping | undefined;
  readonly heldOut: HeldOutReport;
}

export function thresholdOf(calibration: Calibration, taskType: string | undefined): number {
  const own = taskType === undefined ? undefined : calibration.byTaskType[taskType];
  return (own ?? calibration.pooled).value;
}

export function sameOrigin(a: ScoreOrigin, b: ScoreOrigin): boolean {
  return (
    a.embeddingModel === b.embeddingModel &&
    a.rerankModel === b.rerankModel &&
    a.scoreScale === b.scoreScale &&
    a.scoreFit === b.scoreFit
  );
}

export function mapProbability(mapping: ProbabilityMapping, scale: ScoreScale, score: number): Probability {
  return probability(1 / (1 + Math.exp(-(mapping.bias + mapping.slope * mappingInput(scale, score)))));
}

/** Probabilities enter as log-odds, clipped so that 0 and 1 stay finite. */
export function mappingInput(scale: ScoreScale, score: number): number {
  if (scale !== 'probability') return score;
  const clipped = Math.min(1 - 1e-9, Math.max(1e-9, score));
  return Math.log(clipped / (1 - clipped));
}
