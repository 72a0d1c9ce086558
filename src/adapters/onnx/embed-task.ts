import { ErrataError } from '../../domain/errors.js';
import type { Embedding } from '../../ports/embedder.js';

export type Lane = 'interactive' | 'bulk';

export interface Waiter {
  readonly resolve: (embedding: Embedding) => void;
  readonly reject: (error: unknown) => void;
}

/** One text on its way to a vector, shared by every call that asked for the same text meanwhile. */
export class EmbedTask {
  readonly text: string;
  readonly tokenVectors: boolean;
  lane: Lane;
  readonly #waiters = new Set<Waiter>();

  constructor(text: string, tokenVectors: boolean, lane: Lane) {
    this.text = text;
    this.tokenVectors = tokenVectors;
    this.lane = lane;
  }

  /** Equal keys are one task. */
  get key(): string {
    return EmbedTask.keyOf(this.text, this.tokenVectors);
  }

  static keyOf(text: string, tokenVectors: boolean): string {
    return `${tokenVectors ? 't' : 'v'}${text}`;
  }

  get wanted(): boolean {
    return this.#waiters.size > 0;
  }

  join(waiter: Waiter): void {
    this.#waiters.add(waiter);
  }

  leave(waiter: Waiter): void {
    this.#waiters.delete(waiter);
  }

  /** Every waiter gets a vector of its own; the last one the one that is given. */
  resolve(embedding: Embedding): void {
    let left = this.#waiters.size;
    for (const waiter of this.#waiters) {
      left -= 1;
      waiter.resolve(left === 0 ? embedding : copyOf(embedding));
    }
    this.#waiters.clear();
  }

  reject(error: unknown): void {
    for (const waiter of this.#waiters) waiter.reject(error);
    this.#waiters.clear();
  }
}

function copyOf(embedding: Embedding): Embedding {
  const { tokenVectors } = embedding;
  const copy = { ...embedding, vector: embedding.vector.slice() };
  if (tokenVectors === undefined) return copy;
  return { ...copy, tokenVectors: { rows: tokenVectors.rows.slice(), spans: tokenVectors.spans.slice() } };
}

/**
 * Two first-in-first-out lanes, each bounded; interactive texts always go first. A task counts against the bound until it
 * starts to run or is dropped, also while it is tokenized.
 */
export class TaskLanes {
  readonly #limit: number;
  readonly #held: Readonly<Record<Lane, Set<EmbedTask>>> = { interactive: new Set(), bulk: new Set() };
  readonly #lanes: Readonly<Record<Lane, Set<EmbedTask>>> = { interactive: new Set(), bulk: new Set() };

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Errors: `QUEUE_FULL` unless so many more tasks fit; `INPUT_TOO_LARGE` where they never would. */
  checkRoom(lane: Lane, count: number): void {
    if (count > this.#limit)
      throw new ErrataError(
        'INPUT_TOO_LARGE',
        `Expected at most ${this.#limit} texts for one call, received ${count}`,
      );
    const waiting = this.#held[lane].size;
    if (waiting + count > this.#limit)
      throw new ErrataError(
        'QUEUE_FULL',
        `Expected room for ${count} texts in the ${lane} queue, received ${waiting} waiting of ${this.#limit}`,
      );
  }

  add(task: EmbedTask): void {
    this.#lanes[task.lane].add(task);
    this.#held[task.lane].add(task);
  }

  /** Turns a bulk task into an interactive one, wherever it is; no effect on a running one. */
  hurry(task: EmbedTask): void {
    task.lane = 'interactive';
    if (this.#held.bulk.delete(task)) this.#held.interactive.add(task);
    if (this.#lanes.bulk.delete(task)) this.#lanes.interactive.add(task);
  }

  /** The task runs, or nobody wants it any more: it makes room. */
  release(task: EmbedTask): void {
    this.#held[task.lane].delete(task);
  }

  /** False where the task is not waiting here any more. */
  remove(task: EmbedTask): boolean {
    return this.#lanes[task.lane].delete(task);
  }

  /** Takes the next task, if any. */
  take(lane: Lane): EmbedTask | undefined {
    const [task] = this.#lanes[lane];
    if (task !== undefined) this.#lanes[lane].delete(task);
    return task;
  }

  clear(): void {
    for (const tasks of [...Object.values(this.#lanes), ...Object.values(this.#held)]) tasks.clear();
  }
}
