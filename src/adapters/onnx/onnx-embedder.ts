import { ErrataError } from '../../domain/errors.js';
import type { EmbeddingEntry } from '../../models/manifest-schema.js';
import { embeddingModelId } from '../../models/model-id.js';
import type { TextTokenizer } from '../../models/tokenizer.js';
import { checkUnitVector } from '../../models/vector-checks.js';
import type {
  Embedder,
  EmbedderStats,
  Embedding,
  EmbeddingModel,
  EmbedOptions,
} from '../../ports/embedder.js';
import type { LocalRuntime } from '../../ports/model-runtime.js';
import { type InferenceOutput, paddedInput, singleInput } from './embed-protocol.js';
import { EmbedTask, type Lane, TaskLanes, type Waiter } from './embed-task.js';
import { ALONE, type BatchPolicy, ReadyQueue, type ReadyTask } from './ready-queue.js';
import type { WorkerPool } from './worker-pool.js';

export interface OnnxEmbedderParts {
  readonly entry: EmbeddingEntry;
  readonly tokenizer: TextTokenizer;
  readonly queueLimit: number;
}

/** Bulk texts that are tokenized ahead where texts of one length share runs: enough to find some. */
const AHEAD_FOR_BATCHES = 1_024;

/**
 * Embeds in worker threads, one text a run where a vector would depend on its batch mates (dynamically quantised models).
 * `tokens` of an embedding is what the model read, at most maxTokens. Equal texts in flight are embedded once.
 */
export class OnnxEmbedder implements Embedder {
  readonly model: EmbeddingModel;
  readonly #parts: OnnxEmbedderParts;
  readonly #lanes: TaskLanes;
  /** Queued, tokenizing, ready and running tasks by text. */
  readonly #inFlight = new Map<string, EmbedTask>();
  readonly #ready = new ReadyQueue();
  #tokenizingBulk = 0;
  #pool: WorkerPool | undefined;
  #runtime: LocalRuntime | undefined;
  #batches: BatchPolicy = ALONE;
  #embedded = 0;
  #truncated = 0;
  #closing: Promise<void> | undefined;

  constructor(parts: OnnxEmbedderParts) {
    this.#parts = parts;
    this.#lanes = new TaskLanes(parts.queueLimit);
    const { name, dimensions, maxTokens } = parts.entry;
    this.model = Object.freeze({ id: embeddingModelId(parts.entry), name, dimensions, maxTokens });
  }

  /** Gives the embedder its workers; called once, by whoever made both. */
  attach(pool: WorkerPool, runtime: LocalRuntime, batches: BatchPolicy): void {
    this.#pool = pool;
    this.#runtime = runtime;
    this.#batches = batches;
  }

  runtime(): LocalRuntime | undefined {
    return this.#runtime;
  }

