import { join } from 'node:path';
import { createHostedEmbedder } from '../adapters/hosted/hosted-embedder.js';
import { HostedReranker } from '../adapters/hosted/hosted-reranker.js';
import { parseHostedName } from '../adapters/hosted/hosted-shapes.js';
import { createProxyFetch } from '../adapters/http/proxy-fetch.js';
import { createOnnxClassifier } from '../adapters/onnx/create-onnx-classifier.js';
import { createOnnxReranker } from '../adapters/onnx/create-onnx-reranker.js';
import type { Config } from '../config/config.js';
import { ErrataError } from '../domain/errors.js';
import { redactSecrets } from '../guard/redact-secrets.js';
import { RUNTIME_FOLDER } from '../models/installed-models.js';
import { shippedManifest } from '../models/manifest.js';
import { findModel } from '../models/model-directory.js';
import type { Embedder } from '../ports/embedder.js';
import type { Logger } from '../ports/logger.js';
import type { LocalRuntime } from '../ports/model-runtime.js';
import type { Reranker } from '../ports/reranker.js';
import type { TextClassifier } from '../ports/text-classifier.js';
import { LATE_INTERACTION } from '../retrieval/rerank-candidates.js';
import { openLocalEmbedder } from './open-local-embedder.js';

/** Secrets do not leave the machine, whatever a query holds; notes were redacted when they were written. */
export function redactionOf({ redactPhones: phones }: Config): (text: string) => string {
  return (text) => redactSecrets(text, { phones }).text;
}

function refuseOffline(config: Config, name: string): void {
  if (!config.offline) return;
  throw new ErrataError(
    'INVALID_CONFIG',
    `Expected a local model for ${name}, received a hosted one together with ERRATA_OFFLINE (--offline)`,
  );
}

/** Opens the embedder that the settings name: a known model, a folder, or a hosted one (`openai:text-embedding-3-small`). */
export async function openEmbedder(config: Config, logger: Logger): Promise<Embedder> {
  const hosted = parseHostedName(config.embedder);
  if (hosted === undefined) return openInstalled(config, logger);
  refuseOffline(config, 'ERRATA_EMBEDDER');
  const embedder = await createHostedEmbedder({
    name: hosted,
    baseUrl: config.embedderUrl,
    key: config.embedderKey,
    prefixes: knownPrefixes(hosted.model),
    fetch: createProxyFetch(config.proxies),
    redact: redactionOf(config),
  });
  const close = embedder.close.bind(embedder);
  embedder.close = async () => {
    logger.info({ model: embedder.model.name, ...embedder.usage() }, 'hosted embedder: usage');
    await close();
  };
  return embedder;
}

/** A server of open models (vLLM, Ollama, TEI) embeds the text as it comes: E5 and BGE still want their prefixes. */
function knownPrefixes(model: string) {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  const known = shippedManifest().models.find((one) => one.name.toLowerCase() === name);
  return known?.task === 'embedding' ? known.prefixes : undefined;
}

async function openInstalled(config: Config, logger: Logger): Promise<Embedder> {
  const { entry, directory } = await findModel(config.embedder, { cacheDir: config.modelsDir });
  if (entry.task !== 'embedding')
    throw new ErrataError(
      'UNKNOWN_MODEL',
      'Expected an embedding model for ERRATA_EMBEDDER (--embedder), received a reranking one',
    );
  const embedder = await openLocalEmbedder({
    ...inferenceOptions(config),
    modelDir: directory,
    manifestEntry: entry,
    batches: config.batches,
    onWarning: (error) => logger.warn({ error }, 'embedding model: degraded'),
  });
  logRuntime(logger, entry.name, embedder.runtime?.());
  const { id, notice } = embedder.model;
  if (notice !== undefined) logger.warn({ model: id }, notice);
  return embedder;
}

/** What every local model is opened with; optimised graphs and measurements lie beside the models. */
function inferenceOptions(config: Config) {
  const { workers, executionProviders: providers, modelsDir } = config;
  return { workers, providers, runtimeDir: join(modelsDir, RUNTIME_FOLDER) };
}

/** One line a model; a provider that was asked for and cannot be had is worth a warning, and the next one serves. */
function logRuntime(logger: Logger, model: string, runtime: LocalRuntime | undefined): void {
  if (runtime === undefined) return;
  const { refused, ...facts } = runtime;
  if (refused.length === 0) logger.info({ model, ...facts }, 'local model: opened');
  else logger.warn({ model, ...facts, refused }, `local model: runs on ${facts.provider} instead`);
}

/** The classifier that the injection screen asks beside its rules, if the settings name one. */
export async function openScreenModel(config: Config, logger: Logger): Promise<TextClassifier | undefined> {
  if (config.screenModel === undefined) return undefined;
  const { entry, directory } = await findModel(config.screenModel, { cacheDir: config.modelsDir });
  if (entry.task !== 'reranking')
    throw new ErrataError(
      'UNKNOWN_MODEL',
      'Expected a sequence classifier for ERRATA_SCREEN_MODEL (--screen-model), received an embedding model',
    );
  return createOnnxClassifier({
    ...inferenceOptions(config),
    modelDir: directory,
    manifestEntry: entry,
    onWarning: (error) => logger.warn({ error }, 'screening model: degraded'),
  });
}

/** The cross-encoder or hosted reranker that the settings name, if they name one. */
export async function openReranker(config: Config, logger: Logger): Promise<Reranker | undefined> {
  if (config.reranker === undefined || config.reranker === LATE_INTERACTION) return undefined;
  const hosted = parseHostedName(config.reranker);
  if (hosted !== undefined) {
    refuseOffline(config, 'ERRATA_RERANKER');
    const fetch = createProxyFetch(config.proxies);
    const reranker = new HostedReranker({
      name: hosted,
      baseUrl: config.rerankerUrl,
      key: config.rerankerKey,
      fetch,
      redact: redactionOf(config),
    });
    const close = reranker.close.bind(reranker);
    reranker.close = async () => {
      logger.info({ model: reranker.modelId, ...reranker.usage() }, 'hosted reranker: usage');
      await close();
    };
    return reranker;
  }
  const { entry, directory } = await findModel(config.reranker, { cacheDir: config.modelsDir });
  if (entry.task !== 'reranking')
    throw new ErrataError(
      'UNKNOWN_MODEL',
      `Expected ${LATE_INTERACTION}, none or a reranking model for ERRATA_RERANKER (--reranker), received an embedding one`,
    );
  const reranker = await createOnnxReranker({
    ...inferenceOptions(config),
    modelDir: directory,
    manifestEntry: entry,
    onWarning: (error) => logger.warn({ error }, 'reranking model: degraded'),
  });
  logRuntime(logger, entry.name, reranker.runtime());
  return reranker;
}
