import { createHash } from 'node:crypto';
import type {
  Embedder,
  EmbedderStats,
  Embedding,
  EmbeddingModel,
  EmbedOptions,
} from '../../src/ports/embedder.js';

/** Shared words count alike in lessons of every length, so that these do, too. */
export const WORD_SIMILARITIES = {
  duplicateSimilarity: 0.92,
  contradictionSimilarity: 0.8,
  proposalSimilarity: 0.6,
} as const;

/**
 * Bag of words, each word a fixed random direction: the same words give the same vector, shared words a high cosine. Only
 * for tests: no meaning, but real geometry, and the same bits for the same text.
 */
export class WordEmbedder implements Embedder {
  readonly model: EmbeddingModel;
  readonly calls: { readonly texts: readonly string[]; readonly options: EmbedOptions }[] = [];

  /** Another name is another model: other directions, the same dimensions. */
  constructor(name = 'words') {
    this.model = { id: `${name}@test`, name, dimensions: 64, maxTokens: 128 };
  }

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

  #salt(): string {
    return this.model.name === 'words' ? '' : this.model.name;
  }

  #embedding(text: string): Embedding {
    const words = text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? ['(none)'];
    const vector = new Float32Array(this.model.dimensions);
    for (const word of words) {
      const bytes = createHash('sha512')
        .update(this.#salt() + word)
        .digest();
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
