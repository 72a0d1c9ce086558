// What the starter embedder is fitted to: the teacher's vectors of many texts and of every vocabulary entry alone.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import ort from 'onnxruntime-node';
import { embedTexts } from '../../bench/index/real-vectors.mjs';
import { HubTokenizer } from '../../dist/adapters/onnx/hub-tokenizer.js';
import { tokenWeights } from '../../dist/adapters/static/static-vectors.js';
import { openEngines } from '../../dist/app/installation.js';
import { parseConfig } from '../../dist/config/parse-config.js';
import { findModel } from '../../dist/models/model-directory.js';
import { normaliseInPlace, poolTokens } from '../../dist/models/pooling.js';
import { trainingTexts } from './texts.mjs';

const cache = fileURLToPath(new URL('../../.cache/starter/', import.meta.url));
export const TEACHER = 'all-MiniLM-L6-v2';
/** Of WordNet's texts those are taken that have a token which fewer texts before them have: 8% of them at 1. */
const TEXTS_A_TOKEN = 1;
/** Texts that are tokenized at a time. */
const BATCH = 4_096;

/**
 * `{ size, alone: [tokens, size], corpus: { offsets, ids }, targets: [texts, size], tokenizer }`. The first run takes some minutes
 * on two quiet cores; what was embedded is kept in .cache.
 */
export async function collect(log) {
  mkdirSync(cache, { recursive: true });
  const config = parseConfig({ env: {}, flags: { embedder: TEACHER } });
  const { entry, directory } = await findModel(TEACHER, { cacheDir: config.modelsDir });
  const tokenizer = await HubTokenizer.open(path.join(directory, 'tokenizer.json'), entry.maxTokens);
  const { dimensions: size } = entry;
  const alone = await tokensAlone(directory, size, log);
  const parts = [];
  const engines = await openEngines(config);
  try {
    const counts = new Uint32Array(alone.length / size);
    for (const { name, texts: all, onlyRare } of trainingTexts(cache)) {
      const texts = withRareTokens(all, await tokenize(tokenizer, all), counts, onlyRare);
      log(`${name}: ${texts.length} texts`);
      parts.push({ texts, targets: await embedTexts(texts, engines.embedder, log) });
    }
  } finally {
    await engines.close();
  }
  const corpus = await tokenize(
    tokenizer,
    parts.flatMap(({ texts }) => texts),
  );
  const targets = new Float32Array((corpus.offsets.length - 1) * size);
  let at = 0;
  for (const part of parts) {
    targets.set(part.targets, at);
    at += part.targets.length;
  }
  return { size, alone, corpus, targets, tokenizer };
}

/** The texts, or those among them with a token that is still rare; counts the tokens of what it takes. */
function withRareTokens(texts, { offsets, ids }, counts, onlyRare) {
  return texts.filter((_, text) => {
    const own = ids.subarray(offsets[text], offsets[text + 1]);
    if (onlyRare && own.every((id) => counts[id] >= TEXTS_A_TOKEN)) return false;
    for (const id of new Set(own)) counts[id] += 1;
    return true;
  });
}

/** The teacher's vector of `[CLS] token [SEP]` for every entry of its vocabulary, pieces of words included: `[tokens, size]`. */
async function tokensAlone(directory, size, log) {
  const file = path.join(cache, 'alone.f32');
  if (existsSync(file)) {
    const bytes = readFileSync(file);
    return new Float32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  }
  const { model } = JSON.parse(readFileSync(path.join(directory, 'tokenizer.json'), 'utf8'));
  const { vocab } = model;
  const tokens = Object.keys(vocab).length;
  const session = await ort.InferenceSession.create(path.join(directory, 'onnx', 'model.onnx'), {
    intraOpNumThreads: 1,
  });
  const rows = new Float32Array(tokens * size);
  const int64 = (values) => new ort.Tensor('int64', BigInt64Array.from(values, BigInt), [1, values.length]);
  for (let id = 0; id < tokens; id += 1) {
    const ids = [vocab['[CLS]'], id, vocab['[SEP]']];
    const { last_hidden_state: hidden } = await session.run({
      input_ids: int64(ids),
      attention_mask: int64([1, 1, 1]),
      token_type_ids: int64([0, 0, 0]),
    });
    const vector = poolTokens(hidden.data, ids.length, size, 'mean');
    normaliseInPlace(vector);
    rows.set(vector, id * size);
    if (id % 10_000 === 0) log(`${id} of ${tokens} vocabulary entries embedded`);
  }
  await session.release();
  writeFileSync(file, Buffer.from(rows.buffer));
  return rows;
}

/** Token ids and weights as they are summed, special ones included: text `i` has `ids[offsets[i] … offsets[i + 1]]`. */
export async function tokenize(tokenizer, texts) {
  const encoded = [];
  for (let from = 0; from < texts.length; from += BATCH)
    encoded.push(
      ...(await Promise.all(texts.slice(from, from + BATCH).map((text) => tokenizer.encode(text)))),
    );
  const offsets = new Uint32Array(texts.length + 1);
  encoded.forEach(({ ids }, text) => {
    offsets[text + 1] = offsets[text] + ids.length;
  });
  const ids = new Uint32Array(offsets[texts.length]);
  const weights = new Float32Array(ids.length);
  encoded.forEach((one, text) => {
    ids.set(one.ids, offsets[text]);
    weights.set(tokenWeights(one.ids), offsets[text]);
  });
  return { offsets, ids, weights };
}
