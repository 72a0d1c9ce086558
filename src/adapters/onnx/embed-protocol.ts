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
  | { readonly type: 'embed'; readonly ids: Int32Array<ArrayBuffer> }
  | { readonly type: 'close' };

/** From the worker; `vector` is `[dimensions]` float32 and transferred. */
export type EmbedReply =
  | { readonly type: 'ready'; readonly vector: Float32Array<ArrayBuffer> }
  | { readonly type: 'vector'; readonly vector: Float32Array<ArrayBuffer> }
  | { readonly type: 'failed'; readonly message: string };
