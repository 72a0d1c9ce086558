import { ErrataError } from '../../domain/errors.js';
import { fromNative } from './index-checks.js';

/** Writes, or reads, that may wait at once; more are refused with `QUEUE_FULL`. */
const QUEUE_LIMIT = 1024;

/** Runs writes one after another in the order of their calls, and reads beside them. Errors come out as ErrataErrors. */
export class WorkQueues {
  readonly #reads = new Set<Promise<unknown>>();
  #lastWrite: Promise<unknown> = Promise.resolve();
  #waitingWrites = 0;

  /** Runs after every earlier write, whether that one failed or not. */
  async write<T>(apply: () => Promise<T>): Promise<T> {
    if (this.#waitingWrites >= QUEUE_LIMIT) throw queueFull('writes');
    this.#waitingWrites += 1;
    const result = this.#lastWrite.then(apply);
    this.#lastWrite = result.catch(() => undefined);
    try {
      return await result;
    } catch (error) {
      throw fromNative(error);
    } finally {
      this.#waitingWrites -= 1;
    }
  }

  /** Starts at once. A signal ends the wait with `ABORTED`; a scan that has begun ends by itself within milliseconds. */
  async read<T>(start: () => Promise<T>, signal?: AbortSignal): Promise<T> {
    if (this.#reads.size >= QUEUE_LIMIT) throw queueFull('searches');
    if (signal?.aborted) throw aborted(signal);
    const work = start();
    this.#reads.add(work);
    try {
      return await (signal === undefined ? work : abortable(work, signal));
    } catch (error) {
      throw fromNative(error);
    } finally {
      this.#forgetWhenDone(work);
    }
  }

  /** Resolves when all that was started has ended, well or not. */
  async drain(): Promise<void> {
    await Promise.allSettled([this.#lastWrite, ...this.#reads]);
  }

  #forgetWhenDone(work: Promise<unknown>): void {
    const forget = (): void => {
      this.#reads.delete(work);
    };
    work.then(forget, forget);
  }
}

const queueFull = (what: string): ErrataError =>
  new ErrataError('QUEUE_FULL', `Expected fewer than ${QUEUE_LIMIT} waiting ${what}, received one more`);

const aborted = (signal: AbortSignal): ErrataError =>
  new ErrataError('ABORTED', 'Expected to finish before the signal, received an abort', {
    cause: signal.reason,
  });

async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = (): void => undefined;
  const abort = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(aborted(signal));
    signal.addEventListener('abort', onAbort, { once: true });
  });
  try {
    return await Promise.race([work, abort]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
