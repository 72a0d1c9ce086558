import { ErrataError } from '../../src/domain/errors.js';
import type { Attributes, NoteId } from '../../src/domain/note.js';
import { type CosineScore, cosine } from '../../src/domain/scores.js';
import type {
  AttributeFilter,
  IndexedNote,
  IndexRemoval,
  RowKind,
  VectorAnswer,
  VectorHit,
  VectorIndex,
  VectorIndexStats,
  VectorQuery,
} from '../../src/ports/vector-index.js';

const name = (namespace: string, id: NoteId): string => JSON.stringify([namespace, id]);

/**
 * Float64 sums in eight chains, rounded once to float32: the same bits as `dot_f64` in native/simd/dispatch.cpp, so
 * that even near ties fall alike.
 */
export function referenceScore(a: Float32Array, b: Float32Array): CosineScore {
  const s = new Float64Array(8);
  for (let i = 0; i < a.length; i += 1) s[i % 8] = s[i % 8]! + a[i]! * b[i]!;
  const sum = s[0]! + s[4]! + (s[2]! + s[6]!) + (s[1]! + s[5]! + (s[3]! + s[7]!));
  return cosine(Math.min(1, Math.max(-1, Math.fround(sum))));
}

/** The port in its plainest form: a map and a loop. The contract suite runs on it too, so that the suite is right. */
export class NaiveVectorIndex implements VectorIndex {
  readonly dimensions: number;
  readonly #notes = new Map<string, IndexedNote>();
  readonly #removed = new Map<string, number>();
  #closed = false;

  constructor(dimensions: number) {
    this.dimensions = dimensions;
  }

  async upsert(notes: readonly IndexedNote[]): Promise<void> {
    this.#checkOpen();
    for (const note of notes) {
      const vectors = Object.values(note.vectors);
      if (vectors.length === 0) throw new ErrataError('INVALID_VECTOR', 'Expected a vector');
      for (const vector of vectors) this.#checkVector(vector);
    }
    for (const note of notes) {
      const key = name(note.namespace, note.id);
      if (note.version <= Math.max(this.#notes.get(key)?.version ?? -1, this.#removed.get(key) ?? -1))
        continue;
      const copied = Object.entries(note.vectors).map(([kind, vector]) => [kind, vector.slice()] as const);
      this.#notes.set(key, {
        ...note,
        attributes: { ...note.attributes },
        vectors: Object.fromEntries(copied),
      });
    }
  }

  async remove(removals: readonly IndexRemoval[]): Promise<void> {
    this.#checkOpen();
    for (const { namespace, id, version } of removals) {
      const key = name(namespace, id);
      if ((this.#notes.get(key)?.version ?? -1) >= version) continue;
      this.#notes.delete(key);
      this.#removed.set(key, Math.max(version, this.#removed.get(key) ?? 0));
    }
  }

  async search(query: VectorQuery): Promise<VectorAnswer> {
    this.#checkOpen();
    if (query.signal?.aborted) throw new ErrataError('ABORTED', 'Expected no abort');
    this.#checkVector(query.vector);
    if (!Number.isInteger(query.k) || query.k < 1)
      throw new ErrataError('INVALID_INPUT', 'Expected k of 1 or more');
    const hits = [...this.#notes.values()]
      .filter((note) => note.namespace === query.namespace)
      .filter((note) => query.taskType === undefined || note.taskType === query.taskType)
      .filter((note) => Object.entries(query.attributes ?? {}).every(([k, v]) => note.attributes[k] === v))
      .filter((note) => query.where === undefined || holds(query.where, note.attributes))
      .map((note) => bestHit(note, query.vector))
      .sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1))
      .slice(0, query.k);
    return { hits, plan: hits.length === 0 ? 'empty' : 'scan', exhaustive: true };
  }

  async scores(query: { namespace: string; vector: Float32Array; ids: readonly NoteId[] }) {
    this.#checkOpen();
    this.#checkVector(query.vector);
    const found = new Map<NoteId, CosineScore>();
    for (const id of query.ids) {
      const note = this.#notes.get(name(query.namespace, id));
      if (note !== undefined) found.set(id, bestHit(note, query.vector).score);
    }
    return found;
  }

  async vectorsOf(namespace: string, ids: readonly NoteId[]) {
    this.#checkOpen();
    const notes = ids.flatMap((id) => this.#notes.get(name(namespace, id)) ?? []);
    return new Map(notes.map(({ id, vectors }) => [id, vectors]));
  }

  versionOf(namespace: string, id: NoteId): number | undefined {
    this.#checkOpen();
    return this.#notes.get(name(namespace, id))?.version;
  }

  count(namespace?: string): number {
    this.#checkOpen();
    const notes = [...this.#notes.values()];
    return notes.filter((note) => namespace === undefined || note.namespace === namespace).length;
  }

  async compact(): Promise<number> {
    this.#checkOpen();
    return 0;
  }

  async clear(): Promise<void> {
    this.#checkOpen();
    this.#notes.clear();
    this.#removed.clear();
  }

  stats(): VectorIndexStats {
    this.#checkOpen();
    const notes = [...this.#notes.values()];
    const partitions = new Set(notes.map((note) => JSON.stringify([note.namespace, note.taskType]))).size;
    const vectors = notes.reduce((sum, note) => sum + Object.keys(note.vectors).length, 0);
    return { partitions, notes: notes.length, vectors, tombstones: 0, memoryBytes: 0, isa: 'none' };
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #checkOpen(): void {
    if (this.#closed) throw new ErrataError('CLOSED', 'Expected an open index');
  }

  #checkVector(vector: Float32Array): void {
    const norm = Math.hypot(...vector);
    if (vector.length === this.dimensions && Math.abs(norm - 1) < 1e-3) return;
    throw new ErrataError('INVALID_VECTOR', 'Expected a unit vector');
  }
}

function bestHit(note: IndexedNote, vector: Float32Array): VectorHit {
  const rows = (['lesson', 'situation'] as const satisfies readonly RowKind[]).flatMap((row) => {
    const held = note.vectors[row];
    return held === undefined ? [] : [{ id: note.id, score: referenceScore(vector, held), row }];
  });
  return rows.reduce((best, hit) => (hit.score > best.score ? hit : best));
}

function holds(filter: AttributeFilter, attributes: Attributes): boolean {
  if ('key' in filter) return attributes[filter.key] === filter.value;
  if ('not' in filter) return !holds(filter.not, attributes);
  return 'all' in filter
    ? filter.all.every((child) => holds(child, attributes))
    : filter.any.some((child) => holds(child, attributes));
}
