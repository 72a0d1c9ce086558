import { ErrataError } from '../domain/errors.js';
import { MEASURE_NAMES, MEASURES, type MeasureName } from './metrics.js';
import type { CaseResult, EvaluationReport } from './report.js';
import { bootstrapInterval, type Interval } from './statistics/bootstrap.js';
import { mean, standardDeviation } from './statistics/describe-sample.js';
import {
  minimumDetectableDifference,
  permutationTest,
  spreadWithoutPairs,
} from './statistics/permutation-test.js';

export interface MeasureComparison {
  readonly name: MeasureName;
  readonly title: string;
  readonly pairs: number;
  readonly before: number;
  readonly after: number;
  /** after − before, with its 95% paired bootstrap interval. */
  readonly difference: Interval;
  /** Paired permutation test, two-sided, not adjusted for several measures. */
  readonly pValue: number;
  /** What a set of this size finds in 80 of 100 cases; from the differences' spread, or, where nothing differs, bounded by the values'. */
  readonly detectable: number;
}

/** A query that got worse, and in what. */
export interface CaseChange {
  readonly id: string;
  readonly half: 'tune' | 'test';
  readonly query: string;
  readonly taskType: string;
  readonly worse: readonly MeasureName[];
  readonly better: readonly MeasureName[];
  readonly expected: readonly string[];
  readonly before: readonly string[];
  readonly after: readonly string[];
}

export interface ReportComparison {
  readonly half: Half;
  readonly measures: readonly MeasureComparison[];
  readonly changes: readonly CaseChange[];
  /** Ids of queries that only one of the reports has: they take no part. */
  readonly unpaired: readonly string[];
}

export type Half = 'test' | 'tune' | 'all';

/**
 * Pairs two reports by query. Errors: `INVALID_INPUT` where they share no query of the half.
 *
 * Both measure the same notes with the same judgements only where the golden digests agree; that is for the caller to say.
 */
export function compareReports(
  before: Pick<EvaluationReport, 'cases'>,
  after: Pick<EvaluationReport, 'cases'>,
  half: Half = 'test',
): ReportComparison {
  const within = (one: CaseResult) => half === 'all' || one.half === half;
  const old = new Map(before.cases.filter(within).map((one) => [one.id, one]));
  const now = after.cases.filter(within);
  const pairs = now.flatMap((one) => {
    const other = old.get(one.id);
    return other === undefined ? [] : [{ before: other, after: one }];
  });
  if (pairs.length === 0) {
    throw new ErrataError('INVALID_INPUT', 'Expected reports that share queries, received two without any');
  }
  const paired = new Set(pairs.map(({ after: { id } }) => id));
  const ids = [...old.keys(), ...now.map(({ id }) => id)];
  return {
    half,
    measures: MEASURE_NAMES.flatMap((name) => compareMeasure(name, pairs) ?? []),
    changes: pairs.flatMap((pair) => changeOf(pair) ?? []),
    unpaired: [...new Set(ids.filter((id) => !paired.has(id)))].sort(),
  };
}

interface Pair {
  readonly before: CaseResult;
  readonly after: CaseResult;
}

function compareMeasure(name: MeasureName, pairs: readonly Pair[]): MeasureComparison | undefined {
  const values = pairs.flatMap(({ before, after }): (readonly [number, number])[] => {
    const [old, now] = [before.measures[name], after.measures[name]];
    return old === undefined || now === undefined ? [] : [[old, now]];
  });
  if (values.length === 0) return undefined;
  const differences = values.map(([old, now]) => now - old);
  const spread = standardDeviation(differences) || spreadWithoutPairs(values.map(([old]) => old));
  return {
    name,
    title: MEASURES[name].title,
    pairs: values.length,
    before: mean(values.map(([old]) => old)),
    after: mean(values.map(([, now]) => now)),
    difference: bootstrapInterval(differences, { resamples: 4_000 }),
    pValue: permutationTest(differences),
    detectable: minimumDetectableDifference(spread, values.length),
  };
}

function changeOf({ before, after }: Pair): CaseChange | undefined {
  const moved = MEASURE_NAMES.flatMap((name) => {
    const [old, now] = [before.measures[name], after.measures[name]];
    if (old === undefined || now === undefined || old === now) return [];
    return [{ name, worse: MEASURES[name].better === 'higher' ? now < old : now > old }];
  });
  if (moved.length === 0) return undefined;
  return {
    id: after.id,
    half: after.half,
    query: after.query,
    taskType: after.taskType,
    worse: moved.filter(({ worse }) => worse).map(({ name }) => name),
    better: moved.filter(({ worse }) => !worse).map(({ name }) => name),
    expected: after.expected,
    before: before.answered,
    after: after.answered,
  };
}
