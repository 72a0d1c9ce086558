import { ErrataError } from '../../domain/errors.js';
import type { EmbeddingEntry } from '../../models/manifest-schema.js';
import { embeddingModelId } from '../../models/model-id.js';
import type { EncodedText, TextTokenizer } from '../../models/tokenizer.js';
import { checkUnitVector } from '../../models/vector-checks.js';
import type {
  Embedder,
  EmbedderStats,
  Embedding,
  EmbeddingModel,
  EmbedOptions,
} from '../../ports/embedder.js';
import { singleInput } from './embed-protocol.js';
import { EmbedTask, type Lane, TaskLanes, type Waiter } from './embed-task.js';
import type { WorkerPool } from './worker-pool.js';

export interface OnnxEmbedderParts {
  readonly entry: EmbeddingEntry;
  readonly tokenizer: TextTokenizer;
  /** Bulk texts that are tokenized ahead, so that no worker waits for token ids. */
  readonly tokenizeAhead: number;
  readonly queueLimit: number;
}

interface ReadyTask {
  readonly task: EmbedTask;
  readonly encoded: EncodedText;
}

/**
 * Embeds one text a run in worker threads, since a dynamically quantised model's vectors depend on their batch mates.
 * `tokens` of an embedding is what the model read, at most maxTokens. Equal texts in flight are embedded once.
 */
export class OnnxEmbedder implements Embedder {
  readonly model: EmbeddingModel;
  readonly #parts: OnnxEmbedderParts;
  readonly #lanes: TaskLanes;
  /** Queued, tokenizing, ready and running tasks by text. */
  readonly #inFlight = new Map<string, EmbedTask>();
  readonly #ready: Readonly<Record<Lane, ReadyTask[]>> = { interactive: [], bulk: [] };
  #tokenizingBulk = 0;
  #pool: WorkerPool | undefined;
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
  attach(pool: WorkerPool): void {
    this.#pool = pool;
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
    this.#ready.interactive.length = 0;
    this.#ready.bulk.length = 0;
    for (const task of this.#inFlight.values()) task.reject(error);
    this.#inFlight.clear();
  }

  /** Moves tasks on as far as they go: tokenize, then run. Called whenever something has changed. */
  pump(): void {
    for (let task = this.#lanes.take('interactive'); task; task = this.#lanes.take('interactive'))
      void this.#tokenize(task);
    while (this.#ready.bulk.length + this.#tokenizingBulk < this.#parts.tokenizeAhead) {
      const task = this.#lanes.take('bulk');
      if (task === undefined) break;
      this.#tokenizingBulk += 1;
      void this.#tokenize(task).finally(() => {
        this.#tokenizingBulk -= 1;
        this.pump();
      });
    }
    while ((this.#pool?.idle ?? 0) > 0) {
      const next = this.#ready.interactive.shift() ?? this.#ready.bulk.shift();
      if (next === undefined) break;
      if (next.task.wanted) void this.#run(next);
      else this.#forget(next.task);
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
    const at = this.#ready.bulk.findIndex((ready) => ready.task === task);
    if (at >= 0) this.#ready.interactive.push(...this.#ready.bulk.splice(at, 1));
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
      this.#ready[task.lane].push({ task, encoded });
      this.pump();
    } catch (error) {
      this.#forget(task);
      task.reject(error);
    }
  }

  async #run({ task, encoded }: ReadyTask): Promise<void> {
    this.#lanes.release(task);
    const tokens = encoded.ids.length;
    const { dimensions } = this.model;
    try {
      // The pool takes the idle worker before its first await, so the loop in pump() sees one less.
      if (this.#pool === undefined)
        throw new ErrataError('INTERNAL', 'Expected an attached worker pool, received none');
      const input = singleInput(encoded.ids, { tokenRows: task.tokenVectors });
      const { values: vector, rows } = await this.#pool.run(input);
      checkUnitVector(vector, dimensions);
      this.#embedded += 1;
      if (encoded.truncated) this.#truncated += 1;
      this.#forget(task);
      const { truncated, spans } = encoded;
      const tokenVectors = rows === undefined || spans === undefined ? undefined : { rows, spans };
      task.resolve({ vector, tokens, truncated, tokenVectors });
    } catch (error) {
      this.#forget(task);
      task.reject(error);
    }
  }
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
