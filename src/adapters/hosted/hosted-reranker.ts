import { ErrataError } from '../../domain/errors.js';
import { logit, type RerankLogit } from '../../domain/scores.js';
import type { ServiceUsage } from '../../ports/model-runtime.js';
import type { Reranker } from '../../ports/reranker.js';
import { HostedClient, type HostedClientOptions } from './hosted-client.js';
import { type HostedName, RERANK_SHAPES, type RerankShape } from './hosted-shapes.js';
import { inOrder } from './in-order.js';

export interface HostedRerankerOptions extends Omit<HostedClientOptions, 'baseUrl'> {
  readonly name: HostedName;
  /** Default: the service's own address. */
  readonly baseUrl?: string | undefined;
  /** Takes out what must not leave the machine. */
  readonly redact: (text: string) => string;
}

/** A query waits for it, so less than for embeddings. */
const TIMEOUT_MS = 2_000;
const DEADLINE_MS = 4_000;
/** Chances this near to 0 and 1 are as good as these; their log-odds would be infinite. */
const EDGE = 1e-6;

/** Scores of services are chances; their log-odds are what the port wants, with 0 at an even chance. */
export class HostedReranker implements Reranker {
  readonly modelId: string;
  readonly inOneCall = true;
  readonly #client: HostedClient;
  readonly #shape: RerankShape;
  readonly #options: HostedRerankerOptions;
  #closed = false;

  /** Errors: `INVALID_CONFIG` for a kind of service that has no rerank API. */
  constructor(options: HostedRerankerOptions) {
    const { kind, model } = options.name;
    if (kind === 'openai')
      throw new ErrataError(
        'INVALID_CONFIG',
        'Expected cohere, jina or voyage for a hosted reranker, received openai, which has no such API',
      );
    this.#options = options;
    this.#shape = RERANK_SHAPES[kind];
    this.modelId = `${kind}:${model}`;
    this.#client = new HostedClient({
      ...options,
      baseUrl: options.baseUrl ?? this.#shape.baseUrl,
      timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
      deadlineMs: options.deadlineMs ?? DEADLINE_MS,
    });
  }

  async rerank(
    query: string,
    passages: readonly string[],
    options: { signal?: AbortSignal } = {},
  ): Promise<readonly RerankLogit[]> {
    if (this.#closed) throw new ErrataError('CLOSED', 'Expected an open reranker, received a closed one');
    if (passages.length === 0) return [];
    if (passages.length > this.#shape.maxPassages)
      throw new ErrataError(
        'INPUT_TOO_LARGE',
        `Expected at most ${this.#shape.maxPassages} passages, received ${passages.length}`,
      );
    const { name, redact } = this.#options;
    const body = this.#shape.body(name.model, redact(query), passages.map(redact));
    const answer = await this.#client.post(this.#shape.path, body, options.signal);
    const scores = inOrder(
      () => {
        const parsed = this.#shape.parse(answer);
        this.#client.countUnits(parsed.billedUnits);
        return parsed;
      },
      passages.length,
      'scores',
    );
    return scores.map(toLogit);
  }

  usage(): ServiceUsage {
    return this.#client.usage();
  }

  async close(): Promise<void> {
    this.#closed = true;
  }
}

function toLogit(score: number): RerankLogit {
  if (!Number.isFinite(score))
    throw new ErrataError('MODEL_UNAVAILABLE', 'Expected finite scores from the service, received others');
  const chance = Math.min(1 - EDGE, Math.max(EDGE, score));
  return logit(Math.log(chance / (1 - chance)));
}
