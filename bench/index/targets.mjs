// The suite's checks: what is measured beside what issue and README promise.
import { median } from '../../dist/evaluation/statistics/describe-sample.js';

const shown = (value) => `${Number(value.toPrecision(3))}`;

/** "At least `least` times as fast as `rival`": a check. `ours` and `theirs` are times in `unit`; `beside` is added to what is shown. */
export function fasterThan({ what, ours, theirs, least, unit = 'µs', beside = '' }) {
  const ratio = median(theirs) / median(ours);
  return {
    what: `${what}, at least ${least}×`,
    ok: ratio >= least,
    value: `${shown(ratio)}× (${shown(median(theirs))} ÷ ${shown(median(ours))} ${unit}${beside})`,
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
