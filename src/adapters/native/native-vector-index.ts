import { ErrataError } from '../../domain/errors.js';
import type { NoteId } from '../../domain/note.js';
import { type CosineScore, cosine } from '../../domain/scores.js';
import type { RefusedSnapshot, RestoredSnapshot } from '../../ports/index-snapshots.js';
import type {
  IndexedNote,
  IndexRemoval,
  RowKind,
  VectorAnswer,
  VectorIndex,
  VectorIndexStats,
  VectorQuery,
} from '../../ports/vector-index.js';
import { compileFilter } from './compile-filter.js';
import { checkNote, checkQuery, checkRemoval, checkVector, fromNative, ROW_KINDS } from './index-checks.js';
import { IndexWriter } from './index-writer.js';
import {
  loadAddon,
  type NativeAddon,
  type NativePartition,
  type NativePartitionOptions,
  type NativeSnapshotMemory,
  type NativeStop,
} from './load-addon.js';
import { mergeAnswers } from './merge-answers.js';
import { NoteDirectory } from './note-directory.js';
import {
  pinDirectory,
  restoreDirectory,
  type SnapshotMoment,
  type SnapshotOwner,
  type SnapshotSource,
  savePinned,
} from './snapshot-directory.js';
import { sumStats } from './sum-stats.js';
import { WorkQueues } from './work-queues.js';

export interface NativeVectorIndexOptions {
  readonly dimensions: number;
  /** Neighbours of a graph node (HNSW's M). Default 16. */
  readonly connectivity?: number | undefined;
  /** Beam width while the graph is built. Default 128. */
  readonly efConstruction?: number | undefined;
  /** Beam width of a graph search. Default 64. */
  readonly efSearch?: number | undefined;
  /** Vectors from which a partition gets a graph; smaller ones are scanned. Default 50,000 (a scan of 2 ms). */
  readonly graphThreshold?: number | undefined;
  /** Bytes from which on a restored partition answers before all of it was verified. Default 8 MB. */
  readonly lateBytes?: number | undefined;
  /** Threads of this process's (or worker's) calls into the addon, all indexes together. Default: cores, 2 to 8. */
  readonly poolThreads?: number | undefined;
}

interface HeldKey {
  readonly id: NoteId;
  readonly key: number;
}

type NoteRows = Partial<Record<RowKind, Float32Array>>;

/** Beam of the graph where a query names none. */
export const DEFAULT_EF_SEARCH = 64;
/** Calls that may wait for a thread of the addon's pool; more are refused with `QUEUE_FULL`. */
const POOL_QUEUE = 1024;
/** After the deadline, by which the addon's clock has surely come to it too. */
const LATE_MS = 2;

/** A search whose hit was removed before it was named runs again, so that it is neither served nor missing. */
const SEARCH_ATTEMPTS = 4;

/**
 * Exact scans and HNSW graphs in the native addon, one partition per (namespace, taskType). Writes are applied in the
 * order of their calls; searches run beside them. Holds `dimensions * 4` bytes a vector and about 150 bytes a note.
 */
export class NativeVectorIndex implements VectorIndex {
  readonly dimensions: number;
  readonly #addon: NativeAddon;
  readonly #options: NativePartitionOptions;
  readonly #directory = new NoteDirectory();
  readonly #createPartition: () => NativePartition;
  readonly #writer: IndexWriter;
  readonly #queues = new WorkQueues();
  #closing: Promise<void> | undefined;

  constructor(addon: NativeAddon, options: NativePartitionOptions) {
    this.dimensions = options.dimensions;
    this.#addon = addon;
    this.#options = options;
    this.#createPartition = () => new addon.Partition(options);
    this.#writer = new IndexWriter(this.#directory, options.dimensions, this.#createPartition);
  }

  async upsert(notes: readonly IndexedNote[]): Promise<void> {
    this.#checkOpen();
    for (const note of notes) checkNote(note, this.dimensions);
    const copies = notes.map(copyNote);
    await this.#queues.write(() => this.#writer.upsert(copies));
  }

  async remove(removals: readonly IndexRemoval[]): Promise<void> {
    this.#checkOpen();
    for (const removal of removals) checkRemoval(removal);
    const copies = removals.map((removal) => ({ ...removal }));
    await this.#queues.write(() => this.#writer.remove(copies));
  }

  async search(query: VectorQuery): Promise<VectorAnswer> {
    this.#checkOpen();
    checkQuery(query, this.dimensions);
    const copy = { ...query, vector: query.vector.slice() };
    return this.#queues.read(() => this.#search(copy), query.signal);
  }

  async scores(query: {
    namespace: string;
    vector: Float32Array;
    ids: readonly NoteId[];
  }): Promise<ReadonlyMap<NoteId, CosineScore>> {
    this.#checkOpen();
    checkVector(query.vector, this.dimensions, 'vector');
    return this.#queues.read(() => this.#scores(query.namespace, query.vector, query.ids));
  }

