import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createOnnxEmbedder,
  type OnnxEmbedderOptions,
} from '../../../src/adapters/onnx/create-onnx-embedder.js';
import { createOnnxReranker } from '../../../src/adapters/onnx/create-onnx-reranker.js';
import type { EmbeddingEntry, RerankingEntry } from '../../../src/models/manifest-schema.js';
import { readModelDirectory } from '../../../src/models/model-directory.js';
import { buildForNode } from '../../models/installed-model.js';

const models = fileURLToPath(new URL('../../fixtures/models/', import.meta.url));
const modelDir = join(models, 'tiny-bert-cls');
const texts = ['a text', 'another one about a library', 'a text that is a little longer than the others are'];
let folder: string;
beforeAll(() => buildForNode());
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'errata-runtime-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** One start: what it ran on, its vectors, and what it warned of. */
async function start(options: Partial<OnnxEmbedderOptions> = {}) {
  const warnings: string[] = [];
  const manifestEntry = (await readModelDirectory(modelDir, undefined)) as EmbeddingEntry;
  const embedder = await createOnnxEmbedder({
    ...{ modelDir, manifestEntry, workers: 2, runtimeDir: folder },
    onWarning: (error) => warnings.push(error.message),
    ...options,
  });
  try {
    const embedded = await embedder.embed(texts, { kind: 'passage' });
    return { runtime: embedder.runtime(), vectors: embedded.map(({ vector }) => [...vector]), warnings };
  } finally {
    await embedder.close();
  }
}
const filesOf = (ending: string) => readdirSync(folder).filter((name) => name.endsWith(ending));

describe('what a start keeps for the next one', () => {
  it('is the optimised graph and the layout; the vectors stay the same', async () => {
    const first = await start();
    expect(first.runtime).toMatchObject({ layout: 'MEASURED', graphRemembered: false, provider: 'cpu' });
    expect(first.warnings).toEqual([]);
    expect([filesOf('.onnx').length, filesOf('.onnx.json').length, filesOf('.notes.json').length]).toEqual([
      1, 1, 1,
    ]);
    expect(filesOf('.part')).toEqual([]);
    const second = await start();
    expect(second.runtime).toMatchObject({ layout: 'REMEMBERED', graphRemembered: true });
    expect(second.runtime?.sessions).toBe(first.runtime?.sessions);
    expect(second.vectors).toEqual(first.vectors);
    expect((await start({ runtimeDir: undefined })).vectors).toEqual(first.vectors);
  });

  it('is the graph of a reranker, too', async () => {
    const dir = join(models, 'tiny-bert-reranker');
    const manifestEntry = (await readModelDirectory(dir, undefined)) as RerankingEntry;
    const rerank = async () => {
      const reranker = await createOnnxReranker({
        modelDir: dir,
        manifestEntry,
        workers: 1,
        runtimeDir: folder,
      });
      const logits = await reranker.rerank('netty', texts);
      await reranker.close();
      return { remembered: reranker.runtime()?.graphRemembered, logits };
    };
    const first = await rerank();
    expect(first.remembered).toBe(false);
    expect(await rerank()).toEqual({ remembered: true, logits: first.logits });
  });

  it('is made anew where the graph was damaged, truncated or is none that the runtime reads', async () => {
    const { vectors } = await start();
    const [name = ''] = filesOf('.onnx');
    const file = join(folder, name);
    const whole = readFileSync(file);
    const damaged = Buffer.from(whole);
    damaged.fill(0x5a, 40, 400);
    for (const bytes of [damaged, whole.subarray(0, whole.length / 2)]) {
      writeFileSync(file, bytes);
      const again = await start();
      expect(again.runtime?.graphRemembered).toBe(false);
      expect(again.vectors).toEqual(vectors);
      expect(readFileSync(file).equals(whole)).toBe(true);
      expect((await start()).runtime?.graphRemembered).toBe(true);
    }
    // Whole by its digest, yet no model: the runtime refuses it, and the start after that makes a new one.
    const { createHash } = await import('node:crypto');
    const wrong = Buffer.from('no model at all');
    writeFileSync(file, wrong);
    const sha256 = createHash('sha256').update(wrong).digest('hex');
    writeFileSync(`${file}.json`, JSON.stringify({ sizeBytes: wrong.length, sha256 }));
    expect((await start()).vectors).toEqual(vectors);
    expect(existsSync(file)).toBe(false);
    await start();
    expect((await start()).runtime?.graphRemembered).toBe(true);
  });

  it('replaces what other runtimes and killed starts have left', async () => {
    await start();
    const [name = ''] = filesOf('.onnx');
    const weights = name.slice(0, 16);
    rmSync(join(folder, name));
    writeFileSync(join(folder, `${weights}-0123456789abcdef.onnx`), 'of another runtime');
    writeFileSync(join(folder, 'ffffffffffffffff-0123456789abcdef.onnx'), 'of another model');
    const left = join(folder, `${weights}.left.part`);
    writeFileSync(left, 'half a graph');
    utimesSync(left, 1, 1);
    await start();
    expect(filesOf('.onnx').sort()).toEqual([name, 'ffffffffffffffff-0123456789abcdef.onnx'].sort());
    expect(filesOf('.part')).toEqual([]);
  });

  it('is measured anew for another number of threads, and where the notes are damaged', async () => {
    await start();
    expect((await start({ workers: 3 })).runtime?.layout).toBe('MEASURED');
    const [notes = ''] = filesOf('.notes.json');
    writeFileSync(join(folder, notes), '{"provider":"abacus"}');
    expect((await start()).runtime?.layout).toBe('MEASURED');
    expect((await start()).runtime?.layout).toBe('REMEMBERED');
  });

  it('is nothing where the folder cannot be made: one warning each, and the model serves', async () => {
    writeFileSync(join(folder, 'file'), '');
    const { runtime, warnings } = await start({ runtimeDir: join(folder, 'file', 'below') });
    expect(runtime?.layout).toBe('MEASURED');
    expect(warnings).toEqual([
      'Expected a folder for optimised graphs, received an error',
      'Expected to keep what was measured, received an error',
      'Expected to keep the canary, received an error',
    ]);
  });

  it('is not asked where the layout was set', async () => {
    const { runtime } = await start({ workers: 1, threadsPerWorker: 2 });
    expect(runtime).toMatchObject({ sessions: 1, threadsPerSession: 2, layout: 'CONFIGURED' });
  });
});
