import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { HubTokenizer } from '../../../src/adapters/onnx/hub-tokenizer.js';
import { StaticEmbedder } from '../../../src/adapters/static/static-embedder.js';
import {
  packStaticVectors,
  parseStaticVectors,
  type StaticVectors,
} from '../../../src/adapters/static/static-vectors.js';
import { openLocalEmbedder } from '../../../src/app/open-local-embedder.js';
import { modelDirectory, removeModel, verifyModel } from '../../../src/models/installed-models.js';
import { pullModel } from '../../../src/models/pull-model.js';
import { pinnedEmbedding } from '../../models/tiny-model.js';

const entry = pinnedEmbedding('starter');
const directory = modelDirectory('/nowhere', entry);
const reference = JSON.parse(
  readFileSync(fileURLToPath(new URL('../../../models/starter/reference.json', import.meta.url)), 'utf8'),
) as readonly {
  readonly text: string;
  readonly ids: readonly number[];
  readonly vector: readonly number[];
}[];
const open = () => openLocalEmbedder({ modelDir: directory, manifestEntry: entry });
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Three tokens in two dimensions, of which the last one is zero. */
const tiny: StaticVectors = {
  tokens: 3,
  dimensions: 2,
  scales: Float32Array.of(0.5, 1, 0),
  rows: Int8Array.of(3, 4, 0, -127, 0, 0),
};

function copyOfStarter(): string {
  const folder = mkdtempSync(join(tmpdir(), 'errata-starter-'));
  folders.push(folder);
  cpSync(directory, folder, { recursive: true });
  return folder;
}

describe('the starter embedder', () => {
  it('gives the numbers that the script which made it wrote down', async () => {
    const embedder = await open();
    const tokenizer = await HubTokenizer.open(join(directory, 'tokenizer.json'), entry.maxTokens);
    expect(reference.length).toBeGreaterThanOrEqual(5);
    for (const { text, ids, vector } of reference) {
      expect([...(await tokenizer.encode(text)).ids]).toEqual(ids);
      const [embedding] = await embedder.embed([text], { kind: 'passage' });
      expect(embedding?.vector).toHaveLength(entry.dimensions);
      expect(embedding?.tokens).toBe(ids.length);
      vector.forEach((value, d) => {
        expect(embedding?.vector[d]).toBeCloseTo(value, 6);
      });
    }
    await embedder.close();
  });

  it('gives the same bits alone and among others, and counts what it cut', async () => {
    const embedder = await open();
    const texts = Array.from({ length: 150 }, (_, at) => `note ${at} about guard g${at}`);
    const together = await embedder.embed(texts, { kind: 'passage', priority: 'bulk' });
    for (const at of [0, 63, 64, 149]) {
      const [alone] = await embedder.embed([texts[at]!], { kind: 'query' });
      expect(alone?.vector).toEqual(together[at]?.vector);
    }
    const [long] = await embedder.embed(['word '.repeat(2_000)], { kind: 'passage' });
    expect(long).toMatchObject({ truncated: true, tokens: entry.maxTokens });
    expect(embedder.stats()).toMatchObject({ embeddedTexts: 155, truncatedTexts: 1 });
    await embedder.close();
  });

  it('gives unit token vectors with their places in the text, also beyond the basic plane', async () => {
    const embedder = await open();
    const text = '🙂 flag CVE-2021-44228';
    const [embedding] = await embedder.embed([text], { kind: 'query', tokenVectors: true });
    const { rows, spans } = embedding!.tokenVectors!;
    expect(rows.length).toBe(embedding!.tokens * entry.dimensions);
    for (let from = 0; from < rows.length; from += entry.dimensions)
      expect(Math.hypot(...rows.subarray(from, from + entry.dimensions))).toBeCloseTo(1, 5);
    const words = Array.from({ length: embedding!.tokens }, (_, at) =>
      text.slice(spans[2 * at], spans[2 * at + 1]),
    );
    expect(words.filter((word) => word !== '').join('')).toBe('🙂flagCVE-2021-44228');
    await embedder.close();
  });

  it('refuses after close and for an aborted signal', async () => {
    const embedder = await open();
    const signal = AbortSignal.abort();
    await expect(embedder.embed(['x'], { kind: 'query', signal })).rejects.toMatchObject({ code: 'ABORTED' });
    await embedder.close();
    await embedder.close();
    await expect(embedder.embed(['x'], { kind: 'query' })).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('is refused where a bit of its vectors differs', async () => {
    const folder = copyOfStarter();
    const file = join(folder, 'static-vectors.bin');
    const bytes = readFileSync(file);
    bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1;
    writeFileSync(file, bytes);
    await expect(openLocalEmbedder({ modelDir: folder, manifestEntry: entry })).rejects.toMatchObject({
      code: 'DIGEST_MISMATCH',
      message: expect.stringContaining('restore models/starter/static-vectors.bin'),
    });
  });

  it('needs no pull, cannot be removed, and has under 9 MB', async () => {
    await verifyModel(directory, entry);
    const nothing = async () => {
      throw new Error('no source may be asked');
    };
    const sources = { huggingface: nothing, maven: nothing, directory: nothing };
    expect(await pullModel('starter', { cacheDir: '/nowhere', sources })).toEqual({ entry, directory });
    await expect(removeModel('starter', { cacheDir: '/nowhere' })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
    expect(entry.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)).toBeLessThan(9_000_000);
  });
});

describe('static token vectors', () => {
  it('come back as they were packed', () => {
    expect(parseStaticVectors(packStaticVectors(tiny))).toEqual(tiny);
  });

  it.each([
    ['another file', (bytes: Buffer) => Buffer.from(`{"x":1}${bytes.toString('latin1')}`)],
    ['an empty file', () => Buffer.alloc(0)],
    ['a byte less', (bytes: Buffer) => bytes.subarray(0, -1)],
    ['a byte more', (bytes: Buffer) => Buffer.concat([bytes, Buffer.of(0)])],
    ['another version', (bytes: Buffer) => Buffer.from(bytes).fill(2, 8, 9)],
    ['a scale that is no number', (bytes: Buffer) => Buffer.from(bytes).fill(0xff, 20, 24)],
  ])('are refused as %s', (_, damage) => {
    expect(() => parseStaticVectors(damage(packStaticVectors(tiny)))).toThrowError(
      expect.objectContaining({ code: 'MODEL_UNAVAILABLE' }),
    );
  });

  it('are refused with a manifest of other dimensions, for an id beyond them, and where nothing is left', async () => {
    const tokenizer = (ids: readonly number[]) => ({
      maxTokens: 8,
      encode: async () => ({ ids: Int32Array.from(ids), truncated: false }),
      encodePairs: async () => [],
    });
    const of = (ids: readonly number[], dimensions = 2) =>
      new StaticEmbedder({ entry: { ...entry, dimensions }, tokenizer: tokenizer(ids), vectors: tiny });
    expect(() => of([0], 3)).toThrowError(/Expected 3 dimensions/);
    const embed = (ids: readonly number[]) => of(ids).embed(['x'], { kind: 'passage' });
    await expect(embed([3])).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' });
    await expect(embed([2])).rejects.toMatchObject({ code: 'INVALID_VECTOR' });
    const [first] = await embed([0, 2]);
    expect(first?.vector[0]).toBeCloseTo(0.6, 6);
    expect(first?.vector[1]).toBeCloseTo(0.8, 6);
  });
});
