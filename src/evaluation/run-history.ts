import { randomUUID } from 'node:crypto';
import type { EvaluationRun } from '../ports/evaluations.js';
import type { SettingStore } from '../ports/note-store.js';
import { changeSetting } from './change-setting.js';
import { type EvaluationReport, GROUPINGS } from './report.js';

const runsSetting = (namespace: string): string => `evaluation-runs:${namespace}`;
/** About 10 KB a run: half a megabyte a namespace at most. */
const MAX_RUNS = 50;

/** Newest first. */
export async function readRuns(
  settings: Pick<SettingStore, 'get'>,
  namespace: string,
  first: number,
): Promise<readonly EvaluationRun[]> {
  const json = await settings.get(runsSetting(namespace));
  return json === undefined ? [] : (JSON.parse(json) as readonly EvaluationRun[]).slice(0, first);
}

/** Keeps a report's figures, without its queries, as the newest of at most 50 runs. */
export async function recordRun(
  settings: Pick<SettingStore, 'get' | 'replace'>,
  report: EvaluationReport,
): Promise<EvaluationRun> {
  const run = toRun(report);
  await changeSetting(settings, runsSetting(report.namespace), (json) => {
    const earlier = json === undefined ? [] : (JSON.parse(json) as readonly EvaluationRun[]);
    return JSON.stringify([run, ...earlier].slice(0, MAX_RUNS));
  });
  return run;
}

function toRun(report: EvaluationReport): EvaluationRun {
  return {
    id: randomUUID(),
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
    groups: GROUPINGS.flatMap((grouping) =>
      Object.entries(report.groups[grouping]).map(([value, metrics]) => ({ grouping, value, metrics })),
    ),
  };
}