  async vectorsOf(namespace: string, ids: readonly NoteId[]): Promise<ReadonlyMap<NoteId, NoteRows>> {
    this.#checkOpen();
    return this.#queues.read(() => this.#vectorsOf(namespace, ids));
  }

  versionOf(namespace: string, id: NoteId): number | undefined {
    this.#checkOpen();
    return this.#directory.record(namespace, id)?.version;
  }

  count(namespace?: string): number {
    this.#checkOpen();
    return this.#directory.count(namespace);
  }

  async compact(): Promise<number> {
    this.#checkOpen();
    return this.#queues.write(async () => {
      let freed = 0;
      for (const { native } of [...this.#directory.allPartitions()]) freed += await native.compact();
      return freed;
    });
  }

  async clear(): Promise<void> {
    this.#checkOpen();
    await this.#queues.write(async () => this.#dropEverything());
  }

  stats(): VectorIndexStats {
    this.#checkOpen();
    const all = Array.from(this.#directory.allPartitions(), ({ native }) => native.stats());
    return sumStats(all, this.#directory.count(), this.#addon.isa(), this.#options);
  }

  /**
   * Writes all that is held, as of one moment, to a file and resolves with its size. The revision must be one whose changes
   * were all applied before this call.
   */
  async saveSnapshot(owner: SnapshotOwner, moment: SnapshotMoment, path: string): Promise<number> {
    return this.#save(owner, moment, path);
  }

  /** The same in memory: a second copy of all that is held. */
  async snapshotBytes(owner: SnapshotOwner, moment: SnapshotMoment): Promise<ArrayBuffer> {
    return this.#save(owner, moment, undefined);
  }

  /** Only the first step is one of the writes: what is written meanwhile does not wait for the disk. */
  async #save<Path extends string | undefined>(
    owner: SnapshotOwner,
    moment: SnapshotMoment,
    path: Path,
  ): Promise<Path extends string ? number : ArrayBuffer> {
    this.#checkOpen();
    const content = { ...this.#shape(), ...owner, revision: moment.revision };
    return this.#queues.read(async () => {
      const pinned = await this.#queues.write(() => pinDirectory(this.#addon, this.#directory, moment));
      return savePinned(this.#addon, pinned, content, path);
    });
  }

  /** Memory for `restoreSnapshot`, to be filled with a snapshot's bytes. */
  allocateSnapshot(bytes: number): NativeSnapshotMemory {
    return this.#addon.allocateSnapshot(bytes);
  }

  /** Fills this empty index from a file or from memory, or leaves it empty. */
  async restoreSnapshot(source: SnapshotSource): Promise<RestoredSnapshot | RefusedSnapshot> {
    this.#checkOpen();
    return this.#queues.write(() =>
      restoreDirectory(this.#addon, this.#directory, { ...this.#shape(), ...source }, this.#createPartition),
    );
  }

  #shape(): { readonly dimensions: number; readonly codes: boolean } {
    return { dimensions: this.dimensions, codes: true };
  }

