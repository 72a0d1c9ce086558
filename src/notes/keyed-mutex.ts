/** Runs work one after another per key, in the order of the calls. Keys cost nothing once nobody waits for them. */
export class KeyedMutex {
  readonly #tails = new Map<string, Promise<void>>();

  /**
   * Runs `work` while holding every key. Keys are queued for in one step, without an await between them, so that two calls
   * with the same keys can never wait for each other. A rejection of `work` is the caller's and frees the keys.
   */
  async run<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const distinct = [...new Set(keys)];
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    const before = distinct.map((key) => this.#tails.get(key));
    for (const key of distinct) {
      this.#tails.set(key, held);
    }
    // `held` waits for its own turn: whoever queues behind it waits for this run's end, which comes after `before`.
    try {
      await Promise.all(before);
      return await work();
    } finally {
      release();
      for (const key of distinct) {
        if (this.#tails.get(key) === held) {
          this.#tails.delete(key);
        }
      }
    }
  }
}
