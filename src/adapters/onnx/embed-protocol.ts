import type { ExecutionProvider } from '../../domain/inference.js';
import type { Pooling } from '../../models/pooling.js';
import type { RefusedProvider } from './first-provider.js';

/** What a worker makes of the model's output. */
export type InferenceTask =
  | {
      readonly kind: 'embedding';
      readonly dimensions: number;
      readonly pooling: Pooling;
      readonly normalise: boolean;
    }
  /** Sequence classification; `logits` numbers a row. */
  | { readonly kind: 'reranking'; readonly logits: number };

/** One or more token sequences, `[rows, columns]` row-major, each padded at its end. */
export interface InferenceInput {
  readonly ids: Int32Array<ArrayBuffer>;
  /** Which of a pair's texts a token belongs to; none: all 0. */
  readonly typeIds?: Int32Array<ArrayBuffer> | undefined;
  /** `[rows]`: tokens that are no padding. */
  readonly lengths: Int32Array<ArrayBuffer>;
  /** Whether the tokens' own vectors are wanted. */
  readonly tokenRows: boolean;
}

/** How a session is opened. */
export interface SessionData {
  readonly weightsPath: string;
  readonly threads: number;
  /** Tried in order. */
  readonly providers: readonly ExecutionProvider[];
  /** The same model as an earlier start optimised it for this CPU. */
  readonly optimised?: string | undefined;
  /** Where this start writes it; no such file yet. */
  readonly optimisedTarget?: string | undefined;
}

/** Where a session's optimised graph came from: its own work, written for the next start too, or an earlier start's. */
export type GraphUse = 'OWN' | 'WRITTEN' | 'REMEMBERED' | 'UNREADABLE';

/** What a worker thread is started with. */
export interface EmbedWorkerData extends SessionData {
  readonly task: InferenceTask;
  /** Memory of the worker's `NativeGate`. */
  readonly gate: SharedArrayBuffer;
  /** Memory of its `RunClaims`. */
  readonly claims: SharedArrayBuffer;
  /** What the worker runs once before it says that it is ready: warm-up and health check. */
  readonly canary: InferenceInput;
}

/** To the worker; buffers are transferred. One run a message, answered in turn; none for an input that was taken back. */
export type EmbedRequest =
  | ({ readonly type: 'run' /** Of its `RunClaims`. */; readonly number: number } & InferenceInput)
  | { readonly type: 'close' };

/**
 * `values`: `[rows, dimensions]` or `[rows, logits]`; `rows`, where asked for, the unit-length vectors of every row's tokens, one
 * row's behind the other's and without padding, `[sum of lengths, dimensions]`; float32.
 */
export interface InferenceOutput {
  readonly values: Float32Array<ArrayBuffer>;
  readonly rows?: Float32Array<ArrayBuffer> | undefined;
}

/** What a worker opened. */
export interface ReadySession {
  readonly provider: ExecutionProvider;
  readonly refused: readonly RefusedProvider[];
  readonly graph: GraphUse;
}

/** From the worker; buffers are transferred. */
export type EmbedReply =
  | ({ readonly type: 'ready' } & ReadySession & InferenceOutput)
  | ({ readonly type: 'output' } & InferenceOutput)
  | { readonly type: 'failed'; readonly message: string };

/** One sequence as an input. */
export function singleInput(
  ids: Int32Array<ArrayBuffer>,
  options: { readonly typeIds?: Int32Array<ArrayBuffer> | undefined; readonly tokenRows?: boolean } = {},
): InferenceInput {
  const { typeIds, tokenRows = false } = options;
  return { ids, typeIds, lengths: Int32Array.of(ids.length), tokenRows };
}

/** Several sequences as one input, padded with token 0, which the attention mask hides. */
export function paddedInput(
  sequences: readonly { readonly ids: Int32Array; readonly typeIds?: Int32Array | undefined }[],
  tokenRows = false,
): InferenceInput {
  const lengths = Int32Array.from(sequences, ({ ids }) => ids.length);
  const columns = Math.max(...lengths);
  const ids = new Int32Array(sequences.length * columns);
  const typeIds = new Int32Array(ids.length);
  for (const [row, sequence] of sequences.entries()) {
    ids.set(sequence.ids, row * columns);
    if (sequence.typeIds !== undefined) typeIds.set(sequence.typeIds, row * columns);
  }
  return { ids, typeIds, lengths, tokenRows };
}
