import type { GuardFigures } from './guards/guard-measures.js';
import {
  type CutoffMetrics,
  MEASURE_NAMES,
  type MeasureName,
  meanMetrics,
  type QueryMeasures,
  type RetrievalMetrics,
} from './metrics.js';
import { bootstrapInterval, type Interval } from './statistics/bootstrap.js';

/** Raised when a reader of an older report would misread it. */
export const REPORT_FORMAT = 2;

/** What one golden query got, as reports keep it. */
export interface CaseResult {
  readonly id: string;
  readonly half: 'tune' | 'test';
  readonly query: string;
  readonly kind: string;
  readonly taskType: string;
  readonly language: string;
  readonly difficulty: string;
  readonly answerable: boolean;
  readonly measures: QueryMeasures;
  /** Names of notes (the set's own handles where it has some), best first: expected, injected, and the first ten candidates. */
  readonly expected: readonly string[];
  /** One grade an expected note. */
  readonly grades: readonly number[];
  readonly answered: readonly string[];
  readonly ranking: readonly string[];
  /** Best candidate's score on the report's scale; absent where there was no candidate. */
  readonly best?: number | undefined;
  readonly ms: number;
}

export const GROUPINGS = ['kind', 'taskType', 'language', 'difficulty'] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface EvaluationReport {
  readonly format: typeof REPORT_FORMAT;
  readonly createdAt: string;
  readonly namespace: string;
  /** Which golden set: first 16 hex digits of its SHA-256. */
  readonly goldenDigest: string;
  readonly embeddingModel: string;
  readonly rerankModel?: string | undefined;
  readonly scoreScale: string;
  /** What was used where no task type has a threshold of its own. */
  readonly threshold: number;
  /** Degradations that every answer shared, such as a missing reranker. */
  readonly degraded: readonly string[];
  readonly all: RetrievalMetrics;
  /** The halves by hash of the query id; settings are fitted on `tune` only, so `test` is the figure to quote. */
  readonly tune: RetrievalMetrics;
  readonly test: RetrievalMetrics;
  /** 95% bootstrap intervals over the test half's queries. */
  readonly intervals: Readonly<Record<MeasureName, Interval>>;
  /** Over the test half. */
  readonly groups: Readonly<Record<Grouping, Readonly<Record<string, RetrievalMetrics>>>>;
  /** At the places that were asked for, over the test half. */
  readonly cutoffs?: readonly CutoffMetrics[] | undefined;
  /** Chance that an answerable query's best score is above an unanswerable one's, test half; and the same by length alone. */
  readonly answerableAuc: number;
  readonly lengthAuc: number;
  /** Share of unanswerable queries answered at a threshold that answers 80% of the answerable ones, test half. */
  readonly injectedAt80: number;
  /** Expected handles that the store lacks: those queries cannot be answered right. */
  readonly unresolved: readonly string[];
  readonly medianMs: number;
  readonly p95Ms: number;
  /** The machine that the milliseconds belong to. */
  readonly machine: string;
  /** The write path's guards on their labelled sets, where they were measured, too. */
  readonly guards?: GuardFigures | undefined;
  readonly cases: readonly CaseResult[];
}

export function metricsOf(cases: readonly CaseResult[]): RetrievalMetrics {
  return meanMetrics(cases.map(({ measures }) => measures));
}

/** Metrics by a property of the query, in the order of its values. */
export function groupMetrics(
  cases: readonly CaseResult[],
  grouping: Grouping,
): Readonly<Record<string, RetrievalMetrics>> {
  const values = [...new Set(cases.map((one) => one[grouping]))].sort();
  return Object.fromEntries(
    values.map((value) => [value, metricsOf(cases.filter((one) => one[grouping] === value))]),
  );
}

export function metricIntervals(
  cases: readonly CaseResult[],
  resamples = 2_000,
): Readonly<Record<MeasureName, Interval>> {
  return Object.fromEntries(
    MEASURE_NAMES.map((name) => {
      const values = cases.flatMap(({ measures }) => measures[name] ?? []);
      return [name, bootstrapInterval(values, { resamples })];
    }),
  ) as Record<MeasureName, Interval>;
}