  /** Resolves once no graph is being built in the background: for benches and tests. */
  async settle(): Promise<void> {
    this.#checkOpen();
    await this.#queues.read(() =>
      Promise.all(Array.from(this.#directory.allPartitions(), ({ native }) => native.settle())),
    );
  }

  /** Waits for what was called before; every later call gives `CLOSED`. */
  close(): Promise<void> {
    this.#closing ??= this.#queues.drain().then(() => this.#dropEverything());
    return this.#closing;
  }

  async #search(query: VectorQuery): Promise<VectorAnswer> {
    const { signal, timeoutMs } = query;
    if (signal === undefined && timeoutMs === undefined) return this.#searchUntil(query);
    const stop = this.#addon.createStop(timeoutMs);
    const onAbort = (): void => this.#addon.cancelStop(stop);
    signal?.addEventListener('abort', onAbort, { once: true });
    // What runs looks at the time itself; what waits for a thread is told.
    const late =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => this.#addon.endQueued(stop), timeoutMs + LATE_MS);
    try {
      return await this.#searchUntil(query, stop);
    } finally {
      clearTimeout(late);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  async #searchUntil(query: VectorQuery, stop?: NativeStop): Promise<VectorAnswer> {
    for (let attempt = 1; ; attempt += 1) {
      const filter = compileFilter(query, this.#directory.tags);
      if (filter === undefined) return mergeAnswers([], query.k, () => undefined).answer;
      const partitions = this.#directory.partitionsOf(query.namespace, query.taskType);
      // All calls go out before the first await: each copies the vector, and none can meet a partition that was dropped.
      const k = Math.min(query.k, Math.max(1, this.#directory.count(query.namespace)));
      const answers = await Promise.all(
        partitions.map(({ native }) =>
          native[query.explain === true ? 'explain' : 'search'](
            query.vector,
            k,
            query.efSearch,
            filter,
            stop,
            query.exact === true ? 'scan' : undefined,
          ),
        ),
      );
      const { answer, missing } = mergeAnswers(answers, query.k, (key) => this.#directory.idOf(key));
      if (missing === 0 || attempt === SEARCH_ATTEMPTS) return answer;
    }
  }

  async #scores(
    namespace: string,
    vector: Float32Array,
    ids: readonly NoteId[],
  ): Promise<Map<NoteId, CosineScore>> {
    const groups = this.#byTaskType(namespace, ids);
    const found = new Map<NoteId, CosineScore>();
    await Promise.all(
      Array.from(groups, async ([taskType, group]) => {
        const native = this.#directory.partition(namespace, taskType)?.native;
        const keys = Float64Array.from(group, ({ key }) => key);
        // The hop to a thread and back takes ten times as long as the few comparisons.
        const scores = native?.tryScoresOf(vector, keys) ?? (await native?.scoresOf(vector, keys));
        group.forEach(({ id }, i) => {
          const score = scores?.[i];
          if (score !== undefined && !Number.isNaN(score)) found.set(id, cosine(score));
        });
      }),
    );
    return found;
  }

  async #vectorsOf(namespace: string, ids: readonly NoteId[]): Promise<Map<NoteId, NoteRows>> {
    const found = new Map<NoteId, NoteRows>();
    const read = async ([taskType, group]: readonly [string, readonly HeldKey[]]): Promise<void> => {
      const native = this.#directory.partition(namespace, taskType)?.native;
      const rows = await native?.rowsOf(Float64Array.from(group, ({ key }) => key));
      if (rows === undefined) return;
      for (const [i, { id }] of group.entries()) {
        const held = rowsAt(rows, ROW_KINDS.length * i, this.dimensions);
        if (Object.keys(held).length > 0) found.set(id, held);
      }
    };
    await Promise.all(Array.from(this.#byTaskType(namespace, ids), read));
    return found;
  }

  /** Keys of the notes that are held, each once, by the partition they are in. */
  #byTaskType(namespace: string, ids: readonly NoteId[]): Map<string, HeldKey[]> {
    const groups = new Map<string, HeldKey[]>();
    for (const id of new Set(ids)) {
      const record = this.#directory.record(namespace, id);
      if (record === undefined) continue;
      const group = groups.get(record.taskType);
      if (group === undefined) groups.set(record.taskType, [{ id, key: record.key }]);
      else group.push({ id, key: record.key });
    }
    return groups;
  }

  #dropEverything(): void {
    for (const { native } of this.#directory.allPartitions()) native.close();
    this.#directory.clear();
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) {
      throw new ErrataError('CLOSED', 'Expected an open index, received a call after close()');
    }
  }
}

/**
 * Errors: as `loadAddon`, and `INVALID_INPUT` for options out of range.
 */
export function createNativeVectorIndex(options: NativeVectorIndexOptions): NativeVectorIndex {
  const addon = loadAddon();
  const full: NativePartitionOptions = {
    dimensions: options.dimensions,
    connectivity: options.connectivity ?? 16,
    efConstruction: options.efConstruction ?? 128,
    efSearch: options.efSearch ?? DEFAULT_EF_SEARCH,
    graphThreshold: options.graphThreshold ?? 50_000,
    scanThreads: 0,
    lateBytes: options.lateBytes,
  };
  try {
    if (options.poolThreads !== undefined) addon.configurePool(options.poolThreads, POOL_QUEUE);
    // The addon knows the ranges: let it judge now rather than at the first write.
    new addon.Partition(full).close();
  } catch (error) {
    throw fromNative(error);
  }
  return new NativeVectorIndex(addon, full);
}

function copyNote(note: IndexedNote): IndexedNote {
  const { lesson, situation } = note.vectors;
  return {
    ...note,
    attributes: { ...note.attributes },
    vectors: {
      ...(lesson === undefined ? {} : { lesson: lesson.slice() }),
      ...(situation === undefined ? {} : { situation: situation.slice() }),
    },
  };
}

/** A note's rows out of `[n, dimensions]`, the first at `from`; NaN says that one is not held. */
function rowsAt(rows: Float32Array, from: number, dimensions: number): NoteRows {
  const held: NoteRows = {};
  for (const [i, kind] of ROW_KINDS.entries()) {
    const row = rows.subarray((from + i) * dimensions, (from + i + 1) * dimensions);
    if (!Number.isNaN(row[0])) held[kind] = row;
  }
  return held;
}
