import { isErrataError } from '../domain/errors.js';
import type {
  IndexSnapshots,
  RefusedSnapshot,
  RestoredSnapshot,
  SnapshotRefusal,
} from '../ports/index-snapshots.js';
import type { Logger } from '../ports/logger.js';

/** Often enough that a start after a crash has little to catch up with; writing 100,000 vectors takes under a second. */
const SAVE_MS = 10 * 60_000;

export interface SnapshotState {
  /** What the start made of the file. */
  readonly restored?: RestoredSnapshot | undefined;
  readonly refused?: RefusedSnapshot | undefined;
  readonly restoreMs: number;
  /** Newest snapshot that this process wrote. */
  readonly saved?: { readonly revision: number; readonly sizeBytes: number } | undefined;
}

export interface SnapshotKeeperOptions {
  readonly snapshots: IndexSnapshots;
  readonly storeId: string;
  /** Store revision up to which the index holds every change. */
  readonly revision: () => number;
  readonly logger: Logger;
}

/** Restores the vector index at start, and writes it at times and at the end. Nothing that fails here keeps the app from its work. */
export class SnapshotKeeper {
  readonly #options: SnapshotKeeperOptions;
  #state: SnapshotState = { restoreMs: 0 };
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> = Promise.resolve();

  constructor(options: SnapshotKeeperOptions) {
    this.#options = options;
  }

  get state(): SnapshotState {
    return this.#state;
  }

  /** The revision that the index now is at; undefined where it is empty as before. */
  async restore(lastRevision: number): Promise<number | undefined> {
    const { snapshots, storeId, logger } = this.#options;
    const started = performance.now();
    try {
      const outcome = await snapshots.restore(storeId, lastRevision);
      const restoreMs = performance.now() - started;
      if (!('refusal' in outcome)) {
        this.#state = { restored: outcome, restoreMs };
        return outcome.revision;
      }
      this.#state = { refused: outcome, restoreMs };
      if (outcome.refusal !== 'ABSENT')
        logger.warn({ ...outcome }, 'snapshot of the vector index was not used; the store fills the index');
    } catch (error) {
      logger.warn({ error }, 'snapshot of the vector index could not be read; the store fills the index');
    }
    return undefined;
  }

  /** The index turned out not to be the store's: it was filled anew. */
  discard(refusal: SnapshotRefusal, detail: string): void {
    this.#state = { refused: { refusal, detail }, restoreMs: this.#state.restoreMs };
    this.#options.logger.warn({ refusal, detail }, 'snapshot of the vector index was not the store’s');
  }

  /** Writes now and then; `close()` ends it. */
  start(): void {
    this.#timer = setInterval(() => void this.save(), SAVE_MS).unref();
  }

  /** Writes a snapshot unless the newest one is already of this revision. Calls follow one another. */
  save(last = false): Promise<void> {
    this.#saving = this.#saving.then(() => this.#save(last));
    return this.#saving;
  }

  /** Writes the last one. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.save(true);
  }

  async #save(last: boolean): Promise<void> {
    const { snapshots, storeId, logger } = this.#options;
    const revision = this.#options.revision();
    if (revision === (this.#state.saved ?? this.#state.restored)?.revision) return;
    try {
      const { sizeBytes } = await snapshots.save(storeId, revision, last);
      this.#state = { ...this.#state, saved: { revision, sizeBytes } };
      logger.debug({ revision, sizeBytes }, 'snapshot of the vector index written');
    } catch (error) {
      // The index is at work on its graphs: the next time will do.
      if (isErrataError(error, 'QUEUE_FULL')) return;
      logger.warn({ error }, 'snapshot of the vector index could not be written');
    }
  }
}