  async embed(texts: readonly string[], options: EmbedOptions): Promise<readonly Embedding[]> {
    if (this.#closing !== undefined) throw closed();
    if (options.signal?.aborted) throw aborted();
    if (texts.length === 0) return [];
    const prefix = this.#parts.entry.prefixes[options.kind];
    const lane = options.priority ?? (options.kind === 'query' ? 'interactive' : 'bulk');
    const tokenVectors = options.tokenVectors === true;
    const prefixed = texts.map((text) => prefix + text);
    const keys = prefixed.map((text) => EmbedTask.keyOf(text, tokenVectors));
    const fresh = new Set(keys.filter((key) => !this.#inFlight.has(key)));
    this.#lanes.checkRoom(lane, fresh.size);

    const joined: { task: EmbedTask; waiter: Waiter }[] = [];
    const answers = prefixed.map(
      (text) =>
        new Promise<Embedding>((resolve, reject) => {
          const waiter = { resolve, reject };
          const task = this.#taskOf(text, tokenVectors, lane);
          task.join(waiter);
          joined.push({ task, waiter });
        }),
    );
    this.#pool?.ensureWorkers();
    this.pump();
    const stop = watchAbort(options.signal);
    try {
      const embeddings = await Promise.race([Promise.all(answers), stop.aborted]);
      return embeddings.map((embedding) => withoutPrefix(embedding, prefix.length));
    } finally {
      stop.dispose();
      // After success there is nothing left to leave; after a failure the rest of the call's texts are not wanted.
      for (const { task, waiter } of joined) this.#leave(task, waiter);
    }
  }

  stats(): EmbedderStats {
    return { truncatedTexts: this.#truncated, embeddedTexts: this.#embedded, cacheHits: 0, cacheMisses: 0 };
  }

  /** Waiting calls get `CLOSED`; the texts that run are finished and thrown away. Idempotent. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Fails every waiting call: there is no worker and none can be started. */
  fail(error: ErrataError): void {
    this.#lanes.clear();
    this.#ready.clear();
    for (const task of this.#inFlight.values()) task.reject(error);
    this.#inFlight.clear();
  }

  /** Moves tasks on as far as they go: tokenize, then run. Called whenever something has changed. */
  pump(): void {
    for (let task = this.#lanes.take('interactive'); task; task = this.#lanes.take('interactive'))
      void this.#tokenize(task);
    this.#tokenizeAhead();
    const pool = this.#pool;
    if (pool === undefined) return;
    while (pool.idle > 0) {
      const batch = this.#takeReady();
      if (batch === undefined) break;
      void this.#run(pool, batch);
    }
    const queries = this.#ready.size('interactive');
    // A query waits for what runs, not for what lies behind it; nor does a worker stay idle while another one has two.
    if (pool.hasAhead && (queries > 0 || pool.idle > 0)) pool.takeBack();
    while (queries === 0 && pool.idle === 0 && pool.hasRoomAhead) {
      const batch = this.#takeReady();
      if (batch === undefined) break;
      void this.#run(pool, batch, { ahead: true });
    }
  }

  /** The texts of the next run that are still wanted; undefined where none is ready. */
  #takeReady(): readonly ReadyTask[] | undefined {
    for (;;) {
      const taken = this.#ready.take(this.#batches);
      if (taken.length === 0) return undefined;
      const wanted = taken.filter(({ task }) => task.wanted);
      for (const { task } of taken) if (!task.wanted) this.#forget(task);
      if (wanted.length > 0) return wanted;
      // Nothing runs whose end would make room for the next.
      this.#tokenizeAhead();
    }
  }

  /** Takes bulk texts from the lane until enough are ready. */
  #tokenizeAhead(): void {
    while (this.#ready.size('bulk') + this.#tokenizingBulk < this.#ahead()) {
      const task = this.#lanes.take('bulk');
      if (task === undefined) break;
      this.#tokenizingBulk += 1;
      void this.#tokenize(task).finally(() => {
        this.#tokenizingBulk -= 1;
        this.pump();
      });
    }
  }

  async #close(): Promise<void> {
    this.fail(closed());
    await this.#pool?.close();
  }

  #taskOf(text: string, tokenVectors: boolean, lane: Lane): EmbedTask {
    const known = this.#inFlight.get(EmbedTask.keyOf(text, tokenVectors));
    if (known !== undefined) {
      if (lane === 'interactive') this.#hurry(known);
      return known;
    }
    const task = new EmbedTask(text, tokenVectors, lane);
    this.#inFlight.set(task.key, task);
    this.#lanes.add(task);
    return task;
  }

