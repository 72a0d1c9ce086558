import type { Pooling } from '../../models/pooling.js';

/** What a worker thread is started with. */
export interface EmbedWorkerData {
  readonly weightsPath: string;
  readonly dimensions: number;
  readonly pooling: Pooling;
  readonly normalise: boolean;
  readonly threads: number;
  /** Memory of the worker's `NativeGate`. */
  readonly gate: SharedArrayBuffer;
  /** Token ids that the worker embeds once before it says that it is ready: warm-up and health check. */
  readonly canaryIds: Int32Array;
}

/** To the worker; buffers are transferred. One text a message, one message at a time. */
export type EmbedRequest =
  | { readonly type: 'embed'; readonly ids: Int32Array<ArrayBuffer>; readonly tokenRows: boolean }
  | { readonly type: 'close' };

/** One text's vector `[dimensions]` and, where asked for, its tokens' unit-length vectors `[tokens, dimensions]`; float32. */
export interface EmbedOutput {
  readonly vector: Float32Array<ArrayBuffer>;
  readonly rows?: Float32Array<ArrayBuffer> | undefined;
}

/** From the worker; buffers are transferred. */
export type EmbedReply =
  | ({ readonly type: 'ready' } & EmbedOutput)
  | ({ readonly type: 'vector' } & EmbedOutput)
  | { readonly type: 'failed'; readonly message: string };
