import type { EvaluationReport } from '../report.js';
import { writeQrels, writeRun } from './trec.js';

/** The candidates of a report's answerable queries (ten each) as a TREC run. */
export function reportToRun(report: EvaluationReport): string {
  const cases = report.cases.filter(({ answerable }) => answerable);
  return writeRun(new Map(cases.map(({ id, ranking }) => [id, ranking])), 'errata');
}

/** What the same queries expect, with their grades. */
export function reportToQrels(report: EvaluationReport): string {
  const cases = report.cases.filter(({ answerable }) => answerable);
  return writeQrels(
    new Map(
      cases.map(({ id, expected, grades }) => [
        id,
        new Map(expected.map((name, index) => [name, grades[index] ?? 1])),
      ]),
    ),
  );
}