  #hurry(task: EmbedTask): void {
    this.#lanes.hurry(task);
    this.#ready.hurry(task);
  }

  #leave(task: EmbedTask, waiter: Waiter): void {
    task.leave(waiter);
    if (task.wanted || this.#inFlight.get(task.key) !== task) return;
    // Still queued: drop it. Further on, it is dropped before it runs, or its vector is thrown away.
    if (this.#lanes.remove(task)) this.#forget(task);
  }

  #forget(task: EmbedTask): void {
    this.#lanes.release(task);
    if (this.#inFlight.get(task.key) === task) this.#inFlight.delete(task.key);
  }

  async #tokenize(task: EmbedTask): Promise<void> {
    try {
      const encoded = await this.#parts.tokenizer.encode(task.text, { spans: task.tokenVectors });
      if (this.#inFlight.get(task.key) !== task) return;
      this.#ready.push({ task, encoded });
      this.pump();
    } catch (error) {
      this.#forget(task);
      task.reject(error);
    }
  }

  /** So many that no worker waits for token ids: one runs, one lies behind it. */
  #ahead(): number {
    return this.#batches.kind === 'ALONE' ? 2 * (this.#runtime?.sessions ?? 1) : AHEAD_FOR_BATCHES;
  }

  /** On an idle worker, or `ahead`, behind what runs on one. */
  async #run(
    pool: WorkerPool,
    batch: readonly ReadyTask[],
    { ahead = false }: { readonly ahead?: boolean } = {},
  ): Promise<void> {
    // What can still be taken back goes on counting as waiting.
    if (!ahead) for (const { task } of batch) this.#lanes.release(task);
    // Before the ids of a text that runs alone are handed over.
    const lengths = batch.map(({ encoded }) => encoded.ids.length);
    try {
      // The pool takes the worker before its first await, so the loops in pump() see one less.
      const output = ahead
        ? await pool.runAhead(inputOf(batch, true))
        : await pool.run(inputOf(batch, false));
      if (output === undefined) return this.#giveBack(batch);
      let from = 0;
      for (const [row, ready] of batch.entries()) {
        const tokens = lengths[row] ?? 0;
        this.#settle(
          ready,
          batch.length === 1 ? output : rowOf(output, this.model.dimensions, { row, from, tokens }),
          tokens,
        );
        from += tokens;
      }
    } catch (error) {
      for (const { task } of batch) {
        this.#forget(task);
        task.reject(error);
      }
    }
  }

  /** Texts that were taken back, or whose worker ended before it came to them. */
  #giveBack(batch: readonly ReadyTask[]): void {
    this.#ready.giveBack(batch.filter(({ task }) => this.#inFlight.get(task.key) === task));
    this.pump();
  }

  /** With one text's part of a run. */
  #settle({ task, encoded }: ReadyTask, { values: vector, rows }: InferenceOutput, tokens: number): void {
    this.#forget(task);
    try {
      checkUnitVector(vector, this.model.dimensions);
      this.#embedded += 1;
      const { truncated, spans } = encoded;
      if (truncated) this.#truncated += 1;
      const tokenVectors = rows === undefined || spans === undefined ? undefined : { rows, spans };
      task.resolve({ vector, tokens, truncated, tokenVectors });
    } catch (error) {
      task.reject(error);
    }
  }
}

/** `from` counts the tokens of the rows before it. */
function rowOf(
  { values, rows }: InferenceOutput,
  dimensions: number,
  { row, from, tokens }: { readonly row: number; readonly from: number; readonly tokens: number },
): InferenceOutput {
  return {
    values: values.slice(row * dimensions, (row + 1) * dimensions),
    rows: rows?.slice(from * dimensions, (from + tokens) * dimensions),
  };
}

/** The ids of a text that runs alone are handed over, so that nothing is copied, unless they are kept for another try. */
function inputOf(batch: readonly ReadyTask[], keep: boolean) {
  const [first] = batch;
  const tokenRows = first?.task.tokenVectors === true;
  if (first !== undefined && batch.length === 1) {
    const { ids } = first.encoded;
    return singleInput(keep ? ids.slice() : ids, { tokenRows });
  }
  return paddedInput(
    batch.map(({ encoded }) => encoded),
    tokenRows,
  );
}

/** Spans count from the start of the caller's text; tokens of the prefix become special ones. */
function withoutPrefix(embedding: Embedding, prefixLength: number): Embedding {
  const { tokenVectors } = embedding;
  if (tokenVectors === undefined || prefixLength === 0) return embedding;
  const spans = tokenVectors.spans.map((offset) => Math.max(0, offset - prefixLength));
  return { ...embedding, tokenVectors: { ...tokenVectors, spans } };
}

const closed = () => new ErrataError('CLOSED', 'Expected an open embedder, received a closed one');
const aborted = () => new ErrataError('ABORTED', 'Expected embeddings, received an abort signal');

function watchAbort(signal: AbortSignal | undefined): { aborted: Promise<never>; dispose: () => void } {
  let onAbort = () => {};
  const promise = new Promise<never>((_, reject) => {
    onAbort = () => reject(aborted());
    signal?.addEventListener('abort', onAbort, { once: true });
  });
  // The race may already be over when the signal fires.
  promise.catch(() => {});
  return { aborted: promise, dispose: () => signal?.removeEventListener('abort', onAbort) };
}
