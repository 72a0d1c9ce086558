import type { LocalRuntime, ServiceUsage } from './model-runtime.js';

/** Models such as E5 want different prefixes for what is asked and what is stored. */
export type EmbeddingKind = 'query' | 'passage';

export interface EmbeddingModel {
  /** Name plus a digest over weights, tokenizer, pooling and prefixes: vectors of two ids never meet in one index. */
  readonly id: string;
  readonly name: string;
  readonly dimensions: number;
  /** Tokens read, special tokens included; the rest is cut off and reported. */
  readonly maxTokens: number;
  /** What is weaker about it than about other models, and what to do; for `stats` and the log. */
  readonly notice?: string | undefined;
}

/** What the model made of each token it read, special tokens included: what late interaction works with. */
export interface TokenVectors {
  /** `[tokens, dimensions]` row-major float32, every row of unit length; owned by the caller. */
  readonly rows: Float32Array;
  /** `[tokens, 2]`: start and end of each token in the text, in UTF-16 units; equal for special tokens. */
  readonly spans: Int32Array;
}

export interface Embedding {
  /** `[dimensions]` float32, finite, unit length (±1e-3); owned by the caller. */
  readonly vector: Float32Array;
  readonly tokens: number;
  readonly truncated: boolean;
  /** Only where they were asked for and the model gives them (hosted models do not). */
  readonly tokenVectors?: TokenVectors | undefined;
}

export interface EmbedOptions {
  readonly kind: EmbeddingKind;
  /** A query waits for at most one running text; bulk work waits for every query. */
  readonly priority?: 'interactive' | 'bulk' | undefined;
  /** Whether token vectors are wanted beside the text's. Default false. */
  readonly tokenVectors?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface EmbedderStats {
  readonly truncatedTexts: number;
  readonly embeddedTexts: number;
  readonly cacheHits: number;
  readonly cacheMisses: number;
  /** Of the cache, by its own count; none where there is no cache. */
  readonly cacheBytes?: number | undefined;
}

/**
 * Turns text into vectors, off the event loop. The same text and kind always give the same bits.
 *
 * Errors: `MODEL_UNAVAILABLE` when the runtime fails, `INVALID_VECTOR` when the model gives a non-finite or zero vector,
 * `QUEUE_FULL`, `ABORTED`, `CLOSED`.
 */
export interface Embedder {
  readonly model: EmbeddingModel;
  /** One embedding a text, in order; an empty list gives an empty list. */
  embed(texts: readonly string[], options: EmbedOptions): Promise<readonly Embedding[]>;
  stats(): EmbedderStats;
  /** Of a local model. */
  runtime?(): LocalRuntime | undefined;
  /** Of a hosted model; local ones have none. */
  usage?(): ServiceUsage | undefined;
  close(): Promise<void>;
}
