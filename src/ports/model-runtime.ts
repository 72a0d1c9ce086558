import type { ExecutionProvider } from '../domain/inference.js';

export const MODEL_ROLES = ['EMBEDDING', 'RERANKING'] as const;

/**
 * Which texts share a run: none (an output would depend on its batch mates), those of the same number of tokens (the same bits as
 * alone), any (padded; equal up to rounding).
 */
export const BATCH_KINDS = ['ALONE', 'EQUAL_LENGTHS', 'PADDED'] as const;
export type BatchKind = (typeof BATCH_KINDS)[number];

/**
 * Why a model runs in as many sessions as it does: there was no choice, its size, a measurement at this start or one at an earlier
 * start.
 */
export const LAYOUT_REASONS = ['CONFIGURED', 'SIZE', 'MEASURED', 'REMEMBERED'] as const;

/** How a local model runs in this process. */
export interface LocalRuntime {
  readonly provider: ExecutionProvider;
  /** Wished for before it and not to be had, with ONNX Runtime's reasons. */
  readonly refused: readonly { readonly provider: ExecutionProvider; readonly reason: string }[];
  readonly sessions: number;
  readonly threadsPerSession: number;
  readonly layout: (typeof LAYOUT_REASONS)[number];
  readonly batches: BatchKind;
  /** Whether the optimised graph came from an earlier start. */
  readonly graphRemembered: boolean;
}

/** What a hosted service was asked for since this process started. */
export interface ServiceUsage {
  readonly requests: number;
  /** Attempts beyond the first of each request. */
  readonly retries: number;
  /** Requests that ended with an error after all attempts. */
  readonly failures: number;
  /** As the service counts them: tokens, or search units of a reranker. */
  readonly billedUnits: number;
}

/** A model that this process uses. */
export interface ModelState {
  readonly role: (typeof MODEL_ROLES)[number];
  readonly id: string;
  /** Only of local models. */
  readonly runtime?: LocalRuntime | undefined;
  /** Only of hosted models. */
  readonly usage?: ServiceUsage | undefined;
}
