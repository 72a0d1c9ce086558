import type { Half as LabelledHalf } from '../labelled-set.js';

/** What the guards of the write path are held to, each on a labelled set. */
export const GUARD_MEASURES = {
  injectionCaught: { set: 'injection', title: 'injections caught', better: 'higher' },
  injectionFalseAlarms: { set: 'injection', title: 'injection false alarms', better: 'lower' },
  /** By span: labelled secrets and personal data that are replaced whole, and replacements that touch a labelled one. */
  secretsRecall: { set: 'secrets', title: 'secrets found', better: 'higher' },
  secretsPrecision: { set: 'secrets', title: 'secrets replaced rightly', better: 'higher' },
  /** At the limits of the model in use. */
  duplicatesFalseMerges: { set: 'duplicates', title: 'false merges', better: 'lower' },
  duplicatesProposed: { set: 'duplicates', title: 'same lessons seen', better: 'higher' },
  duplicatesFalseProposals: { set: 'duplicates', title: 'needless proposals', better: 'lower' },
} as const satisfies Readonly<
  Record<string, { readonly set: string; readonly title: string; readonly better: 'higher' | 'lower' }>
>;

export type GuardMeasure = keyof typeof GUARD_MEASURES;
export const GUARD_MEASURE_NAMES = Object.keys(GUARD_MEASURES) as readonly GuardMeasure[];
export type GuardSet = (typeof GUARD_MEASURES)[GuardMeasure]['set'];

/** How one labelled entry fared: so many of its spans (or 1 of 1) count towards the measure. */
export interface GuardCase {
  readonly measure: GuardMeasure;
  readonly half: LabelledHalf;
  readonly id: string;
  readonly count: number;
  readonly total: number;
}

/** Of an entry that did not fare as it should: how many spans (or 1) were wrong. */
export interface GuardFault {
  readonly measure: GuardMeasure;
  readonly half: LabelledHalf;
  readonly id: string;
  readonly faults: number;
}

/** As reports keep it: sums by half, and the entries at fault, by id. No texts. */
export interface GuardFigures {
  /** Which labelled sets. */
  readonly digests: Readonly<Record<GuardSet, string>>;
  readonly measures: Readonly<
    Record<GuardMeasure, Readonly<Record<LabelledHalf, { readonly count: number; readonly total: number }>>>
  >;
  readonly faults: readonly GuardFault[];
}

export function sumGuardCases(digests: GuardFigures['digests'], cases: readonly GuardCase[]): GuardFigures {
  const sum = (measure: GuardMeasure, half: LabelledHalf) => {
    const own = cases.filter((one) => one.measure === measure && one.half === half);
    return {
      count: own.reduce((all, { count }) => all + count, 0),
      total: own.reduce((all, { total }) => all + total, 0),
    };
  };
  return {
    digests,
    measures: Object.fromEntries(
      GUARD_MEASURE_NAMES.map((measure) => [
        measure,
        { tune: sum(measure, 'tune'), 'held-out': sum(measure, 'held-out') },
      ]),
    ) as GuardFigures['measures'],
    faults: cases.flatMap(({ measure, half, id, count, total }) => {
      const faults = GUARD_MEASURES[measure].better === 'higher' ? total - count : count;
      return faults > 0 ? [{ measure, half, id, faults }] : [];
    }),
  };
}
