import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createOnnxEmbedder } from '../../../src/adapters/onnx/create-onnx-embedder.js';
import { createOnnxReranker } from '../../../src/adapters/onnx/create-onnx-reranker.js';
import type { EmbeddingEntry, RerankingEntry } from '../../../src/models/manifest-schema.js';
import { readModelDirectory } from '../../../src/models/model-directory.js';
import { buildForNode } from '../../models/installed-model.js';

const models = fileURLToPath(new URL('../../fixtures/models/', import.meta.url));
// Node drops the query of a worker's own URL, so a data URL imports the file with it.
const faultyFile = new URL('./faulty-worker.mjs', import.meta.url).href;
const faulty = (fault: string) =>
  new URL(`data:text/javascript,${encodeURIComponent(`await import('${faultyFile}?fault=${fault}')`)}`);
let folder: string;
beforeAll(() => buildForNode());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'errata-canary-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const runtimeDir = () => join(folder, 'runtime');
const canaryFile = async () => {
  const [name, ...more] = (await readdir(runtimeDir())).filter((one) => one.endsWith('.canary.json'));
  expect(more).toEqual([]);
  return join(runtimeDir(), name ?? 'none');
};

async function embedder(workerEntry?: URL): Promise<void> {
  const modelDir = join(models, 'tiny-bert-cls');
  const manifestEntry = (await readModelDirectory(modelDir, undefined)) as EmbeddingEntry;
  expect(manifestEntry.canary).toBeUndefined();
  const options = { modelDir, manifestEntry, workers: 1, runtimeDir: runtimeDir(), workerEntry };
  await (await createOnnxEmbedder(options)).close();
}

async function reranker({ alone = false, place = runtimeDir() } = {}): Promise<readonly string[]> {
  const modelDir = join(models, 'tiny-bert-reranker');
  const manifestEntry = (await readModelDirectory(modelDir, undefined)) as RerankingEntry;
  const warnings: string[] = [];
  const onWarning = ({ message }: Error) => void warnings.push(message);
  const options = { modelDir, manifestEntry, workers: 1, runtimeDir: place, alone, onWarning };
  await (await createOnnxReranker(options)).close();
  return warnings;
}

describe('a model without a canary in the manifest', () => {
  it('is held to the vector of its first start', async () => {
    await embedder();
    const file = await canaryFile();
    const first = await readFile(file, 'utf8');
    await embedder();
    expect(await readFile(file, 'utf8')).toBe(first);
    // A runtime that gives other numbers, and unit vectors all the same.
    await expect(embedder(faulty('canary'))).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: /cosine of at least/,
    });
    expect(await readFile(file, 'utf8')).toBe(first);
  });

  it('keeps no canary of a start that fails', async () => {
    await expect(embedder(faulty('nan-logit'))).rejects.toMatchObject({ code: 'INVALID_VECTOR' });
    await embedder();
    await embedder();
  });

  it('is held to the logits of its first start where it reranks', async () => {
    await reranker();
    await reranker();
    const file = await canaryFile();
    const { logits } = JSON.parse(await readFile(file, 'utf8')) as { logits: number[] };
    expect(logits).toHaveLength(3);
    await writeFile(file, JSON.stringify({ logits: logits.map((one) => one + 0.2) }));
    await expect(reranker()).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: /of its first start/,
    });
  });

  it('has one as a reranker and another one as a classifier, which reads passages alone', async () => {
    await reranker();
    await reranker({ alone: true });
    expect((await readdir(runtimeDir())).filter((one) => one.endsWith('.canary.json'))).toHaveLength(2);
    await reranker();
    await reranker({ alone: true });
  });

  it('serves as a reranker where nothing can be kept, and says so', async () => {
    await writeFile(join(folder, 'file'), '');
    expect(await reranker({ place: join(folder, 'file', 'below') })).toContain(
      'Expected to keep the canary, received an error',
    );
  });

  it('refuses a damaged canary, since trusting anew would trust what may be broken', async () => {
    await embedder();
    await writeFile(await canaryFile(), '{"text":');
    await expect(embedder()).rejects.toMatchObject({
      code: 'INVALID_FILE',
      message: /canary of tiny-bert-cls/,
    });
  });

  it('has a canary of its own with other weights', async () => {
    await embedder();
    const copy = join(folder, 'copy');
    await cp(join(models, 'tiny-xlmr-mean'), copy, { recursive: true });
    const manifestEntry = (await readModelDirectory(copy, undefined)) as EmbeddingEntry;
    const options = { modelDir: copy, manifestEntry, workers: 1, runtimeDir: runtimeDir() };
    await (await createOnnxEmbedder(options)).close();
    expect((await readdir(runtimeDir())).filter((one) => one.endsWith('.canary.json'))).toHaveLength(2);
  });
});
