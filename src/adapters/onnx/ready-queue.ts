import type { EncodedText } from '../../models/tokenizer.js';
import type { BatchKind } from '../../ports/model-runtime.js';
import type { EmbedTask, Lane } from './embed-task.js';

/** A tokenized text that waits for a worker. */
export interface ReadyTask {
  readonly task: EmbedTask;
  readonly encoded: EncodedText;
}

/** Which texts may share a run, and how many tokens (padding included) a run may have. */
export interface BatchPolicy {
  readonly kind: BatchKind;
  /** A query waits for a whole run, so that this bounds what batching adds to it. */
  readonly interactiveTokens: number;
  readonly bulkTokens: number;
}

export const ALONE: BatchPolicy = { kind: 'ALONE', interactiveTokens: 0, bulkTokens: 0 };

/**
 * Tokenized texts in two lanes. `take` gives the next run: the oldest text of the interactive lane, else of the bulk lane, and with
 * it those of its lane that may share its run. Whoever waits longest is always in the next run, so that no length starves.
 */
export class ReadyQueue {
  readonly #lanes: Readonly<Record<Lane, ReadyTask[]>> = { interactive: [], bulk: [] };

  push(ready: ReadyTask): void {
    this.#lanes[ready.task.lane].push(ready);
  }

  /** What was taken and did not run: first in its lane again. */
  giveBack(ready: readonly ReadyTask[]): void {
    for (const one of ready.toReversed()) this.#lanes[one.task.lane].unshift(one);
  }

  size(lane: Lane): number {
    return this.#lanes[lane].length;
  }

  /** A bulk text that a query asks for, too. */
  hurry(task: EmbedTask): void {
    const at = this.#lanes.bulk.findIndex((ready) => ready.task === task);
    if (at >= 0) this.#lanes.interactive.push(...this.#lanes.bulk.splice(at, 1));
  }

  /** Empty where nothing waits. O(waiting · log waiting) where texts are padded, else O(waiting). */
  take({ kind, interactiveTokens, bulkTokens }: BatchPolicy): ReadyTask[] {
    const lane = this.#lanes.interactive.length > 0 ? 'interactive' : 'bulk';
    const waiting = this.#lanes[lane];
    if (kind === 'ALONE') return waiting.splice(0, 1);
    const [head] = waiting;
    if (head === undefined) return [];
    const tokens = lane === 'interactive' ? interactiveTokens : bulkTokens;
    const mates = waiting.filter(({ task }) => task.tokenVectors === head.task.tokenVectors);
    const batch = kind === 'EQUAL_LENGTHS' ? equalTo(head, mates, tokens) : nearTo(head, mates, tokens);
    const taken = new Set(batch);
    this.#lanes[lane].splice(0, waiting.length, ...waiting.filter((ready) => !taken.has(ready)));
    return batch;
  }

  clear(): void {
    this.#lanes.interactive.length = 0;
    this.#lanes.bulk.length = 0;
  }
}

const lengthOf = ({ encoded }: ReadyTask): number => encoded.ids.length;

function equalTo(head: ReadyTask, mates: readonly ReadyTask[], tokens: number): ReadyTask[] {
  const length = lengthOf(head);
  const rows = Math.max(1, Math.floor(tokens / Math.max(1, length)));
  return mates.filter((ready) => lengthOf(ready) === length).slice(0, rows);
}

/** Those next to it by length: shorter ones cost padding, so that as many longer ones come first as the budget takes. */
function nearTo(head: ReadyTask, mates: readonly ReadyTask[], tokens: number): ReadyTask[] {
  const sorted = [...mates].sort((a, b) => lengthOf(a) - lengthOf(b));
  let from = sorted.indexOf(head);
  let to = from + 1;
  const fits = (low: number, high: number): boolean => {
    const longest = sorted[high - 1];
    return longest !== undefined && (high - low) * lengthOf(longest) <= tokens;
  };
  for (;;) {
    if (to < sorted.length && fits(from, to + 1)) to += 1;
    else if (from > 0 && fits(from - 1, to)) from -= 1;
    else return sorted.slice(from, to);
  }
}
