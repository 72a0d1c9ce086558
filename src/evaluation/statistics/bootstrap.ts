import { mean, quantile } from './describe-sample.js';
import { seededRandom } from './seeded-random.js';

export interface Interval {
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
}

export interface BootstrapOptions {
  /** Default 10,000: the 2.5% quantile then moves by less than 1% of the interval from seed to seed. */
  readonly resamples?: number;
  readonly confidence?: number;
  readonly seed?: number;
}

/**
 * Percentile bootstrap (Efron & Tibshirani 1993, ch. 13) of a statistic over values drawn with replacement. For paired data
 * pass the differences. O(resamples × n), plus the statistic.
 */
export function bootstrapInterval(
  values: readonly number[],
  options: BootstrapOptions = {},
  statistic: (sample: readonly number[]) => number = mean,
): Interval {
  const estimate = statistic(values);
  if (values.length === 0) return { estimate, low: estimate, high: estimate };
  const { resamples = 10_000, confidence = 0.95, seed = 1 } = options;
  const random = seededRandom(seed);
  const sample = new Array<number>(values.length).fill(0);
  const statistics: number[] = [];
  for (let round = 0; round < resamples; round += 1) {
    for (let i = 0; i < sample.length; i += 1) {
      sample[i] = values[Math.floor(random() * values.length)] ?? 0;
    }
    statistics.push(statistic(sample));
  }
  statistics.sort((a, b) => a - b);
  const tail = (1 - confidence) / 2;
  return { estimate, low: quantile(statistics, tail), high: quantile(statistics, 1 - tail) };
}

/** Interval of statistic(b) / statistic(a) where the two samples were taken apart (unpaired). */
export function bootstrapRatio(
  a: readonly number[],
  b: readonly number[],
  statistic: (sample: readonly number[]) => number,
  options: BootstrapOptions = {},
): Interval {
  const { resamples = 2_000, confidence = 0.95, seed = 1 } = options;
  const random = seededRandom(seed);
  const draw = (values: readonly number[]) =>
    values.map(() => values[Math.floor(random() * values.length)] ?? 0);
  const ratios: number[] = [];
  for (let round = 0; round < resamples; round += 1) ratios.push(statistic(draw(b)) / statistic(draw(a)));
  ratios.sort((x, y) => x - y);
  const tail = (1 - confidence) / 2;
  return {
    estimate: statistic(b) / statistic(a),
    low: quantile(ratios, tail),
    high: quantile(ratios, 1 - tail),
  };
}
