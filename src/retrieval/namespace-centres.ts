import type { NoteId } from '../domain/note.js';
import type { StoredNote } from '../ports/note-store.js';

interface Centre {
  /** Double precision, so that the order of adding and removing does not show. */
  readonly sum: Float64Array;
  rows: number;
  readonly held: Set<NoteId>;
  /** What `centreOf` gave last, and for which prior; none after a change. */
  drawn: { readonly prior: Float32Array; readonly centre: Float32Array } | undefined;
}

/**
 * How many rows the prior counts for: with few notes a namespace's mean is mostly those notes themselves, and what is
 * left after taking it away would be noise. The sample's 456 rows move it nearly all the way.
 */
const PRIOR_ROWS = 100;

/** Mean vector of every namespace's active notes (lesson and situation rows): what all its notes have in common. */
export class NamespaceCentres {
  readonly #modelId: string;
  readonly #dimensions: number;
  readonly #centres = new Map<string, Centre>();

  constructor(modelId: string, dimensions: number) {
    this.#modelId = modelId;
    this.#dimensions = dimensions;
  }

  /** Counts a note while it is active, once; a note's id is a hash of its text, so its vectors never change. */
  apply({ note, vectors }: StoredNote): void {
    const active = note.status === 'ACTIVE' && vectors?.modelId === this.#modelId;
    const centre = this.#of(note.namespace);
    if (centre.held.has(note.id) === active) return;
    if (active) {
      centre.held.add(note.id);
      add(centre, vectors.lesson, 1);
      if (vectors.situation !== undefined) add(centre, vectors.situation, 1);
      return;
    }
    // Erased notes have lost their vectors: their share of the mean goes with the next start.
    if (vectors?.modelId !== this.#modelId) return;
    centre.held.delete(note.id);
    add(centre, vectors.lesson, -1);
    if (vectors.situation !== undefined) add(centre, vectors.situation, -1);
  }

  /**
   * `[dimensions]`, the namespace's mean drawn towards `prior` where it has few notes. The same array until a note comes or goes, so
   * that what is derived from it can be kept; callers do not change it. O(1), after a change O(dimensions).
   */
  centreOf(namespace: string, prior: Float32Array): Float32Array {
    const centre = this.#centres.get(namespace);
    if (centre === undefined) return prior;
    if (centre.drawn?.prior === prior) return centre.drawn.centre;
    const weight = 1 / (centre.rows + PRIOR_ROWS);
    const mean = prior.map((value, d) => (value * PRIOR_ROWS + (centre.sum[d] ?? 0)) * weight);
    centre.drawn = { prior, centre: mean };
    return mean;
  }

  /** `[dimensions]`, the plain mean: what a prior is made from. Zero for a namespace without notes. */
  meanOf(namespace: string): Float32Array {
    const { sum, rows } = this.#of(namespace);
    return Float32Array.from(sum, (value) => value / Math.max(1, rows));
  }

  #of(namespace: string): Centre {
    const known = this.#centres.get(namespace);
    if (known !== undefined) return known;
    const centre: Centre = {
      sum: new Float64Array(this.#dimensions),
      rows: 0,
      held: new Set(),
      drawn: undefined,
    };
    this.#centres.set(namespace, centre);
    return centre;
  }
}

function add(centre: Centre, vector: Float32Array, sign: 1 | -1): void {
  centre.rows += sign;
  centre.drawn = undefined;
  for (let d = 0; d < centre.sum.length; d += 1)
    centre.sum[d] = (centre.sum[d] ?? 0) + sign * (vector[d] ?? 0);
}
