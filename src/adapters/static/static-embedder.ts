import { setImmediate as breathe } from 'node:timers/promises';
import { ErrataError } from '../../domain/errors.js';
import type { EmbeddingEntry } from '../../models/manifest-schema.js';
import { embeddingModelId } from '../../models/model-id.js';
import { normaliseInPlace, normaliseRows } from '../../models/pooling.js';
import type { EncodedText, TextTokenizer } from '../../models/tokenizer.js';
import { checkUnitVector } from '../../models/vector-checks.js';
import type {
  Embedder,
  EmbedderStats,
  Embedding,
  EmbeddingModel,
  EmbedOptions,
} from '../../ports/embedder.js';
import { type StaticVectors, tokenWeights } from './static-vectors.js';

export interface StaticEmbedderParts {
  readonly entry: EmbeddingEntry;
  readonly tokenizer: TextTokenizer;
  readonly vectors: StaticVectors;
  /** Said in `stats` and in the log of whoever serves with it. */
  readonly notice?: string | undefined;
}

/** Texts between two looks at signals and other callers: about 5 ms of sums for long ones. */
const TURN = 64;

/**
 * A text's vector is the sum of its tokens' vectors, special tokens included and repeated ones damped, at unit length: no context, no order of words. Sums
 * in double precision and token order, so that the same text gives the same bits; tens of microseconds a text, so that they run
 * on the event loop; tokenizing runs off it. Token vectors are those same rows, each at unit length.
 */
export class StaticEmbedder implements Embedder {
  readonly model: EmbeddingModel;
  readonly #parts: StaticEmbedderParts;
  #embedded = 0;
  #truncated = 0;
  #closed = false;

  /** Errors: `MODEL_UNAVAILABLE` where vectors and manifest differ in dimensions. */
  constructor(parts: StaticEmbedderParts) {
    const { entry, vectors, notice } = parts;
    if (vectors.dimensions !== entry.dimensions)
      throw new ErrataError(
        'MODEL_UNAVAILABLE',
        `Expected ${entry.dimensions} dimensions for ${entry.name}, received ${vectors.dimensions}`,
      );
    this.#parts = parts;
    const { name, dimensions, maxTokens } = entry;
    this.model = Object.freeze({ id: embeddingModelId(entry), name, dimensions, maxTokens, notice });
  }

  async embed(texts: readonly string[], options: EmbedOptions): Promise<readonly Embedding[]> {
    const prefix = this.#parts.entry.prefixes[options.kind];
    const wantTokens = options.tokenVectors === true;
    this.#check(options.signal);
    const embeddings: Embedding[] = [];
    for (let from = 0; from < texts.length; from += TURN) {
      const turn = texts.slice(from, from + TURN);
      const encoded = await Promise.all(
        turn.map((text) => this.#parts.tokenizer.encode(prefix + text, { spans: wantTokens })),
      );
      // Also after the last await: what was closed or given up meanwhile gets no vectors.
      this.#check(options.signal);
      for (const one of encoded) embeddings.push(this.#embedOne(one, prefix.length));
      if (from + TURN < texts.length) await breathe();
    }
    return embeddings;
  }

  stats(): EmbedderStats {
    return { truncatedTexts: this.#truncated, embeddedTexts: this.#embedded, cacheHits: 0, cacheMisses: 0 };
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #check(signal: AbortSignal | undefined): void {
    if (this.#closed) throw new ErrataError('CLOSED', 'Expected an open embedder, received a closed one');
    if (signal?.aborted) throw new ErrataError('ABORTED', 'Expected embeddings, received an abort signal');
  }

  #embedOne({ ids, truncated, spans }: EncodedText, prefixLength: number): Embedding {
    const { vectors } = this.#parts;
    const { dimensions } = vectors;
    const rows = new Float32Array(ids.length * dimensions);
    const sums = new Float64Array(dimensions);
    const weights = tokenWeights(ids);
    ids.forEach((id, token) => {
      addRow(vectors, id, { sums, weight: weights[token] ?? 1, rows, at: token * dimensions });
    });
    const vector = Float32Array.from(sums);
    normaliseInPlace(vector);
    checkUnitVector(vector, dimensions);
    this.#embedded += 1;
    if (truncated) this.#truncated += 1;
    if (spans === undefined) return { vector, tokens: ids.length, truncated };
    const tokenVectors = {
      rows: normaliseRows(rows, dimensions),
      spans: spans.map((offset) => Math.max(0, offset - prefixLength)),
    };
    return { vector, tokens: ids.length, truncated, tokenVectors };
  }
}

/** Adds a token's vector times `weight` to `sums` and writes it as it is to `rows` from `at` on. */
function addRow(
  vectors: StaticVectors,
  id: number,
  into: {
    readonly sums: Float64Array;
    readonly weight: number;
    readonly rows: Float32Array;
    readonly at: number;
  },
): void {
  const { sums, weight, rows, at } = into;
  const { dimensions, scales } = vectors;
  if (id < 0 || id >= vectors.tokens)
    throw new ErrataError(
      'MODEL_UNAVAILABLE',
      `Expected token ids below ${vectors.tokens}, received ${id}: tokenizer and vectors do not belong together`,
    );
  const scale = scales[id] ?? 0;
  const from = id * dimensions;
  for (let d = 0; d < dimensions; d += 1) {
    const value = scale * (vectors.rows[from + d] ?? 0);
    sums[d] = (sums[d] ?? 0) + weight * value;
    rows[at + d] = value;
  }
}
