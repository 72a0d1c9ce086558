import { ErrataError } from '../domain/errors.js';
import type { RunCase, RunComparison } from '../ports/evaluations.js';
import type { SettingStore } from '../ports/note-store.js';
import { compareReports, type Half } from './compare-reports.js';
import type { CaseResult, EvaluationReport } from './report.js';
import { readCases, readRuns } from './run-history.js';

const HALVES: readonly Half[] = ['test', 'tune', 'all'];
const ALL_RUNS = Number.POSITIVE_INFINITY;

/** Two kept runs, query by query, as `compareReports` does it. Errors: `INVALID_INPUT`. */
export async function compareRuns(
  settings: Pick<SettingStore, 'get'>,
  namespace: string,
  { before, after, half }: { readonly before: string; readonly after: string; readonly half: string },
): Promise<RunComparison> {
  const known = HALVES.find((one) => one === half);
  if (known === undefined) {
    throw new ErrataError('INVALID_INPUT', `Expected ${HALVES.join(', ')} for half, received another value`, {
      details: { field: 'half' },
    });
  }
  const runs = await readRuns(settings, namespace, ALL_RUNS);
  const digestOf = (id: string) => runs.find((run) => run.id === id)?.goldenDigest;
  const compared = compareReports(
    asReport(await readCases(settings, namespace, before)),
    asReport(await readCases(settings, namespace, after)),
    known,
  );
  return {
    half: known,
    sameGoldenSet: digestOf(before) === digestOf(after),
    measures: compared.measures.map(({ difference: { low, high }, title: _title, ...measure }) => ({
      ...measure,
      low,
      high,
    })),
    changes: compared.changes.map(({ id, worse, better, expected, before: old, after: now }) => ({
      ...{ id, worse, better, expected },
      before: old,
      after: now,
    })),
    unpaired: compared.unpaired,
  };
}

/** What a comparison reads of a report; texts of queries are not kept. */
function asReport(cases: readonly RunCase[]): Pick<EvaluationReport, 'cases'> {
  return { cases: cases as readonly CaseResult[] };
}
