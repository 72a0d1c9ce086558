import { createHash } from 'node:crypto';
import { knownModel, parseManifest } from '../../src/models/manifest.js';
import type { EmbeddingEntry, ModelManifest } from '../../src/models/manifest-schema.js';
import { pinnedModel } from '../../src/models/pins.js';

/** Two small files that pulls can move around: what is in them does not matter to a pull. */
export const TINY_FILES: Readonly<Record<string, Buffer>> = {
  'onnx/model.onnx': Buffer.from('weights '.repeat(20_000)),
  'tokenizer.json': Buffer.from('{"tokens":[]}'),
};
export const TINY_HUB_NAMES = {
  'onnx/model.onnx': 'onnx/model_quantized.onnx',
  'tokenizer.json': 'tokenizer.json',
};
export const TINY_JAR_NAMES = { 'onnx/model.onnx': 'tiny.onnx', 'tokenizer.json': 'tiny-tokenizer.json' };
export const TINY_REVISION = '0123456789abcdef0123456789abcdef01234567';

/** A manifest with the one model `tiny`, from a hub and from Maven. */
export function tinyManifest(): ModelManifest {
  const files = Object.entries(TINY_FILES).map(([path, bytes]) => ({
    path,
    role: path === 'tokenizer.json' ? 'tokenizer' : 'weights',
    sizeBytes: bytes.length,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  }));
  const sources = [
    { kind: 'huggingface', repo: 'someone/tiny', revision: TINY_REVISION, files: TINY_HUB_NAMES },
    { kind: 'maven', artifact: 'org.example:tiny:1.0', files: TINY_JAR_NAMES },
  ];
  const model = {
    name: 'tiny',
    task: 'embedding',
    licence: 'Apache-2.0',
    dimensions: 4,
    pooling: 'mean',
    normalise: true,
    prefixes: { query: '', passage: '' },
    maxTokens: 16,
    precision: 'fp32',
    dynamicQuantisation: false,
    files,
    sources,
  };
  return parseManifest(JSON.stringify({ version: 1, defaultModel: 'tiny', models: [model] }));
}

/** An embedding model of a manifest that pins every file. */
export function pinnedEmbedding(name: string, manifest?: ModelManifest): EmbeddingEntry {
  const entry = pinnedModel(knownModel(name, manifest), {});
  if (entry?.task !== 'embedding') throw new Error(`Expected a pinned embedding model, received ${name}`);
  return entry;
}
