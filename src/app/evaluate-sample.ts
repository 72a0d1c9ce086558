import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqliteStore } from '../adapters/sqlite/create-sqlite-store.js';
import type { EvaluateRequest, EvaluateResult, OnProgress } from '../cli/cli-deps.js';
import type { Config } from '../config/config.js';
import type { Caller } from '../domain/api-key.js';
import { type CrossValidated, crossValidate } from '../evaluation/cross-validate.js';
import { measurePairs } from '../evaluation/duplicates-report.js';
import { evaluate } from '../evaluation/evaluate.js';
import { fitLateInteraction, prepareQueries } from '../evaluation/fit-late-interaction.js';
import { fitNearDuplicates } from '../evaluation/fit-near-duplicates.js';
import { fitScore, labelCandidates } from '../evaluation/fit-score.js';
import { halfOf } from '../evaluation/golden-set.js';
import { silentLogger } from '../ports/logger.js';
import { noteText } from '../retrieval/score-candidates.js';
import { createScoreModel, type FittedScore } from '../retrieval/score-model.js';
import { type App, createApp } from './create-app.js';
import { readRules, toResult, withGuards } from './evaluation-result.js';
import { labelledPairs } from './guard-reports.js';
import { type Engines, openEngines } from './installation.js';
import { withJudge } from './judge-report.js';
import { type LoadedSample, loadSample, SAMPLE_NAMESPACE, sampleGoldenSet } from './load-sample.js';

export const EVALUATOR: Caller = { name: 'evaluate', roles: ['reader'] };

export interface Loaded {
  readonly app: App;
  readonly engines: Engines;
  readonly sample: LoadedSample;
}

/** Loads notes into a throw-away store, runs the golden queries through the real read path, judges and reports. */
export async function evaluateSample(request: EvaluateRequest): Promise<EvaluateResult> {
  const golden = sampleGoldenSet(request.golden);
  // Before the minute's work: a gate or baseline that cannot be read must not cost it.
  const rules = await readRules(request);
  return withSample(request.config, request.notes, request.onProgress, async ({ app, engines, sample }) => {
    const names = new Map([...sample.ids].map(([key, id]) => [id, key]));
    const notes = await app.useCases.notes.getMany(SAMPLE_NAMESPACE, [...names.keys()]);
    const texts = new Map(notes.map((note) => [note.id, noteText(note)]));
    const measured = await evaluate({
      retrieval: app.useCases.retrieval,
      caller: EVALUATOR,
      namespace: SAMPLE_NAMESPACE,
      golden,
      resolve: (key) => sample.ids.get(key),
      nameOf: (id) => names.get(id),
      noteText: (id) => texts.get(id),
      cutoffs: request.cutoffs,
      onProgress: (done, total) => request.onProgress?.({ done, total }),
      signal: request.signal,
    });
    const report = await withGuards(request, rules, measured, engines.embedder);
    const lessons = new Map(notes.map((note) => [names.get(note.id) ?? note.id, note.lesson]));
    const lessonOf = (name: string) => lessons.get(name);
    return withJudge(request.config, request, report, lessonOf, toResult(report, rules, lessonOf));
  });
}

export interface SampleFit {
  readonly fitted: FittedScore;
  /** Late interaction on the tuning half, each query judged by weights fitted without it. */
  readonly crossValidated: readonly CrossValidated[];
}

/** Fits match score, late interaction and limits for near duplicates, each on the tuning half of its labelled set. */
export async function fitSample(config: Config): Promise<SampleFit> {
  const golden = sampleGoldenSet();
  return withSample(config, undefined, undefined, async ({ app, engines, sample }) => {
    const tune = golden.queries.filter((query) => halfOf(query) === 'tune');
    const labelled = await labelCandidates(app.retrieveDeps, SAMPLE_NAMESPACE, tune, (key) =>
      sample.ids.get(key),
    );
    const { model } = engines.embedder;
    const fitted: FittedScore = {
      ...fitScore(labelled, {
        embeddingModel: model.id,
        fittedOn: `tuning half of sample golden set ${golden.digest}: ${tune.length} queries`,
      }),
      nearDuplicates: await fitSimilarities(engines),
    };
    if (labelled.some(({ embedding }) => embedding.tokenVectors === undefined))
      return { fitted, crossValidated: [] };
    const centre = app.centres.meanOf(SAMPLE_NAMESPACE);
    const queries = await prepareQueries(labelled, {
      scoreModel: createScoreModel(model.id, fitted),
      notes: app.retrieveDeps.store.notes,
      centre,
    });
    const lateInteraction = fitLateInteraction(queries, centre);
    return { fitted: { ...fitted, lateInteraction }, crossValidated: crossValidate(queries) };
  });
}

/** Limits of the write path on the tuning half of the labelled pairs. */
async function fitSimilarities({ embedder }: Engines): Promise<FittedScore['nearDuplicates']> {
  const { entries, digest } = await labelledPairs();
  const tune = entries.filter(({ half }) => half === 'tune');
  const limits = fitNearDuplicates(await measurePairs(tune, embedder));
  return { ...limits, fittedOn: `tuning half of labelled pairs ${digest}: ${tune.length} pairs` };
}

export async function withSample<T>(
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
