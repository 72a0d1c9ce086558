import { setTimeout as pause } from 'node:timers/promises';
import type { Collection } from 'mongodb';
import type { ChangeDocument } from './mongo-change-log.js';
import { hasNoChangeStreams } from './mongo-errors.js';

/** How long the server may hold an idle stream's request, and so the longest that closing waits for it. */
const AWAIT_MS = 500;
/** Between two looks where nothing waits for us: polling, and servers that ignore the time above. */
const POLL_MS = 100;
/** After an error of the stream or the poll, such as an election. */
const RETRY_MS = 1_000;

/**
 * Rings when the change log grew: at once for this process's writes, through a change stream for others', by polling
 * where the server has none. Only a doorbell: an event that is lost or seen twice does no harm.
 */
export class MongoDoorbell {
  readonly #entries: Collection<ChangeDocument>;
  readonly #lastRevision: () => Promise<number>;
  readonly #listeners = new Set<() => void>();
  #streams: boolean;
  #abort: AbortController | undefined;
  #listening: Promise<void> = Promise.resolve();
  #ringing = false;

  constructor(entries: Collection<ChangeDocument>, streams: boolean, lastRevision: () => Promise<number>) {
    this.#entries = entries;
    this.#streams = streams;
    this.#lastRevision = lastRevision;
  }

  add(listener: () => void): () => Promise<void> {
    // A wrapper, so that the same function can listen twice.
    const entry = (): void => listener();
    this.#listeners.add(entry);
    if (this.#abort === undefined) {
      const abort = new AbortController();
      this.#abort = abort;
      this.#listening = this.#listen(abort.signal);
    }
    return async () => {
      this.#listeners.delete(entry);
      if (this.#listeners.size === 0) await this.close();
    };
  }

  /** Rings once for any number of calls in one turn of the event loop. */
  ring(): void {
    if (this.#ringing || this.#listeners.size === 0) return;
    this.#ringing = true;
    setImmediate(() => {
      this.#ringing = false;
      for (const listener of this.#listeners) listener();
    });
  }

  async close(): Promise<void> {
    this.#listeners.clear();
    this.#abort?.abort();
    this.#abort = undefined;
    await this.#listening;
  }

  async #listen(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (this.#streams) await this.#followStream(signal);
        else await this.#poll(signal);
      } catch (error) {
        if (signal.aborted) return;
        if (this.#streams && hasNoChangeStreams(error)) {
          this.#streams = false;
          continue;
        }
        await sleep(RETRY_MS, signal);
        // Whoever is rung reads the log and meets the error there, or what was missed meanwhile.
        this.ring();
      }
    }
  }

  async #followStream(signal: AbortSignal): Promise<void> {
    const stream = this.#entries.watch([], { maxAwaitTimeMS: AWAIT_MS });
    const close = (): void => void stream.close().catch(() => undefined);
    signal.addEventListener('abort', close, { once: true });
    try {
      await stream.tryNext();
      // For what was written before the stream stood.
      this.ring();
      while (!signal.aborted) {
        const start = performance.now();
        const event = await stream.tryNext();
        if (event !== null) this.ring();
        else if (performance.now() - start < POLL_MS) await sleep(POLL_MS, signal);
      }
    } finally {
      signal.removeEventListener('abort', close);
      await stream.close();
    }
  }

  async #poll(signal: AbortSignal): Promise<void> {
    let known = await this.#lastRevision();
    this.ring();
    while (!signal.aborted) {
      await sleep(POLL_MS, signal);
      const last = await this.#lastRevision();
      if (last !== known) this.ring();
      known = last;
    }
  }
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await pause(ms, undefined, { signal, ref: false });
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}
