import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { listSupportedBackends } from 'onnxruntime-node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createOnnxEmbedder } from '../../src/adapters/onnx/create-onnx-embedder.js';
import type { OnnxEmbedder } from '../../src/adapters/onnx/onnx-embedder.js';
import { benchModel } from '../../src/app/bench-models.js';
import { openEmbedder } from '../../src/app/open-models.js';
import { parseConfig } from '../../src/config/parse-config.js';
import type { ExecutionProvider } from '../../src/domain/inference.js';
import type { EmbeddingEntry } from '../../src/models/manifest-schema.js';
import { readModelDirectory } from '../../src/models/model-directory.js';
import type { Embedder } from '../../src/ports/embedder.js';
import { silentLogger } from '../../src/ports/logger.js';
import { buildForNode } from '../models/installed-model.js';

const modelDir = fileURLToPath(new URL('../fixtures/models/tiny-bert-cls', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'errata-providers-'));
const opened: Embedder[] = [];
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeAll(() => buildForNode());
afterEach(() => Promise.all(opened.splice(0).map((embedder) => embedder.close())));

async function open(providers: readonly ExecutionProvider[]): Promise<OnnxEmbedder> {
  const manifestEntry = (await readModelDirectory(modelDir, undefined)) as EmbeddingEntry;
  const embedder = await createOnnxEmbedder({ modelDir, manifestEntry, workers: 1, providers });
  opened.push(embedder);
  return embedder;
}

/** A device that works here, if any, and else why not: what skips the test on a real one. */
async function device(): Promise<{ provider: ExecutionProvider; missing?: string }> {
  await buildForNode();
  const candidates: readonly ExecutionProvider[] = ['cuda', 'dml', 'coreml'];
  const reasons: string[] = [];
  for (const provider of candidates) {
    try {
      await (await open([provider])).close();
      return { provider };
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  return { provider: 'cuda', missing: reasons.join(' | ') };
}
const { provider: present, missing } = await device();
if (missing !== undefined) console.warn(`The test on a real device is skipped: ${missing}`);

describe('execution providers', () => {
  it('are those that this build of ONNX Runtime names', () => {
    const names = listSupportedBackends().map(({ name }) => name);
    expect(names).toContain('cpu');
    if (process.platform === 'linux' && process.arch === 'x64') expect(names).toContain('cuda');
  });

  it.skipIf(missing === undefined)(
    'fall back to the processor, with the reason, and give its vectors',
    async () => {
      const fallen = await open(['cuda', 'tensorrt', 'cpu']);
      const runtime = fallen.runtime();
      expect(runtime?.provider).toBe('cpu');
      expect(runtime?.refused.map(({ provider }) => provider)).toEqual(['cuda', 'tensorrt']);
      for (const { reason } of runtime?.refused ?? []) expect(reason.length).toBeGreaterThan(5);
      const direct = await open(['cpu']);
      expect(direct.runtime()).toMatchObject({ provider: 'cpu', refused: [] });
      const [a] = await fallen.embed(['a text'], { kind: 'query' });
      const [b] = await direct.embed(['a text'], { kind: 'query' });
      expect(a?.vector).toEqual(b?.vector);
    },
  );

  it.skipIf(missing === undefined)('refuse to open where none of them can be had', async () => {
    await expect(open(['cuda'])).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: expect.stringContaining('cuda: '),
    });
  });

  it.skipIf(missing === undefined)(
    'are chosen by the settings; a missing device is one warning',
    async () => {
      const lines: { level: string; text: string; facts: object }[] = [];
      const to = (level: string) => (facts: object, text: string) => lines.push({ level, text, facts });
      const logger = { ...silentLogger, info: to('info'), warn: to('warn') };
      const flags = { 'execution-providers': 'cuda,cpu', embedder: modelDir };
      const config = parseConfig({ env: {}, flags: { ...flags, 'models-dir': folder } });
      opened.push(await openEmbedder(config, logger));
      const warnings = lines.filter(({ text }) => text.startsWith('local model: runs on'));
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toMatchObject({
        level: 'warn',
        text: 'local model: runs on cpu instead',
        facts: { provider: 'cpu', refused: [{ provider: 'cuda' }] },
      });
    },
  );

  it.skipIf(missing === undefined)('have a row each in the bench, also where one cannot run', async () => {
    const flags = { 'execution-providers': 'cuda,cpu', embedder: modelDir, 'models-dir': folder };
    const config = parseConfig({ env: {}, flags });
    const { speed } = await benchModel({ config, name: modelDir, signal: new AbortController().signal });
    expect(speed).toMatchObject([
      { provider: 'cuda', precision: 'fp32', refused: expect.stringContaining('cuda') },
      { provider: 'cpu', precision: 'fp32', p50Ms: expect.any(Number), textsPerSecond: expect.any(Number) },
    ]);
  });

  it.skipIf(missing !== undefined)('give close vectors on a real device', async () => {
    const texts = ['a text', 'another, longer text about a library that nothing loads'];
    const onDevice = await open([present]);
    expect(onDevice.runtime()).toMatchObject({ provider: present, sessions: 1 });
    const there = await onDevice.embed(texts, { kind: 'passage' });
    const here = await (await open(['cpu'])).embed(texts, { kind: 'passage' });
    for (const [at, { vector }] of there.entries())
      for (const [d, value] of vector.entries())
        expect(Math.abs(value - (here[at]?.vector[d] ?? 0))).toBeLessThan(1e-3);
  });

  it('are checked by the settings', () => {
    const of = (list: string) => () => parseConfig({ env: { ERRATA_EXECUTION_PROVIDERS: list } });
    expect(of('CUDA, cpu')().executionProviders).toEqual(['cuda', 'cpu']);
    expect(parseConfig({ env: {} }).executionProviders).toEqual(['cpu']);
    for (const bad of ['gpu', 'cpu,cpu', 'cuda,,cpu'])
      expect(of(bad)).toThrowError(expect.objectContaining({ code: 'INVALID_CONFIG' }));
  });
});
