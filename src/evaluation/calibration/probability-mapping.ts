import { mapProbability, mappingInput, type ProbabilityMapping } from '../../domain/calibration.js';
import type { ScoreScale } from '../../domain/scores.js';
import { fitStandardised } from '../fit-logistic.js';
import { mean } from '../statistics/describe-sample.js';

export interface JudgedScore {
  readonly score: number;
  readonly expected: boolean;
}

/** Keeps the slope finite where the classes do not overlap; small beside 50 notes. */
const L2 = 0.1;
/** Fewest notes of either kind for two parameters. */
const MIN_OF_EACH = 5;

/** Platt's logistic mapping (1999). Undefined where there are too few notes, or where higher scores do not apply more often. */
export function fitMapping(
  judged: readonly JudgedScore[],
  scale: ScoreScale,
): ProbabilityMapping | undefined {
  const right = judged.filter(({ expected }) => expected).length;
  if (Math.min(right, judged.length - right) < MIN_OF_EACH) return undefined;
  const rows = judged.map(({ score }) => [mappingInput(scale, score)]);
  const labels = judged.map(({ expected }) => Number(expected));
  const [bias = 0, slope = 0] = fitStandardised(rows, labels, { l2: L2 });
  return slope > 0 ? { bias, slope } : undefined;
}

/** Mean squared error of the mapped probabilities, and of always saying the share of right notes among `base`. */
export function brierScores(
  mapping: ProbabilityMapping,
  scale: ScoreScale,
  judged: readonly JudgedScore[],
  base: number,
): { readonly mapped: number; readonly baseRate: number; readonly notes: number } {
  const errors = (predict: (score: number) => number) =>
    judged.map(({ score, expected }) => (predict(score) - Number(expected)) ** 2);
  return {
    mapped: mean(errors((score) => mapProbability(mapping, scale, score))),
    baseRate: mean(errors(() => base)),
    notes: judged.length,
  };
}
