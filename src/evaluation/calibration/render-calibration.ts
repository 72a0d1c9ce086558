import type { Calibration, ConformalThreshold, HeldOutFigures } from '../../domain/calibration.js';
import type { Share } from '../../domain/wilson.js';
import { queriesNeeded } from './conformal-threshold.js';

/** For people, at most 80 columns. */
export function renderCalibration(calibration: Calibration): readonly string[] {
  const { heldOut, pooled, alpha } = calibration;
  const needed = queriesNeeded(alpha);
  const types = Object.keys(heldOut.byTaskType);
  const pooledTypes = types.filter((type) => calibration.byTaskType[type] === undefined);
  return [
    `${calibration.embeddingModel} + ${calibration.rerankModel ?? 'no reranker'}, ${calibration.scoreScale}`,
    `  threshold ${thresholdLine(pooled)}`,
    ...Object.entries(calibration.byTaskType).map(([type, own]) => `    ${type}: ${thresholdLine(own)}`),
    `  promised: at most ${percent(alpha)} of new queries without an answer get a note,`,
    '  on average over golden sets as this one',
    ...(pooledTypes.length === 0
      ? []
      : [
          `  the same for ${pooledTypes.length} task types with fewer than ${needed} such queries of their own`,
        ]),
    '  held out              wrongly injected       answered        recall',
    row('before', heldOut.before),
    row('after', heldOut.after),
    row('threshold off', heldOut.ceiling),
    ...types.flatMap((type) => {
      const figures = heldOut.byTaskType[type];
      return figures === undefined ? [] : [row(`  ${type}`, figures)];
    }),
    ...mappingLines(calibration).map((line) => `  ${line}`),
  ];
}

/** What turns scores into probabilities, and how good it is. */
export function mappingLines({ mapping, heldOut: { brier } }: Calibration): readonly string[] {
  if (mapping === undefined) return ['no probabilities: judgements and scores do not rise together'];
  return [
    `probability = 1 / (1 + exp(-(${mapping.bias.toFixed(3)} + ${mapping.slope.toFixed(3)} x)))`,
    ...(brier === undefined
      ? []
      : [
          `Brier score ${brier.mapped.toFixed(3)} on ${brier.notes} notes held out (base rate alone: ${brier.baseRate.toFixed(3)})`,
        ]),
  ];
}

function thresholdLine({ value, queries, passed }: ConformalThreshold): string {
  const shown = Math.abs(value) > 1e6 ? 'none' : value.toFixed(4);
  return `${shown}: ${passed} of ${queries} queries without an answer pass`;
}

function row(name: string, { wronglyInjected, answered, recall }: HeldOutFigures): string {
  const without = answered.total === 0 ? '-' : recall.toFixed(3);
  return `  ${name.padEnd(20)} ${shareText(wronglyInjected).padEnd(22)} ${shareText(answered).padEnd(15)} ${without}`;
}

function shareText({ count, total, low, high }: Share): string {
  return total === 0 ? '-' : `${count}/${total} [${short(low)}, ${short(high)}]`;
}

const short = (value: number): string => value.toFixed(2).replace(/^0/, '');

function percent(share: number): string {
  return `${Number((share * 100).toFixed(2))}%`;
}
