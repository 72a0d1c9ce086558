import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { knownModel, parseManifest, shippedManifest } from '../../src/models/manifest.js';
import type { ModelManifest } from '../../src/models/manifest-schema.js';
import { embeddingModelId } from '../../src/models/model-id.js';
import { pinnedEmbedding } from './tiny-model.js';

const copy = (): ModelManifest => structuredClone(shippedManifest());
const parse = (change: (manifest: ModelManifest) => void) => {
  const manifest = copy();
  change(manifest);
  return () => parseManifest(JSON.stringify(manifest));
};

describe('model manifest', () => {
  it('ships all-MiniLM-L6-v2 as published by sentence-transformers', () => {
    expect(shippedManifest().defaultModel).toBe('all-MiniLM-L6-v2');
    expect(knownModel('all-MiniLM-L6-v2')).toMatchObject({
      dimensions: 384,
      pooling: 'mean',
      normalise: true,
      prefixes: { query: '', passage: '' },
      maxTokens: 256,
      dynamicQuantisation: true,
      licence: 'Apache-2.0',
    });
  });

  it.each([
    ['embedding', ['all-MiniLM-L6-v2', 'bge-small-en-v1.5', 'bge-base-en-v1.5', 'e5-small-v2']],
    ['embedding', ['multilingual-e5-small', 'bge-m3', 'gte-small', 'snowflake-arctic-embed-s']],
    ['reranking', ['ms-marco-MiniLM-L6-v2', 'ms-marco-TinyBERT-L2-v2', 'bge-reranker-base']],
    ['reranking', ['bge-reranker-v2-m3', 'mmarco-mMiniLMv2-L12-H384-v1']],
  ])('knows models for %s: %s', (task, names) => {
    for (const name of names) expect(knownModel(name).task).toBe(task);
  });

  it('gives other weights of a model for name:precision', () => {
    const plain = knownModel('ms-marco-MiniLM-L6-v2');
    expect(knownModel('ms-marco-MiniLM-L6-v2:int8')).toBe(plain);
    const full = knownModel('ms-marco-MiniLM-L6-v2:fp32');
    expect(full).toMatchObject({
      name: 'ms-marco-MiniLM-L6-v2:fp32',
      precision: 'fp32',
      dynamicQuantisation: false,
    });
    expect(full.files.map(({ path }) => path)).toEqual(plain.files.map(({ path }) => path));
    expect(full.files[0]).toMatchObject({ sizeBytes: 90_992_115 });
    expect(full.files[1]).toEqual(plain.files[1]);
    expect(full.sources[0]?.files).toMatchObject({ 'onnx/model.onnx': 'onnx/model.onnx' });
    // The known vector belongs to the other weights, the Maven jar holds only those.
    expect(knownModel('all-MiniLM-L6-v2:fp32')).toMatchObject({
      canary: undefined,
      sources: [{ kind: 'huggingface' }],
    });
    expect(() => knownModel('ms-marco-MiniLM-L6-v2:fp16')).toThrowError(/ms-marco-MiniLM-L6-v2:fp32/);
  });

  it('knows a model by its other names, and every name of a precision that the documents use', () => {
    expect(knownModel('mmarco-mMiniLMv2')).toBe(knownModel('mmarco-mMiniLMv2-L12-H384-v1'));
    expect(knownModel('mmarco-mMiniLMv2:fp32').name).toBe('mmarco-mMiniLMv2-L12-H384-v1:fp32');
    const root = path.resolve(import.meta.dirname, '../..');
    const pages = [
      path.join(root, 'README.md'),
      ...readdirSync(path.join(root, 'docs'))
        .filter((name) => name.endsWith('.md'))
        .map((name) => path.join(root, 'docs', name)),
    ];
    const named = pages.flatMap((page) =>
      Array.from(
        readFileSync(page, 'utf8').matchAll(/[\w.-]+:(?:int8|fp16|fp32)(?!\w)/gu),
        ([name]) => [path.basename(page), name] as const,
      ),
    );
    expect(named.length).toBeGreaterThanOrEqual(2);
    for (const [page, name] of named) expect(() => knownModel(name), `${page}: ${name}`).not.toThrow();
  });

  it('names the known models for an unknown one', () => {
    expect(() => knownModel('all-MiniLM-L12-v2')).toThrowError(
      /Expected a model of all-MiniLM-L6-v2, .*, received/,
    );
    expect(() => knownModel('../../etc')).toThrowError(expect.objectContaining({ code: 'UNKNOWN_MODEL' }));
  });

  it.each([
    ['an unknown key', (m: ModelManifest) => Object.assign(m.models[0]!, { speed: 1 })],
    [
      'a path that leaves the directory',
      (m: ModelManifest) => Object.assign(m.models[0]!.files[0]!, { path: '../x.onnx' }),
    ],
    ['an absolute path', (m: ModelManifest) => Object.assign(m.models[0]!.files[0]!, { path: '/x.onnx' })],
    [
      'a branch as revision',
      (m: ModelManifest) => Object.assign(m.models[0]!.sources[0]!, { revision: 'main' }),
    ],
    [
      'a source that lacks a file',
      (m: ModelManifest) => Object.assign(m.models[0]!.sources[1]!, { files: {} }),
    ],
    ['two weights', (m: ModelManifest) => Object.assign(m.models[0]!.files[1]!, { role: 'weights' })],
    ['a default that is not there', (m: ModelManifest) => Object.assign(m, { defaultModel: 'x' })],
    ['a name twice', (m: ModelManifest) => m.models.push(m.models[0]!)],
  ])('refuses %s', (_, change) => {
    expect(parse(change)).toThrowError(expect.objectContaining({ code: 'INVALID_CONFIG' }));
  });

  it('refuses what is not JSON', () => {
    expect(() => parseManifest('{')).toThrowError(expect.objectContaining({ code: 'INVALID_CONFIG' }));
  });

  it('changes the model id with everything that changes a vector, and with nothing else', () => {
    const entry = pinnedEmbedding('all-MiniLM-L6-v2');
    const id = embeddingModelId(entry);
    expect(id).toBe('all-MiniLM-L6-v2@a036f03bcc33');
    expect(embeddingModelId({ ...entry, licence: 'MIT', note: 'x' })).toBe(id);
    const others = [
      { ...entry, pooling: 'cls' as const },
      { ...entry, normalise: false },
      { ...entry, maxTokens: 128 },
      { ...entry, prefixes: { query: 'query: ', passage: '' } },
      { ...entry, files: entry.files.map((file) => ({ ...file, sha256: file.sha256.replace(/^./, '0') })) },
    ];
    const ids = others.map(embeddingModelId);
    expect(new Set([id, ...ids]).size).toBe(others.length + 1);
  });
});
