import { LRUCache } from 'lru-cache';
import type { NoteId, NoteVectors } from '../domain/note.js';
import type { NoteStore } from '../ports/note-store.js';

/** About 2,200 notes of two 384-dimensional rows. */
const DEFAULT_MAX_BYTES = 8 * 2 ** 20;
/** Key, entry, map slots and typed array headers. */
const OVERHEAD_BYTES = 700;

/**
 * Vectors of notes that were read lately: of candidates that the index does not hold, which the store would be asked for again and
 * again. A note's vectors never change, since its id is a hash of its texts; `forget` is for erased notes, whose vectors must
 * not stay in memory. The same arrays are handed out again: callers do not change them.
 */
export class RecentVectors implements Pick<NoteStore, 'getVectors'> {
  readonly #store: Pick<NoteStore, 'getVectors'>;
  readonly #held: LRUCache<string, NoteVectors>;
  /** Notes forgotten so far: what was read before one was forgotten is not kept. */
  #forgotten = 0;

  constructor(store: Pick<NoteStore, 'getVectors'>, maxBytes = DEFAULT_MAX_BYTES) {
    this.#store = store;
    this.#held = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ lesson, situation }) =>
        lesson.byteLength + (situation?.byteLength ?? 0) + OVERHEAD_BYTES,
    });
  }

  /** Errors: the store's. */
  async getVectors(namespace: string, ids: readonly NoteId[]): Promise<ReadonlyMap<NoteId, NoteVectors>> {
    const found = new Map<NoteId, NoteVectors>();
    const missing: NoteId[] = [];
    for (const id of ids) {
      const held = this.#held.get(keyOf(namespace, id));
      if (held === undefined) missing.push(id);
      else found.set(id, held);
    }
    if (missing.length === 0) return found;
    const before = this.#forgotten;
    for (const [id, vectors] of await this.#store.getVectors(namespace, missing)) {
      found.set(id, vectors);
      if (before === this.#forgotten) this.#held.set(keyOf(namespace, id), vectors);
    }
    return found;
  }

  /** A note has changed: it may have been erased. */
  forget(namespace: string, id: NoteId): void {
    this.#forgotten += 1;
    this.#held.delete(keyOf(namespace, id));
  }
}

/** With the namespace, so that no tenant reads another's by id. Ids have no spaces. */
const keyOf = (namespace: string, id: NoteId): string => `${id} ${namespace}`;
