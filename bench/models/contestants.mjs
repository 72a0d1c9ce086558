// Whoever embeds the same texts with the same model file: Errata, the bare runtime, and transformers.js.

import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { createOnnxEmbedder } from '../../dist/adapters/onnx/create-onnx-embedder.js';
import { createOnnxReranker } from '../../dist/adapters/onnx/create-onnx-reranker.js';
import { HubTokenizer } from '../../dist/adapters/onnx/hub-tokenizer.js';
import { parseConfig } from '../../dist/config/parse-config.js';
import { installedModel } from '../../dist/models/installed-models.js';
import { readModelDirectory } from '../../dist/models/model-directory.js';
import { loadRival } from '../index/install-rivals.mjs';

const MODEL = 'all-MiniLM-L6-v2';

export function benchModel() {
  const { entry, directory } = installedModel(MODEL, {
    cacheDir: parseConfig({ env: process.env }).modelsDir,
  });
  return { entry, directory, weightsPath: path.join(directory, 'onnx', 'model.onnx') };
}

export function openErrata(threads) {
  const { entry, directory } = benchModel();
  return createOnnxEmbedder({ modelDir: directory, manifestEntry: entry, workers: threads });
}

/** `run(inputs)` resolves when every text went through the model, `threads` at a time. */
export async function openBare(threads, weightsPath = benchModel().weightsPath) {
  const workers = Array.from(
    { length: threads },
    () => new Worker(new URL('bare-worker.mjs', import.meta.url), { workerData: { weightsPath } }),
  );
  await Promise.all(workers.map((worker) => once(worker, 'message')));
  return {
    async run(texts) {
      const counter = new SharedArrayBuffer(4);
      const done = workers.map((worker) => once(worker, 'message'));
      for (const worker of workers) worker.postMessage({ texts, counter });
      await Promise.all(done);
    },
    close: () => Promise.all(workers.map((worker) => worker.terminate())),
  };
}

const wide = (numbers) => BigInt64Array.from(numbers, BigInt);

export function openTokenizer() {
  const { entry, directory } = benchModel();
  return HubTokenizer.open(path.join(directory, 'tokenizer.json'), entry.maxTokens);
}

/** Token ids as the model wants them. */
export async function tokenize(texts) {
  const tokenizer = await openTokenizer();
  const encoded = [];
  for (const text of texts) {
    const { ids } = await tokenizer.encode(text);
    encoded.push({ ids: wide(ids), typeIds: new BigInt64Array(ids.length) });
  }
  return encoded;
}

/** Our cross-encoder over a model directory, and the bare runtime's inputs for the same pairs. */
export async function openReranker(folder, threads) {
  const manifestEntry = await readModelDirectory(folder, undefined);
  const tokenizer = await HubTokenizer.open(path.join(folder, 'tokenizer.json'), manifestEntry.maxTokens);
  const reranker = await createOnnxReranker({
    modelDir: folder,
    manifestEntry,
    workers: threads,
    timeoutMs: 60_000,
  });
  return {
    reranker,
    async inputsOf(query, passages) {
      const pairs = await tokenizer.encodePairs(query, passages);
      return pairs.map(({ ids, typeIds }) => ({ ids: wide(ids), typeIds: wide(typeIds) }));
    },
  };
}

/** transformers.js on the same weights and tokenizer, or `{ missing }`. Its own files beside them say what the model is. */
export async function openTransformers(options) {
  const { module, missing } = loadRival('@huggingface/transformers', options);
  if (module === undefined) return { missing };
  const folder = mkdtempSync(path.join(tmpdir(), 'errata-bench-'));
  const { directory, weightsPath } = benchModel();
  const model = path.join(folder, MODEL);
  mkdirSync(path.join(model, 'onnx'), { recursive: true });
  symlinkSync(weightsPath, path.join(model, 'onnx', 'model.onnx'));
  symlinkSync(path.join(directory, 'tokenizer.json'), path.join(model, 'tokenizer.json'));
  writeFileSync(path.join(model, 'config.json'), JSON.stringify({ model_type: 'bert' }));
  const tokenizer = {
    tokenizer_class: 'BertTokenizer',
    do_lower_case: true,
    model_max_length: 256,
    pad_token: '[PAD]',
    unk_token: '[UNK]',
    cls_token: '[CLS]',
    sep_token: '[SEP]',
    mask_token: '[MASK]',
  };
  writeFileSync(path.join(model, 'tokenizer_config.json'), JSON.stringify(tokenizer));
  Object.assign(module.env, { allowRemoteModels: false, localModelPath: folder });
  const extract = await module.pipeline('feature-extraction', MODEL, { dtype: 'fp32', device: 'cpu' });
  return {
    /** One `[dimensions]` row a text. */
    async embed(texts) {
      const output = await extract(texts, { pooling: 'mean', normalize: true });
      return output.tolist();
    },
    async close() {
      await extract.dispose();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Texts of very different length, about 5 to 200 tokens; no two alike. */
export function mixedTexts(count, lessonOf) {
  return Array.from({ length: count }, (_, index) => {
    const sentences = 1 + ((index * 7919) % 12);
    const parts = Array.from({ length: sentences }, (__, part) => lessonOf(index * 13 + part));
    return index % 5 === 0 ? `Case ${index}: ${parts[0].split(' ').slice(0, 4).join(' ')}` : parts.join(' ');
  });
}
