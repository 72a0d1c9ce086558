import type { NoteId, NoteVectors } from '../domain/note.js';
import type { NoteStore } from '../ports/note-store.js';
import type { VectorIndex } from '../ports/vector-index.js';

/**
 * Vectors of candidates out of the index that found them, a copy of some 30 KB a query; only what it does not hold, such as a note that
 * text found before its vectors came in, is read from `others` (the store, or what was read of it lately).
 */
export class CandidateVectors implements Pick<NoteStore, 'getVectors'> {
  readonly #index: Pick<VectorIndex, 'vectorsOf'>;
  readonly #modelId: string;
  readonly #others: Pick<NoteStore, 'getVectors'>;

  /** `modelId`: whose vectors the index holds. */
  constructor(index: Pick<VectorIndex, 'vectorsOf'>, modelId: string, others: Pick<NoteStore, 'getVectors'>) {
    this.#index = index;
    this.#modelId = modelId;
    this.#others = others;
  }

  /** Errors: the index's and the store's. */
  async getVectors(namespace: string, ids: readonly NoteId[]): Promise<ReadonlyMap<NoteId, NoteVectors>> {
    const found = new Map<NoteId, NoteVectors>();
    for (const [id, { lesson, situation }] of await this.#index.vectorsOf(namespace, ids)) {
      if (lesson !== undefined) found.set(id, { modelId: this.#modelId, lesson, situation });
    }
    const missing = ids.filter((id) => !found.has(id));
    if (missing.length === 0) return found;
    for (const [id, vectors] of await this.#others.getVectors(namespace, missing)) found.set(id, vectors);
    return found;
  }
}
