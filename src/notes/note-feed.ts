import type { FeedbackNote } from '../domain/note.js';
import type { NoteFeed } from '../ports/use-cases.js';

/** A subscriber that reads slower than notes change loses the oldest: it gets the newest state, not an ever longer past. */
const QUEUE_LIMIT = 1_000;

interface Subscriber {
  readonly namespace: string;
  readonly taskType: string | undefined;
  readonly queue: FeedbackNote[];
  wake: (() => void) | undefined;
  closed: boolean;
}

/** Hands the changes that the index follower applies to whoever subscribed. */
export class InProcessNoteFeed implements NoteFeed {
  readonly #subscribers = new Set<Subscriber>();

  publish(note: FeedbackNote): void {
    for (const subscriber of this.#subscribers) {
      if (subscriber.namespace !== note.namespace) continue;
      if (subscriber.taskType !== undefined && subscriber.taskType !== note.taskType) continue;
      subscriber.queue.push(note);
      if (subscriber.queue.length > QUEUE_LIMIT) subscriber.queue.shift();
      subscriber.wake?.();
    }
  }

  /** Subscribed from the call on, not from the first `next()`: nothing that happens in between is missed. */
  changes(namespace: string, taskType?: string): AsyncIterableIterator<FeedbackNote> {
    const subscriber: Subscriber = { namespace, taskType, queue: [], wake: undefined, closed: false };
    this.#subscribers.add(subscriber);
    const end = async (): Promise<IteratorResult<FeedbackNote>> => {
      subscriber.closed = true;
      this.#subscribers.delete(subscriber);
      subscriber.wake?.();
      return { done: true, value: undefined };
    };
    return {
      [Symbol.asyncIterator]() {
        return this;
      },
      async next() {
        for (;;) {
          if (subscriber.closed) return { done: true, value: undefined };
          const note = subscriber.queue.shift();
          if (note !== undefined) return { done: false, value: note };
          await new Promise<void>((resolve) => {
            subscriber.wake = resolve;
          });
          subscriber.wake = undefined;
        }
      },
      return: end,
      throw: end,
    };
  }

  /** Ends every subscription. */
  close(): void {
    for (const subscriber of this.#subscribers) {
      subscriber.closed = true;
      subscriber.wake?.();
    }
    this.#subscribers.clear();
  }
}
