import { join } from 'node:path';
import type { BatchWish } from '../../domain/inference.js';
import { verifyModel } from '../../models/installed-models.js';
import { fileOfRole } from '../../models/manifest.js';
import type { EmbeddingEntry } from '../../models/manifest-schema.js';
import { checkCanary } from '../../models/vector-checks.js';
import type { LocalRuntime } from '../../ports/model-runtime.js';
import { probeBatches } from './batch-probe.js';
import { singleInput } from './embed-protocol.js';
import { HubTokenizer } from './hub-tokenizer.js';
import { keepCanary, knownCanary } from './kept-canary.js';
import { OnnxEmbedder } from './onnx-embedder.js';
import { type OnnxOptions, openPool, positive } from './open-pool.js';
import type { BatchPolicy } from './ready-queue.js';

export interface OnnxEmbedderOptions extends OnnxOptions<EmbeddingEntry> {
  /**
   * Whether texts may share a run: only where they have the same bits as alone (`exact`, the default), also where they differ by
   * rounding (`close`, worth it on a GPU), or never (`off`).
   */
  readonly batches?: BatchWish | undefined;
  /** Texts that may wait in each of the two lanes. Default 4,096: about 12 s of work for two workers. */
  readonly queueLimit?: number | undefined;
}

const DEFAULT_QUEUE_LIMIT = 4_096;
/** Where the manifest has no canary: its vector at the first start is what later ones are held to. */
const DEFAULT_CANARY_TEXT = 'A reviewer corrected this answer.';
/** Enough different tokens for fixed texts of any length. */
const PROBE_TEXT =
  'The scanner reported a vulnerable class, but nothing in the delivered program loads it: the reviewer says that such findings are closed as not reachable.';
/** Tokens of a run where texts may share one: the fastest of 128 to 4,096 on the processors measured. */
const BULK_TOKENS = 512;
/** A query waits for a whole run: 128 tokens of MiniLM take about 5 ms on one thread. */
const INTERACTIVE_TOKENS = 128;

/**
 * Opens an installed model: checks its digests, starts the first worker, compares a fixed text's vector with the known one and finds
 * out which texts may share a run. Where the manifest knows no vector, the first start's is kept in `runtimeDir` for the next ones. The other workers start in the background. About 0.3 s for MiniLM.
 *
 * Errors: `MODEL_NOT_INSTALLED`, `DIGEST_MISMATCH`, `MODEL_UNAVAILABLE`, `INVALID_VECTOR`, `INVALID_INPUT`, `INVALID_FILE`.
 */
export async function createOnnxEmbedder(options: OnnxEmbedderOptions): Promise<OnnxEmbedder> {
  const { modelDir, manifestEntry: entry, batches: wish = 'exact' } = options;
  const queueLimit = positive('queueLimit', options.queueLimit ?? DEFAULT_QUEUE_LIMIT);
  await verifyModel(modelDir, entry);
  const tokenizer = await HubTokenizer.open(
    join(modelDir, fileOfRole(entry, 'tokenizer').path),
    entry.maxTokens,
  );
  const known = await knownCanary(options.runtimeDir, entry);
  const text = known?.text ?? DEFAULT_CANARY_TEXT;
  const canary = await tokenizer.encode(entry.prefixes.query + text);
  let seen: Float32Array | undefined;
  const probeText = await tokenizer.encode(PROBE_TEXT);
  const { dimensions, pooling, normalise, maxTokens } = entry;

  const embedder = new OnnxEmbedder({ entry, tokenizer, queueLimit });
  try {
    const { pool, runtime } = await openPool(options, {
      task: { kind: 'embedding', dimensions, pooling, normalise },
      canary: () => singleInput(canary.ids.slice()),
      checkCanary: (vector) => {
        checkCanary(vector, { ...entry, canary: known });
        seen ??= vector.slice();
      },
      probe: (probed) => probeBatches(probed, { ids: probeText.ids, maxTokens, dimensions, wish }),
      onIdle: () => embedder.pump(),
      onDead: (error) => embedder.fail(error),
    });
    embedder.attach(pool, runtime, batchPolicy(runtime));
    if (known === undefined && seen !== undefined) await keepCanary(options, entry, { text, vector: seen });
    return embedder;
  } catch (error) {
    await embedder.close();
    throw error;
  }
}

function batchPolicy({ batches, provider }: LocalRuntime): BatchPolicy {
  // On a device a run of 512 tokens takes hardly longer than one of 20.
  const interactiveTokens = provider === 'cpu' ? INTERACTIVE_TOKENS : BULK_TOKENS;
  return { kind: batches, interactiveTokens, bulkTokens: BULK_TOKENS };
}
