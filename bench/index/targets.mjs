// The suite's checks: what is measured beside what issue and README promise.
import { median } from '../../dist/evaluation/statistics/describe-sample.js';

const us = (samples) => median(samples);
const shown = (value) => `${Number(value.toPrecision(3))}`;

/** "At least `least` times as fast as `rival`": a check, and the ratio as a metric's values. */
export function fasterThan({ what, ours, theirs, least, beside = '' }) {
  const ratio = us(theirs) / us(ours);
  return {
    what: `${what}, at least ${least}×`,
    ok: ratio >= least,
    value: `${shown(ratio)}× (${shown(us(theirs))} ÷ ${shown(us(ours))} µs${beside})`,
  };
}

/** A figure with a bound, such as recall. */
export function bounded({ what, value, least, most }) {
  const bound = least === undefined ? `at most ${most}` : `at least ${least}`;
  return {
    what: `${what}, ${bound}`,
    ok: least === undefined ? value <= most : value >= least,
    value: shown(value),
  };
}

export const notMeasured = (what, reason) => ({ what, ok: undefined, value: `not measured: ${reason}` });
