import type { RerankLogit } from '../domain/scores.js';
import type { LocalRuntime, ServiceUsage } from './model-runtime.js';

/**
 * A cross-encoder or a hosted equivalent.
 *
 * Errors: `MODEL_UNAVAILABLE`, `TIMED_OUT`, `ABORTED`, `CLOSED`. A non-finite score is `MODEL_UNAVAILABLE`.
 */
export interface Reranker {
  readonly modelId: string;
  /** Whether a second call for the rest of the passages costs as much as one for all (a service's request). Default false. */
  readonly inOneCall?: boolean;
  /** One logit a passage, in the order given; empty in, empty out. */
  rerank(
    query: string,
    passages: readonly string[],
    options?: { signal?: AbortSignal },
  ): Promise<readonly RerankLogit[]>;
  /** Of a local model. */
  runtime?(): LocalRuntime | undefined;
  /** Of a hosted model; local ones have none. */
  usage?(): ServiceUsage | undefined;
  close(): Promise<void>;
}
