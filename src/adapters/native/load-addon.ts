import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { ErrataError } from '../../domain/errors.js';
import { prebuiltAddon } from './prebuilt-addon.js';

/** Keys to add or replace, column by column; see `PutBatch` in native/index/partition.hpp. All arrays are copied. */
export interface NativeBatch {
  /** `[n]`, integers below 2^53. */
  readonly keys: Float64Array;
  /** `[n, 4]`, big-endian words: rank among equal scores. */
  readonly orders: Uint32Array;
  /** `[n + 1]` */
  readonly rowBegin: Uint32Array;
  /** `[rows]`, 0 lesson, 1 situation. */
  readonly kinds: Uint8Array;
  /** `[rows, dimensions]` row-major, unit length. */
  readonly vectors: Float32Array;
  /** `[n + 1]` */
  readonly tagBegin: Uint32Array;
  readonly tags: Uint32Array;
}

export interface NativeAnswer {
  readonly keys: Float64Array;
  readonly scores: Float32Array;
  readonly kinds: Uint8Array;
  readonly plan: string;
  readonly exhaustive: boolean;
  /** First-pass comparisons. */
  readonly compared: number;
  /** Rows whose exact score was taken. */
  readonly rescored: number;
}

/** What the planner weighed; see `PlanReport` in native/index/partition.hpp. */
export interface NativeExplanation {
  readonly estimatedUs: number;
  readonly tookUs: number;
  readonly scanUs: number;
  /** NaN where there is no graph to search. */
  readonly graphUs: number;
  readonly allowedRows: number;
  readonly allowedKeys: number;
  /** 0 where no graph search ran. */
  readonly efSearch: number;
  /** Comparisons after which the graph search was to give up; 0: none. */
  readonly budget: number;
  readonly threads: number;
}

export interface NativeExplainedAnswer extends NativeAnswer {
  readonly explanation: NativeExplanation;
}

export interface NativePartitionStats {
  readonly keys: number;
  readonly rows: number;
  readonly tombstones: number;
  /** Rows that the graph cannot find; every search compares them besides. */
  readonly keptAside: number;
  readonly compactions: number;
  readonly audits: number;
  /** Rows that audits linked anew. */
  readonly repairs: number;
  readonly rowBytes: number;
  readonly codeBytes: number;
  readonly graphBytes: number;
  readonly filterBytes: number;
  readonly bookkeepingBytes: number;
  readonly cachedFilters: number;
  /** Searches whose filter was cached, and those whose was not. */
  readonly filterHits: number;
  readonly filterMisses: number;
  /** Processor time of the longest that the background held writers up at once, in microseconds. */
  readonly longestHoldUs: number;
  readonly hasGraph: boolean;
  readonly building: boolean;
}

export interface NativePartitionOptions {
  readonly dimensions: number;
  readonly connectivity: number;
  readonly efConstruction: number;
  readonly efSearch: number;
  readonly graphThreshold: number;
  /** Whether rows are also held as codes of one byte an element: first passes read a quarter. Default true. */
  readonly codes?: boolean | undefined;
  /** Threads that build a graph, at most 8; 0, the default: half of the cores. With one, builds repeat exactly. */
  readonly buildThreads?: number | undefined;
  /** Threads that share a scan of more than a millisecond; 0: one a core. Default 1. Answers are the same. */
  readonly scanThreads?: number | undefined;
  /** Bytes from which on a restored partition answers before all of it was verified. Default 8 MB; tests take less. */
  readonly lateBytes?: number | undefined;
}

/**
 * One partition of the index, in C++. Calls after `close()` throw `CLOSED`; refused arguments throw, or reject with,
 * an error whose `code` is `INVALID_VECTOR` or `INVALID_INPUT`.
 */
