import type { NoteId } from '../domain/note.js';
import type { Logger } from '../ports/logger.js';
import type { NoteStore } from '../ports/note-store.js';

/** Counts are statistics: a second's worth may be lost with the process, and no answer waits for them. */
const FLUSH_MS = 1_000;

/** Gathers how often notes were retrieved and writes the sums behind the answers. */
export class OutcomeCounter {
  readonly #store: NoteStore;
  readonly #logger: Logger;
  #pending = new Map<string, { namespace: string; id: NoteId; retrieved: number }>();
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();

  constructor(store: NoteStore, logger: Logger) {
    this.#store = store;
    this.#logger = logger;
  }

  countRetrieved(namespace: string, ids: readonly NoteId[]): void {
    for (const id of ids) {
      const entry = this.#pending.get(id) ?? { namespace, id, retrieved: 0 };
      entry.retrieved += 1;
      this.#pending.set(id, entry);
    }
    if (this.#pending.size > 0) this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS).unref();
  }

  /** Writes what is pending; never rejects. Call before closing the store. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = [...this.#pending.values()];
    this.#pending = new Map();
    this.#flushing = this.#flushing.then(() => this.#write(batch));
    return this.#flushing;
  }

  async #write(batch: readonly { namespace: string; id: NoteId; retrieved: number }[]): Promise<void> {
    for (const { namespace, id, retrieved } of batch) {
      try {
        await this.#store.addOutcome(namespace, id, { retrieved });
      } catch (error) {
        this.#logger.warn({ error, noteId: id }, 'retrieval counts could not be written');
        return;
      }
    }
  }
}
