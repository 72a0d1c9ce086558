import { setTimeout as wait } from 'node:timers/promises';
import { ErrataError, isErrataError } from '../../domain/errors.js';
import type { ServiceUsage } from '../../ports/model-runtime.js';
import { CircuitBreaker } from './circuit-breaker.js';

export interface HostedClientOptions {
  /** Start of every address, `https://api.example.com/v1`. */
  readonly baseUrl: string;
  readonly key?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** For one attempt. Default 10 s. */
  readonly timeoutMs?: number | undefined;
  /** For a call: waiting for a place, attempts and the waits between them. Default 30 s. */
  readonly deadlineMs?: number | undefined;
  /** Default 4. */
  readonly maxAttempts?: number | undefined;
  /** First wait between attempts; doubled each time, a random share of it is waited. Default 250 ms. */
  readonly backoffMs?: number | undefined;
  /** Failed attempts in a row after which nothing is sent for a pause. Defaults 5 and 30 s. */
  readonly breakerFailures?: number | undefined;
  readonly breakerPauseMs?: number | undefined;
  /** Requests at the same time; others wait. Default 8. */
  readonly concurrency?: number | undefined;
}

const RETRIED_STATUSES = new Set([408, 409, 425, 429, 500, 502, 503, 504, 529]);
const DEFAULTS = { timeoutMs: 10_000, deadlineMs: 30_000, maxAttempts: 4, backoffMs: 250, concurrency: 8 };
type Limits = Readonly<typeof DEFAULTS>;
/** With less of a call's time left no service answers any more. */
const LEAST_ATTEMPT_MS = 10;
const BREAKER = { failures: 5, pauseMs: 30_000 };

/** An attempt that failed in a way that may pass. */
class Passing extends Error {
  readonly afterMs: number | undefined;

  constructor(message: string, options: { cause?: unknown; afterMs?: number | undefined } = {}) {
    super(message, { cause: options.cause });
    this.afterMs = options.afterMs;
  }
}

/**
 * Posts JSON to a hosted model: time limits, retries with jitter that respect Retry-After, a circuit breaker, counters.
 * Errors name the address and the status, never what was sent or received.
 */
export class HostedClient {
  readonly #options: Limits & Pick<HostedClientOptions, 'baseUrl' | 'key' | 'fetch'>;
  readonly #breaker: CircuitBreaker;
  /** Calls that wait for a place, longest first. */
  readonly #waiting = new Set<() => void>();
  #running = 0;
  #usage = { requests: 0, retries: 0, failures: 0, billedUnits: 0 };

