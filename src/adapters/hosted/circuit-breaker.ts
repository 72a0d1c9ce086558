import { ErrataError } from '../../domain/errors.js';

export interface CircuitBreakerOptions {
  /** Failures in a row that open it. */
  readonly failures: number;
  /** How long nothing is sent then. */
  readonly pauseMs: number;
  readonly nowMs: () => number;
}

/**
 * Stops asking a service that fails: after so many failures in a row every call is refused for a pause, then one at a time is
 * let through until one succeeds.
 */
export class CircuitBreaker {
  readonly #options: CircuitBreakerOptions;
  #failures = 0;
  #openUntilMs = 0;
  #trying = false;

  constructor(options: CircuitBreakerOptions) {
    this.#options = options;
  }

  /** Errors: `MODEL_UNAVAILABLE` while it is open. */
  async run<T>(work: () => Promise<T>, isFailure: (error: unknown) => boolean): Promise<T> {
    const open = this.#failures >= this.#options.failures;
    const waitMs = this.#openUntilMs - this.#options.nowMs();
    if (open && (waitMs > 0 || this.#trying))
      throw new ErrataError(
        'MODEL_UNAVAILABLE',
        `Expected a hosted model that answers, received ${this.#failures} failures in a row; tried again in ${Math.ceil(Math.max(0, waitMs) / 1_000)} s`,
        { details: { retryAfterMs: Math.max(0, waitMs) } },
      );
    this.#trying = open;
    try {
      const result = await work();
      this.#failures = 0;
      return result;
    } catch (error) {
      if (isFailure(error)) {
        this.#failures += 1;
        this.#openUntilMs = this.#options.nowMs() + this.#options.pauseMs;
      }
      throw error;
    } finally {
      if (open) this.#trying = false;
    }
  }
}
