/** An iterator that is pushed to; `return()` ends it at once, also while a `next()` waits, as the ports ask. */
export class LiveFeed<T> implements AsyncIterableIterator<T> {
  private readonly queue: T[] = [];
  private waiting: ((result: IteratorResult<T>) => void) | undefined;
  ended = false;

  constructor(private readonly onEnd: () => void = () => undefined) {}

  push(value: T): void {
    if (this.waiting === undefined) this.queue.push(value);
    else {
      const resolve = this.waiting;
      this.waiting = undefined;
      resolve({ value, done: false });
    }
  }

  next(): Promise<IteratorResult<T>> {
    const value = this.queue.shift();
    if (value !== undefined) return Promise.resolve({ value, done: false });
    if (this.ended) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve) => {
      this.waiting = resolve;
    });
  }

  return(): Promise<IteratorResult<T>> {
    if (!this.ended) {
      this.ended = true;
      this.waiting?.({ value: undefined, done: true });
      this.onEnd();
    }
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}
