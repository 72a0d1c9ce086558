import { createHash } from 'node:crypto';
import type { Embedder, EmbedderStats, Embedding, EmbedOptions } from '../../src/ports/embedder.js';

/**
 * Bag of words, each word a fixed random direction: the same words give the same vector, shared words a high cosine. Only
 * for tests: no meaning, but real geometry, and the same bits for the same text.
 */
export class WordEmbedder implements Embedder {
  readonly model = { id: 'words@test', name: 'words', dimensions: 64, maxTokens: 128 };
  readonly calls: { readonly texts: readonly string[]; readonly options: EmbedOptions }[] = [];

  async embed(texts: readonly string[], options: EmbedOptions): Promise<readonly Embedding[]> {
    this.calls.push({ texts: [...texts], options });
    await new Promise((resolve) => setImmediate(resolve));
    return texts.map((text) => this.#embedding(text));
  }

  stats(): EmbedderStats {
    const embeddedTexts = this.calls.reduce((sum, { texts }) => sum + texts.length, 0);
    return { truncatedTexts: 0, embeddedTexts, cacheHits: 0, cacheMisses: 0 };
  }

  async close(): Promise<void> {}

  #embedding(text: string): Embedding {
    const words = text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? ['(none)'];
    const vector = new Float32Array(this.model.dimensions);
    for (const word of words) {
      const bytes = createHash('sha512').update(word).digest();
      vector.forEach((value, index) => {
        vector[index] = value + (bytes[index]! - 127.5) / 127.5;
      });
    }
    const norm = Math.hypot(...vector);
    return {
      vector: vector.map((value) => value / norm),
      tokens: words.length,
      truncated: words.length > this.model.maxTokens,
    };
  }
}
