import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { ErrataError } from '../../domain/errors.js';
import { verifyModel } from '../../models/installed-models.js';
import { fileOfRole } from '../../models/manifest.js';
import type { EmbeddingEntry } from '../../models/manifest-schema.js';
import { checkCanary } from '../../models/vector-checks.js';
import { singleInput } from './embed-protocol.js';
import { HubTokenizer } from './hub-tokenizer.js';
import { OnnxEmbedder } from './onnx-embedder.js';
import { WorkerPool } from './worker-pool.js';
import { workerEntry } from './worker-thread.js';

export interface OnnxEmbedderOptions {
  /** Directory of an installed model. */
  readonly modelDir: string;
  readonly manifestEntry: EmbeddingEntry;
  /** Worker threads, each with a session of its own. Default: available cores, at most 4. */
  readonly workers?: number | undefined;
  /** Default 1: two workers with one thread each embed 25% more than one with two (measured on 2 cores). */
  readonly threadsPerWorker?: number | undefined;
  /** Texts that may wait in each of the two lanes. Default 4,096: about 12 s of work for two workers. */
  readonly queueLimit?: number | undefined;
  /** Told when a worker has crashed or could not start while others go on: one line for the log. */
  readonly onWarning?: ((error: ErrataError) => void) | undefined;
  /** Another worker entry: for bundlers, and for tests that break a worker. */
  readonly workerEntry?: URL | undefined;
}

const MAX_DEFAULT_WORKERS = 4;
const DEFAULT_QUEUE_LIMIT = 4_096;
/** Where the manifest has no canary: still a warm-up and a check for finite numbers and unit length. */
const DEFAULT_CANARY_TEXT = 'A reviewer corrected this answer.';

/**
 * Opens an installed model: checks its digests, starts the first worker and compares a fixed text's vector with the
 * known one. The other workers start in the background. About 0.3 s for MiniLM.
 *
 * Errors: `MODEL_NOT_INSTALLED`, `DIGEST_MISMATCH`, `MODEL_UNAVAILABLE`, `INVALID_VECTOR`, `INVALID_INPUT`.
 */
export async function createOnnxEmbedder(options: OnnxEmbedderOptions): Promise<OnnxEmbedder> {
  const { modelDir, manifestEntry: entry } = options;
  const workers = positive(
    'workers',
    options.workers ?? Math.min(availableParallelism(), MAX_DEFAULT_WORKERS),
  );
  const threads = positive('threadsPerWorker', options.threadsPerWorker ?? 1);
  const queueLimit = positive('queueLimit', options.queueLimit ?? DEFAULT_QUEUE_LIMIT);
  await verifyModel(modelDir, entry);
  const tokenizer = await HubTokenizer.open(
    join(modelDir, fileOfRole(entry, 'tokenizer').path),
    entry.maxTokens,
  );
  const canary = await tokenizer.encode(entry.prefixes.query + (entry.canary?.text ?? DEFAULT_CANARY_TEXT));

  const embedder = new OnnxEmbedder({ entry, tokenizer, tokenizeAhead: workers, queueLimit });
  const pool = new WorkerPool({
    entry: options.workerEntry ?? workerEntry(),
    data: {
      weightsPath: join(modelDir, fileOfRole(entry, 'weights').path),
      task: {
        kind: 'embedding',
        dimensions: entry.dimensions,
        pooling: entry.pooling,
        normalise: entry.normalise,
      },
      threads,
      canary: singleInput(canary.ids),
    },
    size: workers,
    checkCanary: (vector) => checkCanary(vector, entry),
    onIdle: () => embedder.pump(),
    onDead: (error) => embedder.fail(error),
    onWarning: (error) => options.onWarning?.(error),
  });
  embedder.attach(pool);
  try {
    await pool.start();
  } catch (error) {
    await embedder.close();
    throw error;
  }
  return embedder;
}

function positive(name: string, value: number): number {
  if (Number.isInteger(value) && value > 0) return value;
  throw new ErrataError('INVALID_INPUT', `Expected a positive integer for ${name}, received ${value}`);
}
