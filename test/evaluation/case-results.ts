import { measureQuery } from '../../src/evaluation/metrics.js';
import {
  type CaseResult,
  type EvaluationReport,
  GROUPINGS,
  groupMetrics,
  metricIntervals,
  metricsOf,
} from '../../src/evaluation/report.js';

export interface CaseSketch {
  readonly id: string;
  readonly ranking: readonly string[];
  readonly answered: readonly string[];
  readonly expected: readonly string[];
  readonly query?: string;
  readonly taskType?: string;
}

/** A case of the test half as `evaluate` would make it. */
export function caseOf(sketch: CaseSketch): CaseResult {
  const { id, ranking, answered, expected, query = `query ${id}`, taskType = 'any' } = sketch;
  const result = { ranking, answered, expected: new Map(expected.map((key) => [key, 3])) };
  return {
    id,
    half: 'test',
    query,
    kind: expected.length > 0 ? 'paraphrase' : 'none',
    taskType,
    language: 'en',
    difficulty: 'easy',
    answerable: expected.length > 0,
    measures: measureQuery(result),
    expected,
    grades: expected.map(() => 3),
    answered,
    ranking,
    best: ranking.length === 0 ? undefined : 0.5,
    ms: 4,
  };
}

export function reportOf(cases: readonly CaseResult[], medianMs = 4): EvaluationReport {
  const metrics = metricsOf(cases);
  return {
    format: 2,
    createdAt: '2026-01-01T00:00:00.000Z',
    namespace: 'default',
    goldenDigest: '0123456789abcdef',
    embeddingModel: 'm@1',
    scoreScale: 'probability',
    threshold: 0.4,
    degraded: [],
    all: metrics,
    tune: metricsOf([]),
    test: metrics,
    intervals: metricIntervals(cases),
    groups: Object.fromEntries(
      GROUPINGS.map((grouping) => [grouping, groupMetrics(cases, grouping)]),
    ) as EvaluationReport['groups'],
    answerableAuc: 0.9,
    lengthAuc: 0.5,
    injectedAt80: 0.2,
    unresolved: [],
    medianMs,
    p95Ms: medianMs * 2,
    machine: 'a machine',
    cases,
  };
}

/** `right` of `total` answerable queries find and inject their note; a quarter as many unanswerable ones abstain. */
export function reportWith(right: number, total: number): EvaluationReport {
  const answerable = Array.from({ length: total }, (_, index) => {
    const found = index < right;
    const key = `n${index}`;
    return caseOf({
      id: `q${index}`,
      ranking: found ? [key, 'x'] : ['x', 'y', 'z', key],
      answered: found ? [key] : ['x'],
      expected: [key],
    });
  });
  const none = Array.from({ length: Math.ceil(total / 4) }, (_, index) =>
    caseOf({ id: `none${index}`, ranking: ['x'], answered: [], expected: [] }),
  );
  return reportOf([...answerable, ...none]);
}
