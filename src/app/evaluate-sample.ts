import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqliteStore } from '../adapters/sqlite/create-sqlite-store.js';
import type { EvaluateRequest, EvaluateResult, OnProgress } from '../cli/cli-deps.js';
import type { Config } from '../config/config.js';
import type { Caller } from '../domain/api-key.js';
import { type EvaluationReport, evaluate } from '../evaluation/evaluate.js';
import { fitScore, labelCandidates } from '../evaluation/fit-score.js';
import { halfOf } from '../evaluation/golden-set.js';
import { renderReport } from '../evaluation/render-report.js';
import { silentLogger } from '../ports/logger.js';
import type { FittedScore } from '../retrieval/score-model.js';
import { type App, createApp } from './create-app.js';
import { type Engines, openEngines } from './installation.js';
import { type LoadedSample, loadSample, SAMPLE_NAMESPACE, sampleGoldenSet } from './load-sample.js';

const EVALUATOR: Caller = { name: 'evaluate', roles: ['reader'] };

interface Loaded {
  readonly app: App;
  readonly engines: Engines;
  readonly sample: LoadedSample;
}

/** Loads notes into a throw-away store, runs the golden queries through the real read path, and compares with a baseline. */
export async function evaluateSample(request: EvaluateRequest): Promise<EvaluateResult> {
  const golden = sampleGoldenSet(request.golden);
  return withSample(request.config, request.notes, request.onProgress, async ({ app, sample }) => {
    const report = await evaluate({
      retrieval: app.useCases.retrieval,
      caller: EVALUATOR,
      namespace: SAMPLE_NAMESPACE,
      golden,
      resolve: (key) => sample.ids.get(key),
      onProgress: (done, total) => request.onProgress?.({ done, total }),
    });
    const baseline =
      request.baseline === undefined
        ? undefined
        : (JSON.parse(await readFile(request.baseline, 'utf8')) as unknown);
    return { report, text: renderReport(report), regressions: regressions(report, baseline) };
  });
}

/** Fits the match score on the tuning half of the sample's golden queries. */
export async function fitSample(config: Config): Promise<FittedScore> {
  const golden = sampleGoldenSet();
  return withSample(config, undefined, undefined, async ({ app, engines, sample }) => {
    const tune = golden.queries.filter((query) => halfOf(query) === 'tune');
    const labelled = await labelCandidates(app.retrieveDeps, SAMPLE_NAMESPACE, tune, (key) =>
      sample.ids.get(key),
    );
    return fitScore(labelled, {
      embeddingModel: engines.embedder.model.id,
      fittedOn: `tuning half of sample golden set ${golden.digest}: ${tune.length} queries`,
    });
  });
}

async function withSample<T>(
  config: Config,
  notes: string | undefined,
  onProgress: OnProgress | undefined,
  work: (loaded: Loaded) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'errata-evaluate-'));
  const store = await createSqliteStore({ path: join(folder, 'errata.sqlite') });
  const engines = await openEngines(config);
  const app = await createApp({ store, engines, logger: silentLogger, runJobs: false });
  try {
    const progress = (done: number, total: number) => onProgress?.({ done, total });
    const sample = await loadSample(app.useCases.commands, {
      ...(notes === undefined ? {} : { notes }),
      onProgress: progress,
    });
    return await work({ app, engines, sample });
  } finally {
    await app.close();
    await engines.close();
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
}

const GUARDED = ['recallAt3', 'mrr', 'answeredRight', 'abstentionRate'] as const;
/** One query of a half of about 100 more or less is no regression. */
const TOLERANCE = 0.015;

function regressions(report: EvaluationReport, baseline: unknown): readonly string[] {
  const before = (baseline as Partial<EvaluationReport> | undefined)?.test;
  if (before === undefined) return [];
  return GUARDED.flatMap((name) =>
    report.test[name] < before[name] - TOLERANCE
      ? [`${name} fell from ${before[name].toFixed(3)} to ${report.test[name].toFixed(3)} (test half)`]
      : [],
  );
}
