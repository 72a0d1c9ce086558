import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { createOnnxEmbedder } from '../../../src/adapters/onnx/create-onnx-embedder.js';
import type { EmbeddingEntry } from '../../../src/models/manifest-schema.js';
import type { Embedder, EmbeddingKind } from '../../../src/ports/embedder.js';
import { e5Small, miniLm, modelForTests } from '../../models/installed-model.js';

interface Reference {
  readonly texts: readonly string[];
  readonly vectors: readonly {
    readonly model: string;
    readonly kind: EmbeddingKind;
    readonly text: number;
    readonly tokens: number;
    readonly vectorInt8: string;
  }[];
}

/** Written by scripts/reference/embed_reference.py. */
const reference: Reference = JSON.parse(
  readFileSync(new URL('../../fixtures/reference/vectors.json', import.meta.url), 'utf8'),
);
/** int8 packing of a 384-dimensional unit vector keeps a cosine of .9999; other instruction sets come to .99. */
const LEAST_COSINE = 0.99;

function cosineToPacked(vector: Float32Array, packed: string): number {
  const known = new Int8Array(Buffer.from(packed, 'base64'));
  let dot = 0;
  let squares = 0;
  for (const [d, value] of known.entries()) {
    dot += value * (vector[d] ?? 0);
    squares += value * value;
  }
  return dot / Math.sqrt(squares);
}

const opened: Embedder[] = [];
afterAll(() => Promise.all(opened.map((embedder) => embedder.close())));

for (const entry of [miniLm, e5Small] satisfies EmbeddingEntry[]) {
  const model = await modelForTests(entry);
  describe.skipIf(model.missing !== undefined)(`${entry.name} against the Python reference`, () => {
    it.each<EmbeddingKind>(['query', 'passage'])('gives the same vectors for each %s', async (kind) => {
      const embedder = await createOnnxEmbedder({ modelDir: model.directory, manifestEntry: entry });
      opened.push(embedder);
      const rows = reference.vectors.filter((row) => row.model === entry.name && row.kind === kind);
      expect(rows).toHaveLength(reference.texts.length);
      const embedded = await embedder.embed(
        rows.map(({ text }) => reference.texts[text] ?? ''),
        { kind },
      );
      for (const [at, row] of rows.entries()) {
        expect(embedded[at]?.tokens).toBe(row.tokens);
        expect(cosineToPacked(embedded[at]!.vector, row.vectorInt8)).toBeGreaterThan(LEAST_COSINE);
      }
      // The references differ by more than that among each other, so that the comparison can fail.
      const other = cosineToPacked(embedded[0]!.vector, rows[1]!.vectorInt8);
      expect(other).toBeLessThan(0.95);
    });
  });
}
