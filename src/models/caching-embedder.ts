import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { ErrataError } from '../domain/errors.js';
import type { Embedder, EmbedderStats, Embedding, EmbeddingModel, EmbedOptions } from '../ports/embedder.js';
import type { LocalRuntime, ServiceUsage } from '../ports/model-runtime.js';

export interface CachingEmbedderOptions {
  /** Bound of the cache's own memory. Default 64 MiB: about 2,700 queries of 15 tokens with token vectors. */
  readonly maxBytes?: number | undefined;
}

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024;
/** Key (base64 of a SHA-256 and the model id), entry and map slots, beside the vector itself. */
const ENTRY_OVERHEAD_BYTES = 320;

/**
 * Remembers query embeddings (the same question is asked again; passages are embedded once and stored). Keyed by model
 * id, kind and the text's digest, so that no query text is kept. Hands out copies, so that no caller can change what
 * the next one gets. `close()` closes the inner embedder.
 */
export class CachingEmbedder implements Embedder {
  readonly #inner: Embedder;
  readonly #cache: LRUCache<string, Embedding>;
  #hits = 0;
  #misses = 0;
  #closed = false;

  constructor(inner: Embedder, options: CachingEmbedderOptions = {}) {
    const { maxBytes = DEFAULT_MAX_BYTES } = options;
    if (!Number.isInteger(maxBytes) || maxBytes <= 0)
      throw new ErrataError(
        'INVALID_INPUT',
        `Expected a positive integer for maxBytes, received ${maxBytes}`,
      );
    this.#inner = inner;
    this.#cache = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ vector, tokenVectors }) =>
        vector.byteLength +
        (tokenVectors === undefined ? 0 : tokenVectors.rows.byteLength + tokenVectors.spans.byteLength) +
        ENTRY_OVERHEAD_BYTES,
    });
  }

  get model(): EmbeddingModel {
    return this.#inner.model;
  }

  async embed(texts: readonly string[], options: EmbedOptions): Promise<readonly Embedding[]> {
    if (this.#closed) throw new ErrataError('CLOSED', 'Expected an open embedder, received a closed one');
    if (options.kind !== 'query') return this.#inner.embed(texts, options);
    const keys = texts.map((text) => this.#keyOf(text, options.tokenVectors === true));
    const found = keys.map((key) => this.#cache.get(key));
    const missing = texts.filter((_, at) => found[at] === undefined);
    this.#misses += missing.length;
    this.#hits += texts.length - missing.length;
    if (options.signal?.aborted)
      throw new ErrataError('ABORTED', 'Expected embeddings, received an abort signal');
    const embedded = missing.length === 0 ? [] : await this.#inner.embed(missing, options);
    let next = 0;
    return keys.map((key, at) => {
      const known = found[at];
      if (known !== undefined) return copyOf(known);
      const fresh = embedded[next];
      next += 1;
      if (fresh === undefined)
        throw new ErrataError(
          'INTERNAL',
          `Expected ${missing.length} embeddings, received ${embedded.length}`,
        );
      if (!this.#closed) this.#cache.set(key, copyOf(fresh));
      return fresh;
    });
  }

  stats(): EmbedderStats {
    const cacheBytes = this.#cache.calculatedSize;
    return { ...this.#inner.stats(), cacheHits: this.#hits, cacheMisses: this.#misses, cacheBytes };
  }

  runtime(): LocalRuntime | undefined {
    return this.#inner.runtime?.();
  }

  usage(): ServiceUsage | undefined {
    return this.#inner.usage?.();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#cache.clear();
    await this.#inner.close();
  }

  #keyOf(text: string, tokenVectors: boolean): string {
    // UTF-16, since in UTF-8 every lone surrogate would have the same digest.
    const digest = createHash('sha256').update(Buffer.from(text, 'utf16le')).digest('base64');
    return `${this.#inner.model.id} ${tokenVectors ? 'query with tokens' : 'query'} ${digest}`;
  }
}

function copyOf(embedding: Embedding): Embedding {
  const { tokenVectors } = embedding;
  const copy = { ...embedding, vector: embedding.vector.slice() };
  if (tokenVectors === undefined) return copy;
  return { ...copy, tokenVectors: { rows: tokenVectors.rows.slice(), spans: tokenVectors.spans.slice() } };
}
