import type { Attributes, NoteId } from '../domain/note.js';
import type { CosineScore } from '../domain/scores.js';

/** Which vector of a note a row holds: the lesson's, or the situation's (wrongAnswer + correction). */
export type RowKind = 'lesson' | 'situation';

/** One active note as the index holds it. Vectors are unit length, `[dimensions]` float32; the index copies them. */
export interface IndexedNote {
  readonly namespace: string;
  readonly taskType: string;
  readonly id: NoteId;
  /** Note version; an older or equal version than the one held is ignored, so that replays and races are harmless. */
  readonly version: number;
  readonly attributes: Attributes;
  readonly vectors: Readonly<Partial<Record<RowKind, Float32Array>>>;
}

export interface IndexRemoval {
  readonly namespace: string;
  readonly id: NoteId;
  readonly version: number;
}

/** A condition on attributes. `{ all: [] }` lets everything pass, `{ any: [] }` nothing. */
export type AttributeFilter =
  | { readonly key: string; readonly value: string }
  | { readonly all: readonly AttributeFilter[] }
  | { readonly any: readonly AttributeFilter[] }
  | { readonly not: AttributeFilter };

export interface VectorQuery {
  readonly namespace: string;
  /** None: every task type of the namespace. */
  readonly taskType?: string | undefined;
  /** All must match; an attribute that no note has gives an empty answer. */
  readonly attributes?: Attributes | undefined;
  /** Must hold besides `attributes`. At most 1,024 terms, 32 deep. */
  readonly where?: AttributeFilter | undefined;
  /** Unit length, `[dimensions]` float32. */
  readonly vector: Float32Array;
  /** Clamped to the number of matches; must be at least 1. */
  readonly k: number;
  /** Compare every allowed vector, whatever it costs. Default false. */
  readonly exact?: boolean | undefined;
  /**
   * HNSW beam width, at least k where it is less, a multiple of it with a filter; none: the index's default, and room for what is scored
   * exactly. Ignored by exact scans.
   */
  readonly efSearch?: number | undefined;
  /** Whether the answer also says how its plan was chosen. */
  readonly explain?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Whole number of at least 1; what takes longer, waiting included, is ended with `TIMED_OUT`. */
  readonly timeoutMs?: number | undefined;
}

/** How one partition was searched. Times in microseconds: what the cost model expected, and what it took. */
export interface PlanExplanation {
  readonly plan: string;
  readonly exhaustive: boolean;
  readonly estimatedUs: number;
  readonly tookUs: number;
  /** Expected of the alternatives; no `graphUs` where there is no graph that could answer. */
  readonly scanUs: number;
  readonly graphUs?: number | undefined;
  /** Vectors and notes that the filter lets pass. */
  readonly allowedVectors: number;
  readonly allowedNotes: number;
  /** Vectors compared in the first pass, and those scored exactly. */
  readonly compared: number;
  readonly rescored: number;
  /** Beam of the graph search, and comparisons after which it was to give up, where one ran. */
  readonly efSearch?: number | undefined;
  readonly budget?: number | undefined;
  readonly threads: number;
}

export interface VectorHit {
  readonly id: NoteId;
  /** Best cosine over the note's rows. */
  readonly score: CosineScore;
  readonly row: RowKind;
}

export interface VectorAnswer {
  /** Notes, each once, best first; ties broken by id so that every run gives the same order. */
  readonly hits: readonly VectorHit[];
  /** What ran: `empty`, `scan`, `scan(filtered)`, `graph`, `graph(filtered)+scan`, … */
  readonly plan: string;
  /** Whether every allowed vector was compared. */
  readonly exhaustive: boolean;
  /** One a partition that had something to compare, where the query asked for it and the index can tell. */
  readonly explanations?: readonly PlanExplanation[] | undefined;
}

/** Bytes by what they hold. */
export interface VectorIndexMemory {
  /** The float32 vectors. */
  readonly vectors: number;
  /** One byte an element, for first passes. */
  readonly codes: number;
  readonly graphs: number;
  readonly filters: number;
  readonly bookkeeping: number;
}

export interface VectorGraphOptions {
  /** Vectors from which a partition gets a graph; below, all are compared. */
  readonly graphThreshold: number;
  /** Links of a node a level (M of HNSW). */
  readonly connectivity: number;
  readonly efConstruction: number;
  /** Of queries that name none. */
  readonly efSearch: number;
}

export interface VectorIndexStats {
  readonly partitions: number;
  readonly notes: number;
  readonly vectors: number;
  readonly tombstones: number;
  readonly memoryBytes: number;
  readonly memory?: VectorIndexMemory | undefined;
  /** Partitions that have a graph, and those whose graph is being built. */
  readonly graphs?: number | undefined;
  readonly building?: number | undefined;
  /** As they were set. */
  readonly graphOptions?: VectorGraphOptions | undefined;
  /** Instruction set chosen at load: `avx512vnni`, `avx512`, `avx2`, `neondot`, `neon`, `scalar`. */
  readonly isa: string;
}

/**
 * Partitions keyed by (namespace, taskType), holding active notes only. A cache: the store is the truth.
 *
 * Errors: `INVALID_VECTOR` for a wrong size, non-finite or not unit-length vector, `INVALID_INPUT` for k < 1,
 * `ABORTED` when the signal fires, `CLOSED` after `close()`.
 */
export interface VectorIndex {
  readonly dimensions: number;
  /** Adds, replaces or moves notes. Nothing of a refused batch is applied. */
  upsert(notes: readonly IndexedNote[]): Promise<void>;
  /** Removes what is held at an older version; unknown ids are ignored. The removal is remembered, so that a late upsert of an older version is ignored too. */
  remove(removals: readonly IndexRemoval[]): Promise<void>;
  search(query: VectorQuery): Promise<VectorAnswer>;
  /** Exact cosines of the given notes' best rows; notes that the index does not hold are left out. */
  scores(query: {
    namespace: string;
    vector: Float32Array;
    ids: readonly NoteId[];
  }): Promise<ReadonlyMap<NoteId, CosineScore>>;
  /** Copies of the given notes' vectors, as they were upserted; notes that the index does not hold are left out. */
  vectorsOf(
    namespace: string,
    ids: readonly NoteId[],
  ): Promise<ReadonlyMap<NoteId, Partial<Record<RowKind, Float32Array>>>>;
  /** Version held for a note, if any: for reconciling with the store. */
  versionOf(namespace: string, id: NoteId): number | undefined;
  /** Number of active notes held in a namespace (every namespace where none is given). */
  count(namespace?: string): number;
  /** Drops tombstones where their share makes it worth it. Returns how many rows were freed. */
  compact(): Promise<number>;
  clear(): Promise<void>;
  stats(): VectorIndexStats;
  close(): Promise<void>;
}