export interface NativePartition {
  put(batch: NativeBatch): Promise<void>;
  /** Number of keys that were held. */
  remove(keys: Float64Array): Promise<number>;
  /** At once where the work is estimated under 200 µs and no writer is at work, else from a worker thread. */
  search(
    vector: Float32Array,
    k: number,
    efSearch: number | undefined,
    filter: Uint32Array | undefined,
    stop?: NativeStop,
    plan?: NativePlan,
  ): NativeAnswer | Promise<NativeAnswer>;
  /**
   * Fills the caller's arrays, of at least `k` elements each, from their start, and returns the number of hits. On this
   * thread, however long it takes: for worker threads, benches and small partitions. `k` at most the arrays' lengths.
   */
  searchInto(
    vector: Float32Array,
    k: number,
    efSearch: number | undefined,
    filter: Uint32Array | undefined,
    keys: Float64Array,
    scores: Float32Array,
    kinds: Uint8Array,
    plan?: NativePlan,
  ): number;
  /** Microseconds of one of `repeats` unfiltered searches within the addon: what `searchInto` takes more is the crossing. */
  timeSearch(vector: Float32Array, k: number, repeats: number): number;
  /** As `search`, with the planner's figures. */
  explain(
    vector: Float32Array,
    k: number,
    efSearch: number | undefined,
    filter: Uint32Array | undefined,
    stop?: NativeStop,
    plan?: NativePlan,
  ): NativeExplainedAnswer | Promise<NativeExplainedAnswer>;
  /** `[n, dimensions]` queries in one pass over the rows; exact. */
  searchBatch(
    vectors: Float32Array,
    k: number,
    filter: Uint32Array | undefined,
    stop?: NativeStop,
  ): Promise<NativeAnswer[]>;
  /** Score of each key's best row; NaN where it is not held. */
  scoresOf(vector: Float32Array, keys: Float64Array): Promise<Float64Array>;
  /** The same at once; undefined for more than 64 keys, and while a writer is at work. */
  tryScoresOf(vector: Float32Array, keys: Float64Array): Float64Array | undefined;
  /**
   * Each key's rows, `[n, 2, dimensions]`: lesson, situation; NaN where one is not held. At once for up to 64 keys while no writer is at
   * work, else from a worker thread.
   */
  rowsOf(keys: Float64Array): Float32Array | Promise<Float32Array>;
  /** Number of slots that are freed: at once, or where there is a graph, once the next one was built. */
  compact(): Promise<number>;
  /** Takes partition `number` of a snapshot over; only while empty. Rejects with `CORRUPT_RECORD` where it contradicts itself. */
  restore(handle: NativeSnapshotHandle, number: number): Promise<void>;
  /**
   * Resolves once all that was restored is verified: at once for what is small, within a second or so for gigabytes.
   * Until then it answers, and verifies first what the answers rest on. Rejects with `CORRUPT_RECORD` where the file is
   * not sound, as every later call does.
   */
  verified(): Promise<void>;
  /** Resolves when the background has nothing to do. */
  settle(): Promise<void>;
  stats(): NativePartitionStats;
  close(): void;
}

/** Instead of the planner's choice, to learn what the other way would have cost. `graph` only where it is possible. */
export type NativePlan = 'scan' | 'graph';

declare const stopHandle: unique symbol;
/** Ends searches early; see `createStop`. */
export interface NativeStop {
  readonly [stopHandle]: never;
}

declare const snapshotHandle: unique symbol;
/** A mapped file, verified but for vectors, codes and graphs (see `verified`); it is unmapped once neither it nor a partition restored from it is used. */
export interface NativeSnapshotHandle {
  readonly [snapshotHandle]: never;
}

declare const snapshotMemory: unique symbol;
/** Memory for a snapshot's bytes: fill them, then open it. The one who opens it owns them from then on. */
export interface NativeSnapshotMemory {
  readonly bytes: ArrayBuffer;
  readonly memory: { readonly [snapshotMemory]: never };
}

export interface NativeSnapshotContent {
  readonly dimensions: number;
  readonly codes: boolean;
  readonly model: string;
  readonly store: string;
}

export type NativeSnapshotWanted = NativeSnapshotContent &
  ({ readonly path: string } | { readonly memory: NativeSnapshotMemory['memory'] });

export interface NativeSnapshotMoment {
  readonly revision: number;
  readonly createdMs: number;
  /** Of the directory's memory; all of it where it is left out. */
  readonly directoryBytes?: number | undefined;
}

declare const snapshotPins: unique symbol;
/** Partitions as of one moment, for one save. */
export interface NativeSnapshotPins {
  readonly [snapshotPins]: never;
}

/** `refusal` is `NONE` where the file was taken; only then is the rest there. */
export interface NativeOpenedSnapshot {
  readonly refusal: string;
  readonly detail: string;
  readonly handle?: NativeSnapshotHandle;
  readonly directory?: Uint8Array;
  readonly revision?: number;
  readonly createdMs?: number;
  readonly partitions?: number;
  readonly keys?: number;
  readonly bytes?: number;
}

