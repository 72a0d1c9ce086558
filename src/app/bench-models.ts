import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createOnnxReranker } from '../adapters/onnx/create-onnx-reranker.js';
import type { ModelBenchRequest, ModelBenchResult, ModelSpeed, SpeedFigures } from '../cli/cli-deps.js';
import type { Config } from '../config/config.js';
import { ErrataError, isErrataError } from '../domain/errors.js';
import type { ExecutionProvider } from '../domain/inference.js';
import { compareReports, type MeasureComparison } from '../evaluation/compare-reports.js';
import type { EvaluationReport } from '../evaluation/report.js';
import { quantile } from '../evaluation/statistics/describe-sample.js';
import { type InstalledModel, RUNTIME_FOLDER } from '../models/installed-models.js';
import { findModel } from '../models/model-directory.js';
import type { LocalRuntime } from '../ports/model-runtime.js';
import { LATE_INTERACTION } from '../retrieval/rerank-candidates.js';
import { evaluateSample } from './evaluate-sample.js';
import { sampleTexts } from './load-sample.js';
import { openLocalEmbedder } from './open-local-embedder.js';

/** A difference counts where chance gives one as large in fewer than 5 of 100 sets. */
const SIGNIFICANT = 0.05;
/** Texts and queries of the speed run: about five seconds with MiniLM on two cores. */
const BULK_TEXTS = 400;
const SINGLE_TEXTS = 60;
/** As many as retrieval hands a reranker by default. */
const PAIRS = 20;

/**
 * Speed of a model on this machine and, for a reranker or with a golden set, its quality beside what is used by default.
 * Errors: as the models'; `ABORTED`.
 */
export async function benchModel(request: ModelBenchRequest): Promise<ModelBenchResult> {
  const { config, name, signal } = request;
  const { entry } = await findModel(name, { cacheDir: config.modelsDir });
  const speed: ModelSpeed[] = [];
  // Each provider alone, so that what cannot run here is seen instead of being replaced.
  for (const provider of config.executionProviders) {
    speed.push(await measureSpeed(config, name, provider));
    signal.throwIfAborted();
  }
  const reranks = entry.task === 'reranking';
  if (!reranks && request.golden === undefined) return { name, speed };
  const base: Config = reranks ? { ...config, reranker: LATE_INTERACTION } : config;
  const changed: Config = reranks ? { ...config, reranker: name } : { ...config, embedder: name };
  const evaluate = async (one: Config) => {
    const { notes, golden, onProgress } = request;
    return (await evaluateSample({ config: one, notes, golden, onProgress, signal }))
      .report as EvaluationReport;
  };
  const before = await evaluate(base);
  const after = await evaluate(changed);
  const { measures } = compareReports(before, after, 'all');
  const baseline = reranks ? LATE_INTERACTION : base.embedder;
  return {
    name,
    speed,
    quality: {
      baseline,
      queries: after.cases.length,
      measures: [
        ...measures.map(({ title, before, after, pValue }) => ({ title, before, after, pValue })),
        { title: 'AUC answerable (test)', before: before.answerableAuc, after: after.answerableAuc },
      ],
      queryMs: { before: medianMs(before), after: medianMs(after) },
      verdict: verdictOf(measures, name, baseline),
    },
  };
}

/** Median time of a query through the whole read path. */
function medianMs({ cases }: EvaluationReport): number {
  return quantile(
    cases.map(({ ms }) => ms).sort((a, b) => a - b),
    0.5,
  );
}

/** By nDCG@10, the measure that takes the whole order in; where it cannot tell, the set is too small or nothing differs. */
function verdictOf(measures: readonly MeasureComparison[], name: string, baseline: string): string {
  const order = measures.find((one) => one.name === 'ndcgAt10');
  if (order === undefined)
    throw new ErrataError('INVALID_INPUT', 'Expected answerable queries in the golden set, received none');
  const { before, after, pValue, detectable } = order;
  const change = `nDCG@10 ${before.toFixed(3)} → ${after.toFixed(3)}, p ${pValue < 0.001 ? '< 0.001' : `= ${pValue.toFixed(3)}`}`;
  if (pValue < SIGNIFICANT)
    return after > before
      ? `${name} is better than ${baseline}: ${change}`
      : `${name} is worse than ${baseline}: ${change}`;
  return `no difference between ${name} and ${baseline} that this set can show: ${change}; it finds differences from ${detectable.toFixed(3)} on`;
}

async function measureSpeed(config: Config, name: string, provider: ExecutionProvider): Promise<ModelSpeed> {
  const { entry, directory } = await findModel(name, { cacheDir: config.modelsDir });
  const { precision } = entry;
  try {
    return { provider, precision, ...(await measureOn(config, { entry, directory }, provider)) };
  } catch (error) {
    // The processor's failure is the model's; of other providers it is what the bench is there to show.
    if (provider === 'cpu' || !isErrataError(error, 'MODEL_UNAVAILABLE')) throw error;
    return { provider, precision, refused: error.message };
  }
}

async function measureOn(
  config: Config,
  { entry, directory }: InstalledModel,
  provider: ExecutionProvider,
): Promise<SpeedFigures> {
  const options = {
    modelDir: directory,
    workers: config.workers,
    providers: [provider],
    batches: config.batches,
    // As a start of the server has it, with what earlier ones have left.
    runtimeDir: join(config.modelsDir, RUNTIME_FOLDER),
  };
  const texts = sampleTexts();
  const started = performance.now();
  if (entry.task === 'reranking') {
    const reranker = await createOnnxReranker({ ...options, manifestEntry: entry, timeoutMs: 600_000 });
    const loadMs = performance.now() - started;
    try {
      const passages = Array.from({ length: PAIRS }, (_, at) => texts[at % texts.length] ?? '');
      const single = await timesOf(SINGLE_TEXTS, (at) =>
        reranker.rerank(texts[at % texts.length] ?? '', passages),
      );
      return { loadMs, unit: `${PAIRS} pairs`, ...single, ...layoutOf(reranker.runtime()) };
    } finally {
      await reranker.close();
    }
  }
  const embedder = await openLocalEmbedder({ ...options, manifestEntry: entry });
  const loadMs = performance.now() - started;
  try {
    const single = await timesOf(SINGLE_TEXTS, (at) =>
      embedder.embed([`${at} ${texts[at % texts.length]}`], { kind: 'query' }),
    );
    const bulk = Array.from({ length: BULK_TEXTS }, (_, at) => `${at} ${texts[at % texts.length]}`);
    const from = performance.now();
    await embedder.embed(bulk, { kind: 'passage', priority: 'bulk' });
    const textsPerSecond = (1_000 * BULK_TEXTS) / (performance.now() - from);
    return { loadMs, unit: 'query', ...single, textsPerSecond, ...layoutOf(embedder.runtime?.()) };
  } finally {
    await embedder.close();
  }
}

function layoutOf(runtime: LocalRuntime | undefined) {
  if (runtime === undefined) return {};
  const { sessions, threadsPerSession, batches } = runtime;
  return { sessions, threadsPerSession, batches };
}

/** One at a time; the first tenth is warm-up. */
async function timesOf(count: number, work: (at: number) => Promise<unknown>) {
  const times: number[] = [];
  for (let at = 0; at < count; at += 1) {
    const from = performance.now();
    await work(at);
    if (at >= count / 10) times.push(performance.now() - from);
  }
  times.sort((a, b) => a - b);
  return { p50Ms: quantile(times, 0.5), p95Ms: quantile(times, 0.95) };
}
