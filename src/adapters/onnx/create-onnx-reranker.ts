import { join } from 'node:path';
import { verifyModel } from '../../models/installed-models.js';
import { fileOfRole } from '../../models/manifest.js';
import type { RerankingEntry } from '../../models/manifest-schema.js';
import type { EncodedPair } from '../../models/tokenizer.js';
import { paddedInput, singleInput } from './embed-protocol.js';
import { HubTokenizer } from './hub-tokenizer.js';
import { holdLogits } from './kept-canary.js';
import { checkedLogit, encodePassages, OnnxReranker } from './onnx-reranker.js';
import { type OnnxOptions, openPool } from './open-pool.js';
import type { WorkerPool } from './worker-pool.js';

export interface OnnxRerankerOptions extends OnnxOptions<RerankingEntry> {
  /** Pairs that may wait. Default 2,000: 100 queries of 20 candidates. */
  readonly queueLimit?: number | undefined;
  /** For a call, waiting included. Default 2 s. */
  readonly timeoutMs?: number | undefined;
  /** Each passage by itself, without the query: a classifier of texts. Default false. */
  readonly alone?: boolean | undefined;
}

const DEFAULT_QUEUE_LIMIT = 2_000;
const DEFAULT_TIMEOUT_MS = 2_000;
/** Of a run where batches are safe; what embedding runs fastest with on the machines measured. */
const BATCH_TOKENS = 512;
/** Largest difference of a pair's logit alone and in a batch that counts as rounding. */
const BATCH_TOLERANCE = 1e-3;

const PROBE_QUERY = 'Does the finding apply?';
/** Of unequal lengths, so that the shorter ones are padded. */
const PROBE_PASSAGES = [
  'The jar is only on the test class path.',
  'A reviewer found that the vulnerable class is not part of the delivered program, and that nothing else loads it.',
  'No.',
];

/**
 * Opens an installed cross-encoder: checks its digests, starts a worker, runs fixed pairs alone and together, and decides by
 * that whether pairs may share a run (dynamically quantised models scale by the whole batch, so theirs may not). With `runtimeDir`
 * the pairs' logits must be those of the first start.
 *
 * Errors: `MODEL_NOT_INSTALLED`, `DIGEST_MISMATCH`, `MODEL_UNAVAILABLE`, `INVALID_FILE`.
 */
export async function createOnnxReranker(options: OnnxRerankerOptions): Promise<OnnxReranker> {
  const { modelDir, manifestEntry: entry } = options;
  await verifyModel(modelDir, entry);
  const tokenizerFile = join(modelDir, fileOfRole(entry, 'tokenizer').path);
  const tokenizer = await HubTokenizer.open(tokenizerFile, entry.maxTokens);
  const { alone = false } = options;
  const probes = await encodePassages({ tokenizer, alone }, PROBE_QUERY, PROBE_PASSAGES);
  const [first] = probes;
  let reranker: OnnxReranker | undefined;
  const { pool, runtime } = await openPool(options, {
    task: { kind: 'reranking', logits: entry.logits },
    canary: () =>
      singleInput(Int32Array.from(first?.ids ?? []), { typeIds: Int32Array.from(first?.typeIds ?? []) }),
    checkCanary: (values) => void checkedLogit(values),
    probe: async (probed) => ((await batchesAreSafe(probed, probes, entry.logits)) ? 'PADDED' : 'ALONE'),
    onIdle: () => reranker?.pump(),
    onDead: (error) => reranker?.fail(error),
  });
  try {
    const logits: number[] = [];
    for (const probe of probes) logits.push(checkedLogit((await pool.run(paddedInput([probe]))).values));
    await holdLogits(options, entry, { logits, alone });
  } catch (error) {
    await pool.close();
    throw error;
  }
  reranker = new OnnxReranker({
    entry,
    tokenizer,
    alone,
    batchTokens: runtime.batches === 'PADDED' ? BATCH_TOKENS : 0,
    queueLimit: options.queueLimit ?? DEFAULT_QUEUE_LIMIT,
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
  });
  reranker.attach(pool, runtime);
  return reranker;
}

/** Whether pairs get the same logits in one run as alone. */
async function batchesAreSafe(
  pool: WorkerPool,
  probes: readonly EncodedPair[],
  width: number,
): Promise<boolean> {
  const together = (await pool.run(paddedInput(probes))).values;
  for (const [row, probe] of probes.entries()) {
    const alone = checkedLogit((await pool.run(paddedInput([probe]))).values);
    const shared = checkedLogit(together.subarray(row * width, (row + 1) * width));
    if (Math.abs(alone - shared) > BATCH_TOLERANCE) return false;
  }
  return true;
}
