import type { SqliteDatabase } from './sqlite-database.js';

/** A look at another connection's commits costs 2 µs; 100 ms is how late a follower in another process may hear. */
const POLL_MS = 100;

/** Tells listeners that the change log grew: at once for this connection's writes, by polling for other processes'. */
export class ChangeDoorbell {
  readonly #db: SqliteDatabase;
  readonly #lastRevision: () => number;
  readonly #listeners = new Set<() => void>();
  #timer: NodeJS.Timeout | undefined;
  #dataVersion = 0;
  #revision = 0;
  #ringing = false;

  /** `lastRevision` runs outside a transaction. */
  constructor(db: SqliteDatabase, lastRevision: () => number) {
    this.#db = db;
    this.#lastRevision = lastRevision;
  }

  add(listener: () => void): () => void {
    // A wrapper, so that the same function can listen twice.
    const entry = (): void => listener();
    this.#listeners.add(entry);
    if (this.#timer === undefined) this.#start();
    return () => {
      this.#listeners.delete(entry);
      if (this.#listeners.size === 0) this.close();
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

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#listeners.clear();
  }

  #start(): void {
    this.#dataVersion = this.#db.dataVersion();
    this.#revision = this.#lastRevision();
    this.#timer = setInterval(() => this.#poll(), POLL_MS).unref();
  }

  #poll(): void {
    try {
      const dataVersion = this.#db.dataVersion();
      if (dataVersion === this.#dataVersion) return;
      const revision = this.#lastRevision();
      this.#dataVersion = dataVersion;
      if (revision === this.#revision) return;
      this.#revision = revision;
    } catch {
      // Not for a timer to handle: whoever is rung reads the log and meets the error there, with its cause.
    }
    this.ring();
  }
}
