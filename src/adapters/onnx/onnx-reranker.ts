import { ErrataError } from '../../domain/errors.js';
import { logit, type RerankLogit } from '../../domain/scores.js';
import type { RerankingEntry } from '../../models/manifest-schema.js';
import { rerankingModelId } from '../../models/model-id.js';
import type { EncodedPair, TextTokenizer } from '../../models/tokenizer.js';
import type { LocalRuntime } from '../../ports/model-runtime.js';
import type { Reranker } from '../../ports/reranker.js';
import { paddedInput } from './embed-protocol.js';
import type { WorkerPool } from './worker-pool.js';

export interface OnnxRerankerParts {
  readonly entry: RerankingEntry;
  readonly tokenizer: TextTokenizer;
  /** Whether passages are read by themselves, without the query. */
  readonly alone: boolean;
  /** Tokens of a run, padding included; one pair a run where it is 0. */
  readonly batchTokens: number;
  /** Pairs that may wait. */
  readonly queueLimit: number;
  /** For a whole call, waiting included. */
  readonly timeoutMs: number;
}

/** Pairs of one call that run together. */
interface Batch {
  readonly pairs: readonly { readonly at: number; readonly pair: EncodedPair }[];
  readonly call: Call;
}

interface Call {
  readonly logits: RerankLogit[];
  left: number;
  over: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** A cross-encoder in worker threads: pairs of a call sorted by length, in batches of about equal cost, calls in turn. */
export class OnnxReranker implements Reranker {
  readonly modelId: string;
  readonly #parts: OnnxRerankerParts;
  readonly #waiting: Batch[] = [];
  #queued = 0;
  #pool: WorkerPool | undefined;
  #runtime: LocalRuntime | undefined;
  #closing: Promise<void> | undefined;

  constructor(parts: OnnxRerankerParts) {
    this.#parts = parts;
    this.modelId = rerankingModelId(parts.entry);
  }

  /** Gives the reranker its workers; called once, by whoever made both. */
  attach(pool: WorkerPool, runtime: LocalRuntime): void {
    this.#pool = pool;
    this.#runtime = runtime;
  }

  runtime(): LocalRuntime | undefined {
    return this.#runtime;
  }

  async rerank(
    query: string,
    passages: readonly string[],
    options: { signal?: AbortSignal } = {},
  ): Promise<readonly RerankLogit[]> {
    if (this.#closing !== undefined) throw closed();
    if (options.signal?.aborted) throw aborted();
    if (passages.length === 0) return [];
    this.#takeRoom(passages.length);
    try {
      return await this.#withDeadline(options.signal, async (newCall) => {
        const pairs = await encodePassages(this.#parts, query, passages);
        if (this.#closing !== undefined) throw closed();
        const call = newCall(pairs.length);
        if (!call.over) this.#waiting.push(...batchesOf(pairs, this.#parts.batchTokens, call));
        this.#pool?.ensureWorkers();
        this.pump();
      });
    } finally {
      this.#queued -= passages.length;
    }
  }

  /** Starts what waits on workers that are idle. Called whenever something has changed. */
  pump(): void {
    while ((this.#pool?.idle ?? 0) > 0) {
      const batch = this.#waiting.shift();
      if (batch === undefined) return;
      if (!batch.call.over) void this.#run(batch);
    }
  }

  /** Fails every waiting call: there is no worker and none can be started. */
  fail(error: ErrataError): void {
    for (const { call } of this.#waiting.splice(0)) call.reject(error);
  }

  /** Waiting calls get `CLOSED`. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= (async () => {
      this.fail(closed());
      await this.#pool?.close();
    })();
    return this.#closing;
  }

  #takeRoom(pairs: number): void {
    const { queueLimit } = this.#parts;
    if (this.#queued + pairs > queueLimit)
      throw new ErrataError(
        'QUEUE_FULL',
        `Expected room for ${pairs} pairs, received ${this.#queued} waiting of ${queueLimit}`,
      );
    this.#queued += pairs;
  }

  async #withDeadline(
    signal: AbortSignal | undefined,
    start: (newCall: (pairs: number) => Call) => Promise<void>,
  ): Promise<readonly RerankLogit[]> {
    const { timeoutMs } = this.#parts;
    let timer: NodeJS.Timeout | undefined;
    let onAbort = () => {};
    let call: Call | undefined;
    const logits: RerankLogit[] = [];
    try {
      await new Promise<void>((resolve, reject) => {
        const stop = (error: ErrataError) => {
          if (call !== undefined) call.over = true;
          reject(error);
        };
        const late = `Expected scores within ${timeoutMs} ms from ${this.modelId}, received none`;
        timer = setTimeout(() => stop(new ErrataError('TIMED_OUT', late)), timeoutMs);
        onAbort = () => stop(aborted());
        signal?.addEventListener('abort', onAbort, { once: true });
        start((pairs) => {
          call = { logits, left: pairs, over: signal?.aborted === true, resolve, reject };
          return call;
        }).catch(reject);
      });
      return logits;
    } finally {
      if (call !== undefined) call.over = true;
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async #run({ pairs, call }: Batch): Promise<void> {
    try {
      if (this.#pool === undefined)
        throw new ErrataError('INTERNAL', 'Expected an attached worker pool, received none');
      const { values } = await this.#pool.run(paddedInput(pairs.map(({ pair }) => pair)));
      const width = this.#parts.entry.logits;
      for (const [row, { at }] of pairs.entries())
        call.logits[at] = checkedLogit(values.subarray(row * width, (row + 1) * width));
      call.left -= pairs.length;
      if (call.left === 0) call.resolve();
    } catch (error) {
      call.over = true;
      call.reject(error);
    }
  }
}

/** Passages behind the query, or alone. Errors: the tokenizer's. */
export async function encodePassages(
  { tokenizer, alone }: Pick<OnnxRerankerParts, 'tokenizer' | 'alone'>,
  query: string,
  passages: readonly string[],
): Promise<readonly EncodedPair[]> {
  if (!alone) return tokenizer.encodePairs(query, passages);
  const texts = await Promise.all(passages.map((text) => tokenizer.encode(text)));
  return texts.map(({ ids, truncated }) => ({ ids, typeIds: new Int32Array(ids.length), truncated }));
}

/** Of two logits the log-odds of the second, which is their difference. Errors: `MODEL_UNAVAILABLE` for NaN and infinity. */
export function checkedLogit(values: Float32Array): RerankLogit {
  const [first = Number.NaN, second] = values;
  const value = second === undefined ? first : second - first;
  if (Number.isFinite(value)) return logit(value);
  throw new ErrataError('MODEL_UNAVAILABLE', 'Expected finite logits from the reranker, received others');
}

/** Sorted by length, so that little is padded; longest first, so that no long one is left for the end. */
function batchesOf(pairs: readonly EncodedPair[], batchTokens: number, call: Call): Batch[] {
  const sorted = pairs
    .map((pair, at) => ({ at, pair }))
    .sort((a, b) => b.pair.ids.length - a.pair.ids.length);
  const batches: Batch[] = [];
  for (let from = 0; from < sorted.length; ) {
    const longest = sorted[from]?.pair.ids.length ?? 1;
    const rows = Math.max(1, Math.floor(batchTokens / longest));
    batches.push({ pairs: sorted.slice(from, from + rows), call });
    from += rows;
  }
  return batches;
}

const closed = () => new ErrataError('CLOSED', 'Expected an open reranker, received a closed one');
const aborted = () => new ErrataError('ABORTED', 'Expected scores, received an abort signal');
