import { ErrataError } from '../../domain/errors.js';
import { type Share, wilson } from '../../domain/wilson.js';
import { bootstrapInterval, type Interval } from '../statistics/bootstrap.js';
import { standardDeviation } from '../statistics/describe-sample.js';
import { mcnemarExact } from '../statistics/mcnemar.js';
import { adjustByHolm, minimumDetectableDifference } from '../statistics/permutation-test.js';
import type { AnswerPair, CheckerAnswer, CheckerCase, CheckerCases } from './checker-records.js';
import { type NoteEffect, noteEffects } from './note-effects.js';

/** One error rate before and after. */
export interface RateComparison {
  readonly before: Share;
  readonly after: Share;
  /** after − before with its 95% paired bootstrap interval; below 0 is better. */
  readonly difference: Interval;
  /** Cases that went from wrong to right, and from right to wrong. */
  readonly fixed: number;
  readonly broken: number;
  /** Exact McNemar test, two-sided. */
  readonly pValue: number;
  /** Difference that a set of this size finds in 80 of 100 cases, from the changes seen; with none seen, from one changed case in ten. */
  readonly detectable: number;
}

export interface AnswerComparison {
  readonly casesDigest: string;
  readonly pairs: number;
  /** Of the cases with nothing to find, those that were flagged. */
  readonly falsePositives: RateComparison;
  /** Of the cases with something to find, those that were passed over. */
  readonly falseNegatives: RateComparison;
  /** Wrong either way. */
  readonly errors: RateComparison;
  /** McNemar's p of false positives and false negatives, adjusted for looking at both (Holm). */
  readonly adjusted: { readonly falsePositives: number; readonly falseNegatives: number };
  /** `better`: one rate fell and none rose; `worse`: a rate rose; `same`: nothing beyond chance. At the 5% level, adjusted. */
  readonly verdict: 'better' | 'worse' | 'same';
  readonly byTaskType: Readonly<
    Record<string, { readonly falsePositives: RateComparison; readonly falseNegatives: RateComparison }>
  >;
  /** Of the cases whose prompt held a lesson, those whose answer changed. */
  readonly utilisation: Share;
  /** Of those that were right before, the ones that lessons turned wrong. */
  readonly noiseSensitivity: Share;
  readonly regressions: readonly AnswerPair[];
  readonly fixes: readonly AnswerPair[];
  readonly noteEffects: readonly NoteEffect[];
  /** Ids that take no part: without both answers, or with one that could not be read. */
  readonly missing: readonly string[];
  readonly unreadable: readonly string[];
}

const LEVEL = 0.05;

/** Compares two runs of a checker over the same cases. Errors: `INVALID_INPUT` where no case has both answers. */
export function compareAnswers(
  { cases, digest }: CheckerCases,
  before: readonly CheckerAnswer[],
  after: readonly CheckerAnswer[],
  resamples = 4_000,
): AnswerComparison {
  const [old, now] = [byId(before), byId(after)];
  const answered = cases.filter(({ id }) => old.has(id) && now.has(id));
  const pairs = answered.flatMap((one) => pairOf(one, old.get(one.id), now.get(one.id)) ?? []);
  if (pairs.length === 0) {
    throw new ErrataError('INVALID_INPUT', 'Expected cases that both runs answered, received none');
  }
  const rates = ratesOf(pairs, resamples);
  const [adjustedPositives = 1, adjustedNegatives = 1] = adjustByHolm([
    rates.falsePositives.pValue,
    rates.falseNegatives.pValue,
  ]);
  const kept = new Set(pairs.map(({ id }) => id));
  const taught = pairs.filter(({ notes }) => notes.length > 0);
  const taskTypes = [...new Set(pairs.map(({ taskType }) => taskType))].sort();
  return {
    casesDigest: digest,
    pairs: pairs.length,
    ...rates,
    errors: compareRate(pairs, (flagged, { truth }) => flagged !== truth, resamples),
    adjusted: { falsePositives: adjustedPositives, falseNegatives: adjustedNegatives },
    verdict: verdictOf([
      [rates.falsePositives, adjustedPositives],
      [rates.falseNegatives, adjustedNegatives],
    ]),
    byTaskType: Object.fromEntries(
      taskTypes.map((type) => [
        type,
        ratesOf(
          pairs.filter(({ taskType }) => taskType === type),
          resamples,
        ),
      ]),
    ),
    utilisation: shareOf(taught, ({ before, after }) => before !== after),
    noiseSensitivity: shareOf(
      taught.filter(({ truth, before }) => before === truth),
      ({ truth, after }) => after !== truth,
    ),
    regressions: pairs.filter(({ truth, before, after }) => before === truth && after !== truth),
    fixes: pairs.filter(({ truth, before, after }) => before !== truth && after === truth),
    noteEffects: noteEffects(pairs),
    missing: cases.filter(({ id }) => !(old.has(id) && now.has(id))).map(({ id }) => id),
    unreadable: answered.filter(({ id }) => !kept.has(id)).map(({ id }) => id),
  };
}

function shareOf(pairs: readonly AnswerPair[], holds: (pair: AnswerPair) => boolean): Share {
  return wilson(pairs.filter(holds).length, pairs.length);
}

function byId(answers: readonly CheckerAnswer[]): ReadonlyMap<string, CheckerAnswer> {
  return new Map(answers.map((answer) => [answer.id, answer]));
}

function pairOf(
  { id, truth, taskType = 'any' }: CheckerCase,
  before: CheckerAnswer | undefined,
  after: CheckerAnswer | undefined,
): AnswerPair | undefined {
  if (before?.flagged == null || after?.flagged == null) return undefined;
  const { notes, without = {} } = after;
  return { id, truth, taskType, before: before.flagged, after: after.flagged, notes, without };
}

function ratesOf(pairs: readonly AnswerPair[], resamples: number) {
  return {
    falsePositives: compareRate(
      pairs.filter(({ truth }) => !truth),
      (flagged) => flagged,
      resamples,
    ),
    falseNegatives: compareRate(
      pairs.filter(({ truth }) => truth),
      (flagged) => !flagged,
      resamples,
    ),
  };
}

/** Share of changed cases that is assumed where none changed, for what the set could have found. */
const ASSUMED_CHANGES = 0.1;

function compareRate(
  pairs: readonly AnswerPair[],
  wrong: (flagged: boolean, pair: AnswerPair) => boolean,
  resamples: number,
): RateComparison {
  const values = pairs.map(
    (pair) => [Number(wrong(pair.before, pair)), Number(wrong(pair.after, pair))] as const,
  );
  const differences = values.map(([old, now]) => now - old);
  const fixed = differences.filter((difference) => difference < 0).length;
  const broken = differences.filter((difference) => difference > 0).length;
  const count = (index: 0 | 1) => values.filter((value) => value[index] === 1).length;
  return {
    before: wilson(count(0), pairs.length),
    after: wilson(count(1), pairs.length),
    difference: bootstrapInterval(differences, { resamples }),
    fixed,
    broken,
    pValue: mcnemarExact(fixed, broken),
    detectable: minimumDetectableDifference(
      standardDeviation(differences) || Math.sqrt(ASSUMED_CHANGES),
      pairs.length,
    ),
  };
}

function verdictOf(tests: readonly (readonly [RateComparison, number])[]): AnswerComparison['verdict'] {
  const moved = tests.filter(([, pValue]) => pValue < LEVEL).map(([{ fixed, broken }]) => broken - fixed);
  if (moved.some((change) => change > 0)) return 'worse';
  return moved.some((change) => change < 0) ? 'better' : 'same';
}