export interface NativeAddon {
  /** A search that is given it rejects with `ABORTED` after `cancelStop`, with `TIMED_OUT` after that many ms. */
  createStop(timeoutMs?: number): NativeStop;
  /** What runs ends within microseconds of work; what waits for a thread is rejected now. */
  cancelStop(stop: NativeStop): void;
  /** What waits for a thread with a stop that is past its time is rejected now: the time counts the wait. */
  endQueued(stop: NativeStop): void;
  /**
   * Threads of this environment's asynchronous calls, and how many calls may wait for them; more reject with `QUEUE_FULL`.
   * They are the addon's own, not libuv's. Writes leave one for searches where there are two. `INVALID_CONFIG` after the
   * first call where the limits differ.
   */
  configurePool(threads: number, queue: number): void;
  /** Threads started; calls that run and that wait. */
  poolStats(): { readonly threads: number; readonly running: number; readonly queued: number };
  /**
   * Holds on to what the partitions hold now, for a save; searches and writes go on. Rejects with `QUEUE_FULL` while a partition
   * builds or compacts, unless that is to be stopped, and while another save of it is under way.
   */
  pinSnapshot(partitions: readonly NativePartition[], stopsBackground: boolean): Promise<NativeSnapshotPins>;
  /** Lets go of pins that no save will use; the collector would, later. */
  unpinSnapshot(pins: NativeSnapshotPins): Promise<void>;
  /**
   * Writes `path` whole or not at all and resolves with its size; without a path, resolves with the bytes. On a thread of its own, so that
   * neither searches nor writes wait. `directory` is what `allocateSnapshot` made. Each pins serve once.
   */
  saveSnapshot(
    options: NativeSnapshotContent & NativeSnapshotMoment & { readonly path: string },
    directory: NativeSnapshotMemory['memory'],
    pins: NativeSnapshotPins,
  ): Promise<number>;
  saveSnapshot(
    options: NativeSnapshotContent & NativeSnapshotMoment,
    directory: NativeSnapshotMemory['memory'],
    pins: NativeSnapshotPins,
  ): Promise<ArrayBuffer>;
  /** Throws `OUT_OF_MEMORY` where there is none. */
  allocateSnapshot(bytes: number): NativeSnapshotMemory;
  openSnapshot(wanted: NativeSnapshotWanted): Promise<NativeOpenedSnapshot>;
  readonly Partition: new (options: NativePartitionOptions) => NativePartition;
  isa(): string;
  availableIsas(): string[];
  /** In place: x / (norm + 1e-12). Throws `INVALID_VECTOR` where an element is not finite. Returns its argument. */
  normalize(vector: Float32Array): Float32Array;
  /** Float32 dot product by the chosen kernel. */
  dot(a: Float32Array, b: Float32Array): number;
}

// The same from src/ and from dist/: both lie three folders below the package.
const INSTALLATION = path.resolve(import.meta.dirname, '../../..');
const OWN_BUILD = path.join(INSTALLATION, 'build', 'Release', 'errata_native.node');
const HOW_TO_BUILD =
  'Build it with: npm run build:addon, which needs a C++17 compiler, CMake 3.20 or newer, and make or ninja';

const require = createRequire(import.meta.url);

/**
 * Loads the addon that was built here, else the prebuilt one that the package carries for this platform; Node caches it.
 * Errors: `TOOL_MISSING` where there is neither, `DIGEST_MISMATCH` where the prebuilt one is not as it was packed,
 * `INVALID_CONFIG` where ERRATA_ISA names an instruction set that this machine lacks, `INDEX_UNAVAILABLE` where the file
 * cannot be loaded.
 */
export function loadAddon(file?: string): NativeAddon {
  const built = file ?? (existsSync(OWN_BUILD) ? OWN_BUILD : (prebuiltAddon(INSTALLATION) ?? OWN_BUILD));
  try {
    return require(built) as NativeAddon;
  } catch (cause) {
    const code = errorCode(cause);
    if (code === 'MODULE_NOT_FOUND') {
      throw new ErrataError(
        'TOOL_MISSING',
        `Expected the native addon, found neither build/Release/errata_native.node nor one prebuilt for ${process.platform}-${process.arch}. ${HOW_TO_BUILD}`,
        { cause },
      );
    }
    const message = cause instanceof Error ? cause.message : String(cause);
    if (code === 'INVALID_CONFIG') throw new ErrataError('INVALID_CONFIG', message, { cause });
    throw new ErrataError(
      'INDEX_UNAVAILABLE',
      `Expected a loadable native addon, received: ${message}. ${HOW_TO_BUILD}`,
      { cause },
    );
  }
}

/** The `code` property of whatever was thrown. */
export function errorCode(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
}
