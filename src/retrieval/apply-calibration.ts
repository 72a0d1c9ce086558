import { mapProbability, thresholdOf } from '../domain/calibration.js';
import type { ScoredNote } from '../domain/retrieval.js';
import type { ScoreScale } from '../domain/scores.js';
import type { Embedder } from '../ports/embedder.js';
import type { Calibrations } from './calibrations.js';
import type { ValidRequest } from './check-request.js';

export interface CalibrationDeps {
  readonly embedder: Pick<Embedder, 'model'>;
  /** None: the thresholds that are shipped. */
  readonly calibrations?: Pick<Calibrations, 'find'> | undefined;
  /** Digest of the fitted weights in use. */
  readonly scoreFit?: string | null | undefined;
}

export interface JudgedCandidates {
  readonly candidates: readonly ScoredNote[];
  /** Absent where the namespace has no calibration for these scores. */
  readonly threshold?: number;
  readonly refused?: string | undefined;
}

/** The namespace's own threshold, and probabilities beside the scores, which stay what they are. */
export async function applyCalibration(
  { calibrations, embedder, scoreFit = null }: CalibrationDeps,
  { namespace, taskType }: Pick<ValidRequest, 'namespace' | 'taskType'>,
  scored: {
    readonly candidates: readonly ScoredNote[];
    readonly rerankModel: string | null;
    readonly scale: ScoreScale;
  },
): Promise<JudgedCandidates> {
  const { candidates, rerankModel, scale } = scored;
  if (calibrations === undefined || candidates.length === 0) return { candidates };
  const origin = { embeddingModel: embedder.model.id, rerankModel, scoreScale: scale, scoreFit };
  const { calibration, refused } = await calibrations.find(namespace, origin);
  if (calibration === undefined) return { candidates, refused };
  const { mapping } = calibration;
  return {
    threshold: thresholdOf(calibration, taskType),
    candidates:
      mapping === undefined
        ? candidates
        : candidates.map((candidate) => ({
            ...candidate,
            probability: mapProbability(mapping, scale, candidate.score),
          })),
  };
}
