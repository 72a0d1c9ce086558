import { describe, expect, it } from 'vitest';
import { type ModelManifest, modelEntry, parseManifest, shippedManifest } from '../../src/models/manifest.js';
import { embeddingModelId } from '../../src/models/model-id.js';

const copy = (): ModelManifest => structuredClone(shippedManifest());
const parse = (change: (manifest: ModelManifest) => void) => {
  const manifest = copy();
  change(manifest);
  return () => parseManifest(JSON.stringify(manifest));
};

describe('model manifest', () => {
  it('ships all-MiniLM-L6-v2 as published by sentence-transformers', () => {
    expect(shippedManifest().defaultModel).toBe('all-MiniLM-L6-v2');
    expect(modelEntry('all-MiniLM-L6-v2')).toMatchObject({
      dimensions: 384,
      pooling: 'mean',
      normalise: true,
      prefixes: { query: '', passage: '' },
      maxTokens: 256,
      dynamicQuantisation: true,
      licence: 'Apache-2.0',
    });
  });

  it('names the known models for an unknown one', () => {
    expect(() => modelEntry('all-MiniLM-L12-v2')).toThrowError(
      /Expected a model of all-MiniLM-L6-v2, received/,
    );
    expect(() => modelEntry('../../etc')).toThrowError(expect.objectContaining({ code: 'UNKNOWN_MODEL' }));
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
    const entry = modelEntry('all-MiniLM-L6-v2');
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
