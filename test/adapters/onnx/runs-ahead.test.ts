import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { createOnnxEmbedder } from '../../../src/adapters/onnx/create-onnx-embedder.js';
import { RunClaims } from '../../../src/adapters/onnx/run-claims.js';
import type { EmbeddingEntry } from '../../../src/models/manifest-schema.js';
import { readModelDirectory } from '../../../src/models/model-directory.js';
import { buildForNode } from '../../models/installed-model.js';

const modelDir = fileURLToPath(new URL('../../fixtures/models/tiny-bert-cls', import.meta.url));
beforeAll(() => buildForNode());

describe('RunClaims', () => {
  it('gives every input to one side, and slots again and again', () => {
    const owner = new RunClaims();
    const worker = new RunClaims(owner.shared);
    for (let number = 0; number < 40; number += 1) {
      owner.offer(number);
      if (number % 2 === 0) {
        expect(worker.claim(number)).toBe(true);
        expect(owner.takeBack(number)).toBe(false);
      } else {
        expect(owner.takeBack(number)).toBe(true);
        expect(worker.claim(number)).toBe(false);
      }
      expect([worker.claim(number), owner.takeBack(number)]).toEqual([false, false]);
    }
  });
});

describe('RunClaims of messages that are not read yet', () => {
  it('offers nothing in the slot of one that the worker has not come to', () => {
    const owner = new RunClaims();
    owner.offer(0);
    const next = [1, 2, 3, 4, 5].filter((number) => {
      const free = owner.isFree(number);
      if (free) {
        owner.offer(number);
        owner.takeBack(number);
      }
      return free;
    });
    expect(next).not.toContain(4);
    expect(next).toEqual([1, 2, 3, 5]);
    expect(new RunClaims(owner.shared).claim(0)).toBe(true);
    expect(owner.isFree(4)).toBe(true);
  });

  it('lets no old number claim what a later one offers in its slot', () => {
    const owner = new RunClaims();
    const worker = new RunClaims(owner.shared);
    for (let number = 0; number < 20; number += 1) {
      owner.offer(number);
      if (number < 19) expect(owner.takeBack(number)).toBe(true);
    }
    for (let number = 0; number < 19; number += 1) expect(worker.claim(number)).toBe(false);
    expect(worker.claim(19)).toBe(true);
  });
});

describe('texts that lie ahead at a worker', () => {
  it.each([1, 2, 3])(
    'all get their own vectors while queries come in between, %i workers',
    async (workers) => {
      const manifestEntry = (await readModelDirectory(modelDir, undefined)) as EmbeddingEntry;
      const embedder = await createOnnxEmbedder({ modelDir, manifestEntry, workers, batches: 'off' });
      const bits = (vector: Float32Array) => Buffer.from(vector.buffer).toString('base64');
      const texts = Array.from({ length: 150 }, (_, at) => `text ${at} ${'netty '.repeat(at % 13)}`);
      try {
        const alone: string[] = [];
        for (const text of texts) {
          const [one] = await embedder.embed([text], { kind: 'passage' });
          alone.push(bits(one!.vector));
        }
        const bulk = embedder.embed(texts, { kind: 'passage', priority: 'bulk' });
        const queries: Promise<void>[] = [];
        for (let at = 0; at < 60; at += 1) {
          await new Promise((resolve) => setImmediate(resolve));
          const ask = async () => {
            const text = texts[(at * 7) % texts.length]!;
            const [one] = await embedder.embed([text], { kind: 'passage', priority: 'interactive' });
            expect(bits(one!.vector)).toBe(alone[(at * 7) % texts.length]);
          };
          queries.push(ask());
        }
        expect((await bulk).map(({ vector }) => bits(vector))).toEqual(alone);
        await Promise.all(queries);
      } finally {
        await embedder.close();
      }
    },
  );
});
