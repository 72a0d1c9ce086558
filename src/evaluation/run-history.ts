import { randomUUID } from 'node:crypto';
import { ErrataError } from '../domain/errors.js';
import { changeSetting } from '../ports/change-setting.js';
import type { EvaluationRun, RunCase } from '../ports/evaluations.js';
import type { SettingStore } from '../ports/note-store.js';
import { type CaseResult, type EvaluationReport, GROUPINGS } from './report.js';

const runsSetting = (namespace: string): string => `evaluation-runs:${namespace}`;
/** About 10 KB a run: half a megabyte a namespace at most. */
const MAX_RUNS = 50;

/** Of so many of the newest runs the queries are kept: 300 B a query. */
const RUNS_WITH_CASES = 10;
/** Comparing more would hold the process up for seconds. */
const MAX_CASES = 2_000;

const casesSetting = (namespace: string, id: string): string => `evaluation-cases:${namespace}:${id}`;

/** Newest first. */
export async function readRuns(
  settings: Pick<SettingStore, 'get'>,
  namespace: string,
  first: number,
): Promise<readonly EvaluationRun[]> {
  const json = await settings.get(runsSetting(namespace));
  return json === undefined ? [] : (JSON.parse(json) as readonly EvaluationRun[]).slice(0, first);
}

/** What the queries of a run got. Errors: `INVALID_INPUT` where that is not kept. */
export async function readCases(
  settings: Pick<SettingStore, 'get'>,
  namespace: string,
  id: string,
): Promise<readonly RunCase[]> {
  const json = await settings.get(casesSetting(namespace, id));
  if (json !== undefined) return JSON.parse(json) as readonly RunCase[];
  throw new ErrataError(
    'INVALID_INPUT',
    `Expected one of the newest ${RUNS_WITH_CASES} runs of at most ${MAX_CASES} queries for the run, received another`,
    { details: { field: 'runId' } },
  );
}

/** Keeps a report's figures, without texts of queries, as the newest of at most 50 runs. A run of the same id is replaced. */
export async function recordRun(
  settings: Pick<SettingStore, 'get' | 'put' | 'remove' | 'replace'>,
  report: EvaluationReport,
  id: string = randomUUID(),
): Promise<EvaluationRun> {
  const run = toRun(report, id);
  if (report.cases.length <= MAX_CASES)
    await settings.put(casesSetting(run.namespace, run.id), JSON.stringify(report.cases.map(toCase)));
  const json = await changeSetting(settings, runsSetting(report.namespace), (json) => {
    const earlier = json === undefined ? [] : (JSON.parse(json) as readonly EvaluationRun[]);
    return JSON.stringify([run, ...earlier.filter((other) => other.id !== id)].slice(0, MAX_RUNS));
  });
  const [overdue] = (JSON.parse(json) as readonly EvaluationRun[]).slice(RUNS_WITH_CASES);
  if (overdue !== undefined) await settings.remove(casesSetting(overdue.namespace, overdue.id));
  return run;
}

function toCase({ id, half, taskType, expected, answered, measures }: CaseResult): RunCase {
  return { id, half, taskType, expected, answered, measures };
}

function toRun(report: EvaluationReport, id: string): EvaluationRun {
  return {
    id,
    namespace: report.namespace,
    createdAt: report.createdAt,
    goldenDigest: report.goldenDigest,
    embeddingModel: report.embeddingModel,
    rerankModel: report.rerankModel,
    scoreScale: report.scoreScale,
    threshold: report.threshold,
    queries: report.all.queries,
    medianMs: report.medianMs,
    p95Ms: report.p95Ms,
    all: report.all,
    tune: report.tune,
    test: report.test,
    intervals: Object.entries(report.intervals).map(([name, interval]) => ({ name, ...interval })),
    groups: GROUPINGS.flatMap((grouping) =>
      Object.entries(report.groups[grouping]).map(([value, metrics]) => ({ grouping, value, metrics })),
    ),
  };
}
