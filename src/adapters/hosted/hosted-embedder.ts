import { createHash } from 'node:crypto';
import { ErrataError } from '../../domain/errors.js';
import { normaliseInPlace } from '../../models/pooling.js';
import { checkUnitVector } from '../../models/vector-checks.js';
import type {
  Embedder,
  EmbedderStats,
  Embedding,
  EmbeddingKind,
  EmbeddingModel,
  EmbedOptions,
} from '../../ports/embedder.js';
import type { ServiceUsage } from '../../ports/model-runtime.js';
import { HostedClient, type HostedClientOptions } from './hosted-client.js';
import { EMBED_SHAPES, type EmbedShape, type HostedName } from './hosted-shapes.js';
import { inOrder } from './in-order.js';

export interface HostedEmbedderOptions extends Omit<HostedClientOptions, 'baseUrl'> {
  readonly name: HostedName;
  /** Default: the service's own address. */
  readonly baseUrl?: string | undefined;
  /** Put before texts, where the model wants it and the service does not do it. */
  readonly prefixes?: Readonly<Record<EmbeddingKind, string>> | undefined;
  /** Takes out what must not leave the machine. */
  readonly redact: (text: string) => string;
}

/** Characters of a request, so that long texts stay below the services' token limits (300,000 tokens and less). */
const MAX_REQUEST_CHARS = 200_000;
/** Longest text; services cut at 8,191 tokens and more, which is not reported back. */
const MAX_TOKENS = 8_191;
const NO_PREFIXES: Readonly<Record<EmbeddingKind, string>> = { query: '', passage: '' };

/**
 * Opens a hosted embedding model: one request tells its dimensions and that it answers.
 *
 * Errors: `MODEL_UNAVAILABLE`, `TIMED_OUT`, `INVALID_VECTOR`.
 */
export async function createHostedEmbedder(options: HostedEmbedderOptions): Promise<HostedEmbedder> {
  const shape = EMBED_SHAPES[options.name.kind];
  const client = new HostedClient({ ...options, baseUrl: options.baseUrl ?? shape.baseUrl });
  const body = shape.body(options.name.model, ['dimensions?'], 'query');
  const answer = await client.post(shape.path, body, undefined);
  const [probe] = inOrder(() => shape.parse(answer), 1, 'vectors');
  return new HostedEmbedder(client, shape, options, toUnitVector(probe ?? [], probe?.length ?? 0).length);
}

/** Texts are redacted, sent in batches and come back as unit vectors; token counts and truncation are not told. */
export class HostedEmbedder implements Embedder {
  readonly model: EmbeddingModel;
  readonly #client: HostedClient;
  readonly #shape: EmbedShape;
  readonly #options: HostedEmbedderOptions;
  #embedded = 0;
  #closed = false;

  constructor(client: HostedClient, shape: EmbedShape, options: HostedEmbedderOptions, dimensions: number) {
    this.#client = client;
    this.#shape = shape;
    this.#options = options;
    const { kind, model } = options.name;
    const name = `${kind}:${model}`;
    const parts = [name, options.baseUrl ?? shape.baseUrl, dimensions, options.prefixes ?? NO_PREFIXES];
    const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 12);
    this.model = Object.freeze({ id: `${name}@${digest}`, name, dimensions, maxTokens: MAX_TOKENS });
  }

  async embed(texts: readonly string[], options: EmbedOptions): Promise<readonly Embedding[]> {
    if (this.#closed) throw new ErrataError('CLOSED', 'Expected an open embedder, received a closed one');
    const prefix = (this.#options.prefixes ?? NO_PREFIXES)[options.kind];
    const sent = texts.map((text) => prefix + this.#options.redact(text));
    const embeddings: Embedding[] = [];
    // One after the other: a backfill must not take all places of the client from queries.
    for (const batch of batchesOf(sent, this.#shape.maxTexts)) {
      const body = this.#shape.body(this.#options.name.model, batch, options.kind);
      const answer = await this.#client.post(this.#shape.path, body, options.signal);
      const vectors = inOrder(
        () => {
          const parsed = this.#shape.parse(answer);
          this.#client.countUnits(parsed.billedUnits);
          return parsed;
        },
        batch.length,
        'vectors',
      );
      for (const vector of vectors)
        embeddings.push({ vector: toUnitVector(vector, this.model.dimensions), tokens: 0, truncated: false });
      this.#embedded += batch.length;
    }
    return embeddings;
  }

  usage(): ServiceUsage {
    return this.#client.usage();
  }

  stats(): EmbedderStats {
    return { truncatedTexts: 0, embeddedTexts: this.#embedded, cacheHits: 0, cacheMisses: 0 };
  }

  async close(): Promise<void> {
    this.#closed = true;
  }
}

/** Errors: `INVALID_VECTOR` for other dimensions, NaN, infinity and zero. */
function toUnitVector(values: readonly number[], dimensions: number): Float32Array {
  const vector = Float32Array.from(values);
  normaliseInPlace(vector);
  checkUnitVector(vector, dimensions);
  return vector;
}

function batchesOf(texts: readonly string[], maxTexts: number): readonly (readonly string[])[] {
  const batches: string[][] = [];
  let chars = 0;
  for (const text of texts) {
    const last = batches.at(-1);
    if (last === undefined || last.length >= maxTexts || chars + text.length > MAX_REQUEST_CHARS) {
      batches.push([text]);
      chars = text.length;
    } else {
      last.push(text);
      chars += text.length;
    }
  }
  return batches;
}
