import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOnnxEmbedder } from '../../../src/adapters/onnx/create-onnx-embedder.js';
import type { OnnxEmbedder } from '../../../src/adapters/onnx/onnx-embedder.js';
import type { BatchWish } from '../../../src/domain/inference.js';
import type { EmbeddingEntry } from '../../../src/models/manifest-schema.js';
import { findModel } from '../../../src/models/model-directory.js';
import { buildForNode, e5Small, miniLm, modelForTests } from '../../models/installed-model.js';

/** fp16 and int8 were made by scripts/reference/tiny_variants.py. */
const place = fileURLToPath(new URL('../../fixtures/models/tiny-bert-cls', import.meta.url));
const cacheDir = mkdtempSync(`${tmpdir()}/errata-variants-`);
const opened: OnnxEmbedder[] = [];
beforeAll(() => buildForNode());
afterAll(async () => {
  await Promise.all(opened.map((embedder) => embedder.close()));
  rmSync(cacheDir, { recursive: true, force: true });
});

async function open(name: string, batches?: BatchWish): Promise<OnnxEmbedder> {
  const { entry, directory } = await findModel(name, { cacheDir });
  const manifestEntry = entry as EmbeddingEntry;
  const embedder = await createOnnxEmbedder({ modelDir: directory, manifestEntry, workers: 1, batches });
  opened.push(embedder);
  return embedder;
}
/** Texts of few different lengths, so that many can share a run. */
const texts = Array.from(
  { length: 120 },
  (_, at) => `case ${at} ${'netty flood '.repeat(at % 4)}${at * 7919}`,
);
const bits = (vector: Float32Array) =>
  Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('hex');

/** All in one call, and each alone. */
async function bothWays(embedder: OnnxEmbedder, some: readonly string[] = texts) {
  const together = await embedder.embed(some, { kind: 'passage' });
  const alone: Float32Array[] = [];
  for (const text of some)
    alone.push((await embedder.embed([text], { kind: 'query' }))[0]?.vector as Float32Array);
  return { together: together.map(({ vector }) => vector), alone };
}

describe('weights of a precision, by name', () => {
  it('are their own models, and give nearly the same vectors', async () => {
    const embedders = await Promise.all(
      ['', ':fp32', ':fp16', ':int8'].map((suffix) => open(`${place}${suffix}`)),
    );
    const [plain, full, half, eighth] = embedders as [OnnxEmbedder, OnnxEmbedder, OnnxEmbedder, OnnxEmbedder];
    expect(full.model.id).toBe(plain.model.id);
    expect(new Set(embedders.map(({ model }) => model.id)).size).toBe(3);
    const vectors = await Promise.all(
      embedders.map((one) => one.embed(texts.slice(0, 20), { kind: 'passage' })),
    );
    const farthest = (other: number) =>
      Math.max(
        ...(vectors[other] ?? []).flatMap(({ vector }, at) =>
          Array.from(vector, (value, d) => Math.abs(value - (vectors[0]?.[at]?.vector[d] ?? 0))),
        ),
      );
    expect(farthest(1)).toBe(0);
    // Of components of unit vectors: halves have 11 bits, the weights' scale makes int8 of this model coarse.
    expect(farthest(2)).toBeGreaterThan(0);
    expect(farthest(2)).toBeLessThan(0.02);
    expect(farthest(3)).toBeGreaterThan(farthest(2));
    expect(farthest(3)).toBeLessThan(0.3);
    expect(half.runtime()?.provider).toBe('cpu');
    expect(eighth.model.dimensions).toBe(32);
  });
});

describe('the check for shared runs', () => {
  it('finds that fp32 texts of one length may share them, and every text has the same bits alone and in bulk', async () => {
    const embedder = await open(place);
    expect(embedder.runtime()?.batches).toBe('EQUAL_LENGTHS');
    const { together, alone } = await bothWays(embedder);
    expect(together.map(bits)).toEqual(alone.map(bits));
    const never = await open(place, 'off');
    expect(never.runtime()?.batches).toBe('ALONE');
    expect((await never.embed(texts, { kind: 'passage' })).map(({ vector }) => bits(vector))).toEqual(
      alone.map(bits),
    );
  });

  it('finds that dynamically quantised texts may not', async () => {
    for (const wish of ['exact', 'close'] as const) {
      const embedder = await open(`${place}:int8`, wish);
      expect(embedder.runtime()?.batches).toBe('ALONE');
      const { together, alone } = await bothWays(embedder);
      expect(together.map(bits)).toEqual(alone.map(bits));
    }
  });

  it('pads where rounding is allowed: close, whatever the lengths', async () => {
    const embedder = await open(place, 'close');
    expect(embedder.runtime()?.batches).toBe('PADDED');
    const uneven = texts.map((text, at) => `${text} ${'one more word '.repeat(at % 7)}`);
    const { together, alone } = await bothWays(embedder, uneven);
    for (const [at, vector] of together.entries())
      for (const [d, value] of vector.entries())
        expect(Math.abs(value - (alone[at]?.[d] ?? Number.NaN))).toBeLessThan(1e-5);
  });
});

const real = await Promise.all(
  [miniLm, e5Small].map(async (entry) => ({ entry, name: entry.name, ...(await modelForTests(entry)) })),
);
describe.each(real)('the check for shared runs of $name', ({ entry, directory, missing }) => {
  it.skipIf(missing !== undefined)('finds that its int8 texts may not', async () => {
    const embedder = await createOnnxEmbedder({ modelDir: directory, manifestEntry: entry, workers: 1 });
    opened.push(embedder);
    expect(embedder.runtime()?.batches).toBe('ALONE');
  });
});
