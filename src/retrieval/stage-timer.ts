import type { Stage } from '../domain/retrieval.js';

/** Records what ran, in order, and how long it took. */
export class StageTimer {
  readonly stages: Stage[] = [];

  /** Runs a stage; `describe` turns its result into the detail that receipts show. */
  async run<T>(
    name: string,
    work: () => Promise<T> | T,
    describe?: (result: T) => string | undefined,
  ): Promise<T> {
    const start = performance.now();
    const result = await work();
    this.#add(name, performance.now() - start, describe?.(result));
    return result;
  }

  /** Records a stage that did not run. */
  skip(name: string, why: string): void {
    this.#add(name, 0, why);
  }

  #add(name: string, ms: number, detail: string | undefined): void {
    const rounded = Math.round(ms * 1_000) / 1_000;
    this.stages.push(detail === undefined ? { name, ms: rounded } : { name, ms: rounded, detail });
  }
}