  constructor(options: HostedClientOptions) {
    const { baseUrl, key, fetch } = options;
    this.#options = {
      baseUrl,
      key,
      fetch,
      timeoutMs: options.timeoutMs ?? DEFAULTS.timeoutMs,
      deadlineMs: options.deadlineMs ?? DEFAULTS.deadlineMs,
      maxAttempts: options.maxAttempts ?? DEFAULTS.maxAttempts,
      backoffMs: options.backoffMs ?? DEFAULTS.backoffMs,
      concurrency: options.concurrency ?? DEFAULTS.concurrency,
    };
    this.#breaker = new CircuitBreaker({
      failures: options.breakerFailures ?? BREAKER.failures,
      pauseMs: options.breakerPauseMs ?? BREAKER.pauseMs,
      nowMs: () => performance.now(),
    });
  }

  usage(): ServiceUsage {
    return { ...this.#usage };
  }

  countUnits(units: number | undefined): void {
    this.#usage.billedUnits += units ?? 0;
  }

  /**
   * The parsed answer; its form is the caller's to check.
   *
   * Errors: `TIMED_OUT`, `ABORTED`, `MODEL_UNAVAILABLE` (with `retryable` false in effect for statuses such as 400 and 401).
   */
  async post(path: string, body: object, signal: AbortSignal | undefined): Promise<unknown> {
    const startedMs = performance.now();
    const leftMs = () => this.#options.deadlineMs - (performance.now() - startedMs);
    await this.#enter(signal);
    this.#usage.requests += 1;
    try {
      for (let attempt = 1; ; attempt += 1) {
        if (signal?.aborted) throw aborted();
        try {
          const limitMs = Math.ceil(Math.max(1, Math.min(this.#options.timeoutMs, leftMs())));
          return await this.#breaker.run(
            () => this.#attempt(path, body, { signal, limitMs }),
            (error) => error instanceof Passing,
          );
        } catch (error) {
          if (!(error instanceof Passing)) throw error;
          const waitMs = error.afterMs ?? this.#backoff(attempt);
          if (attempt >= this.#options.maxAttempts || waitMs + LEAST_ATTEMPT_MS >= leftMs())
            throw this.#finalError(error);
          this.#usage.retries += 1;
          await wait(waitMs, undefined, signal === undefined ? {} : { signal }).catch((cause: unknown) => {
            throw signal?.aborted ? aborted() : cause;
          });
        }
      }
    } catch (error) {
      this.#usage.failures += 1;
      throw error;
    } finally {
      this.#leave();
    }
  }

  async #attempt(
    path: string,
    body: object,
    { signal, limitMs }: { readonly signal: AbortSignal | undefined; readonly limitMs: number },
  ): Promise<unknown> {
    const { baseUrl, key } = this.#options;
    const limit = AbortSignal.timeout(limitMs);
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json',
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    };
    try {
      const response = await (this.#options.fetch ?? fetch)(`${baseUrl.replace(/\/+$/, '')}${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        // Neither key nor texts follow to another host: a redirect is a status like others.
        redirect: 'manual',
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      });
      if (response.ok) return await response.json();
      await response.body?.cancel();
      const message = `HTTP ${response.status}`;
      if (RETRIED_STATUSES.has(response.status))
        throw new Passing(message, { afterMs: retryAfterMs(response.headers.get('retry-after')) });
      throw new ErrataError(
        'MODEL_UNAVAILABLE',
        `Expected HTTP 200 for ${baseUrl}${path}, received ${message}`,
      );
    } catch (error) {
      if (error instanceof Passing || isErrataError(error)) throw error;
      if (signal?.aborted) throw aborted();
      if (limit.aborted) throw new Passing(`no answer within ${limitMs} ms`, { cause: error });
      if (error instanceof SyntaxError) throw new Passing('something else than JSON', { cause: error });
      throw new Passing('a broken connection', { cause: error });
    }
  }

  /** Full jitter: clients that failed together do not come back together. */
  #backoff(attempt: number): number {
    return Math.random() * this.#options.backoffMs * 2 ** (attempt - 1);
  }

  #finalError(error: Passing): ErrataError {
    const late = error.message.startsWith('no answer');
    return new ErrataError(
      late ? 'TIMED_OUT' : 'MODEL_UNAVAILABLE',
      `Expected an answer of ${this.#options.baseUrl}, received ${error.message}`,
      { cause: error.cause },
    );
  }

  /** Errors: `ABORTED`, `TIMED_OUT` where no place comes free in a call's time. */
  async #enter(signal: AbortSignal | undefined): Promise<void> {
    const { concurrency, deadlineMs, baseUrl } = this.#options;
    if (this.#running < concurrency) {
      this.#running += 1;
      return;
    }
    const late = AbortSignal.timeout(deadlineMs);
    const end = signal === undefined ? late : AbortSignal.any([signal, late]);
    await new Promise<void>((resolve, reject) => {
      const stop = () => {
        this.#waiting.delete(take);
        const text = `Expected a place among ${concurrency} requests to ${baseUrl}, received none in ${deadlineMs} ms`;
        reject(signal?.aborted ? aborted() : new ErrataError('TIMED_OUT', text));
      };
      const take = () => {
        end.removeEventListener('abort', stop);
        resolve();
      };
      if (end.aborted) return stop();
      this.#waiting.add(take);
      end.addEventListener('abort', stop, { once: true });
    });
  }

  /** The place goes to whoever waits longest. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#running -= 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}

/** Seconds or a date, as HTTP has it. */
function retryAfterMs(value: string | null): number | undefined {
  if (value === null) return undefined;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

const aborted = () => new ErrataError('ABORTED', 'Expected an answer, received an abort signal');
