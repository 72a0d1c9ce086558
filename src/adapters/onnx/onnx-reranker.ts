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
        const call = newCall(passages.length);
        this.#pool?.ensureWorkers();
        for (const places of this.#groupsOf(passages)) {
          const texts = places.map((at) => passages[at] ?? '');
          const encoded = await encodePassages(this.#parts, query, texts);
          if (this.#closing !== undefined) throw closed();
          if (call.over) return;
          const pairs = encoded.map((pair, row) => ({ at: places[row] ?? 0, pair }));
          this.#waiting.push(...batchesOf(pairs, this.#parts.batchTokens, call));
          this.pump();
        }
      });
    } finally {
      this.#queued -= passages.length;
    }
  }

  /** Starts what waits on workers that are idle. Called whenever something has changed. */
  pump(): void {
    const pool = this.#pool;
    if (pool === undefined) return;
    while (pool.idle > 0 || pool.hasRoomAhead) {
      const batch = this.#waiting.shift();
      if (batch === undefined) break;
      if (!batch.call.over) void this.#run(pool, batch);
    }
    // No worker stays idle while another one has two.
    if (pool.idle > 0 && pool.hasAhead) pool.takeBack();
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

  /**
   * Places of passages that are read together, in the order in which they are sent to the workers. Where every pair runs alone, one
   * a session goes first, the longest ones, so that the workers run while the others are read.
   */
  #groupsOf(passages: readonly string[]): readonly (readonly number[])[] {
    const places = passages.map((_, at) => at);
    const first = this.#runtime?.sessions ?? 1;
    if (this.#parts.batchTokens > 0 || passages.length <= first) return [places];
    places.sort((a, b) => (passages[b]?.length ?? 0) - (passages[a]?.length ?? 0));
    return [places.slice(0, first), places.slice(first)];
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

  /** On an idle worker, or behind what runs on one. */
  async #run(pool: WorkerPool, batch: Batch): Promise<void> {
    const { pairs, call } = batch;
    try {
      const input = paddedInput(pairs.map(({ pair }) => pair));
      const output = await (pool.idle > 0 ? pool.run(input) : pool.runAhead(input));
      if (output === undefined) {
        if (this.#closing !== undefined) throw closed();
        this.#waiting.unshift(batch);
        return this.pump();
      }
      const { values } = output;
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
function batchesOf(pairs: Batch['pairs'], batchTokens: number, call: Call): Batch[] {
  const sorted = [...pairs].sort((a, b) => b.pair.ids.length - a.pair.ids.length);
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
