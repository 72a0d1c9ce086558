import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { createOnnxEmbedder } from '../../../src/adapters/onnx/create-onnx-embedder.js';
import type { EmbeddingEntry } from '../../../src/models/manifest-schema.js';
import { readModelDirectory } from '../../../src/models/model-directory.js';
import { buildForNode, e5Small, miniLm, modelForTests } from '../../models/installed-model.js';

const models = fileURLToPath(new URL('../../fixtures/models/', import.meta.url));
const mini = await modelForTests(miniLm);
const e5 = await modelForTests(e5Small);
beforeAll(() => buildForNode());

/** A test opens four embedders, on a machine that may be busy. */
const PATIENT_MS = 120_000;
/** Sessions × threads. */
const LAYOUTS = [
  [1, 1],
  [2, 1],
  [1, 2],
  [1, 3],
] as const;
/** Lengths that no number of threads divides, and one that is cut. */
const TEXTS = [
  '',
  'hello',
  'A reviewer found that the vulnerable class is not part of the delivered program.',
  'CVE-2021-44228: log4j-core 2.14.1 — 漢字 é 🙂 parse_url() '.repeat(3),
  'the scanner reported a dependency that is not reachable '.repeat(7),
  'a finding was closed by its reviewer with a reason that nobody wrote down '.repeat(60),
];

async function bitsOf(
  modelDir: string,
  manifestEntry: EmbeddingEntry,
  [workers, threadsPerWorker]: readonly [number, number],
): Promise<readonly string[]> {
  const embedder = await createOnnxEmbedder({ modelDir, manifestEntry, workers, threadsPerWorker });
  try {
    expect(embedder.runtime()).toMatchObject({ sessions: workers, threadsPerSession: threadsPerWorker });
    const embedded = await embedder.embed(TEXTS, { kind: 'passage' });
    return embedded.map(({ vector }) => Buffer.from(vector.buffer).toString('base64'));
  } finally {
    await embedder.close();
  }
}

/** The layout is measured at a start, so that it must not show in a vector: it is no part of a model's id. */
async function expectSameBits(modelDir: string, entry: EmbeddingEntry): Promise<void> {
  const [first, ...others] = LAYOUTS;
  const expected = await bitsOf(modelDir, entry, first);
  expect(new Set(expected).size).toBe(TEXTS.length);
  for (const layout of others) expect(await bitsOf(modelDir, entry, layout)).toEqual(expected);
}

describe('the same text has the same bits in every layout of sessions and threads', () => {
  it.each(['tiny-bert-cls', 'tiny-xlmr-mean'])(
    'with %s (fp32)',
    async (name) => {
      const modelDir = join(models, name);
      await expectSameBits(modelDir, (await readModelDirectory(modelDir, undefined)) as EmbeddingEntry);
    },
    PATIENT_MS,
  );

  it.skipIf(mini.missing !== undefined)(
    'with all-MiniLM-L6-v2 (int8)',
    () => expectSameBits(mini.directory, miniLm),
    PATIENT_MS,
  );

  it.skipIf(e5.missing !== undefined)(
    'with e5-small-v2 (int8)',
    () => expectSameBits(e5.directory, e5Small),
    PATIENT_MS,
  );
});
