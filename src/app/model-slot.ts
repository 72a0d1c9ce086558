import type { ModelGeneration } from './model-generation.js';

interface Held {
  readonly generation: ModelGeneration;
  /** Calls under way. */
  users: number;
  /** Set while the generation is being given up. */
  idle: (() => void) | undefined;
}

/**
 * The generation that serves. It is replaced in one step: a call runs to its end on the generation that it began with, and the
 * old one is closed after its last call.
 */
export class ModelSlot {
  #held: Held;

  constructor(first: ModelGeneration) {
    this.#held = { generation: first, users: 0, idle: undefined };
  }

  get current(): ModelGeneration {
    return this.#held.generation;
  }

  /** An object whose methods are those of the generation that serves when they are called. */
  forward<T extends object>(pick: (generation: ModelGeneration) => T): T {
    return new Proxy({} as T, {
      get: (_target, name) => {
        // What is awaited is asked for `then`: this is no promise.
        if (name === 'then' || typeof name === 'symbol') return undefined;
        return (...args: unknown[]): unknown => {
          const held = this.#held;
          const part = pick(held.generation);
          const method: unknown = Reflect.get(part, name);
          if (typeof method !== 'function') return undefined;
          held.users += 1;
          let result: unknown;
          try {
            result = Reflect.apply(method, part, args);
          } catch (error) {
            this.#leave(held);
            throw error;
          }
          return Promise.resolve(result).finally(() => this.#leave(held));
        };
      },
    });
  }

  /** Resolves with the generation that served, once no call uses it any more. */
  async replace(next: ModelGeneration): Promise<ModelGeneration> {
    const old = this.#held;
    this.#held = { generation: next, users: 0, idle: undefined };
    if (old.users > 0) {
      await new Promise<void>((resolve) => {
        old.idle = resolve;
      });
    }
    return old.generation;
  }

  #leave(held: Held): void {
    held.users -= 1;
    if (held.users === 0) held.idle?.();
  }
}
