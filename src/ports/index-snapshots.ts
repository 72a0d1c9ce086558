/** Why no snapshot was taken; the names are those of schema/snapshot-v1.md. `AHEAD_OF_STORE` is the app's own, `KEY_MISSING` a sealed one's. */
export type SnapshotRefusal =
  | 'ABSENT'
  | 'NOT_A_SNAPSHOT'
  | 'WRONG_VERSION'
  | 'WRONG_MODEL'
  | 'WRONG_STORE'
  | 'WRONG_SHAPE'
  | 'TRUNCATED'
  | 'CORRUPT'
  | 'KEY_MISSING'
  | 'AHEAD_OF_STORE';

export interface RestoredSnapshot {
  /** Store revision up to which the index holds every change. */
  readonly revision: number;
  readonly notes: number;
  readonly sizeBytes: number;
  readonly createdMs: number;
  /**
   * Resolves once every byte was verified, with the refusal where the file is not sound after all: then the index refuses
   * searches and writes that meet it (`INDEX_UNAVAILABLE`), gives no wrong answer, and must be cleared and filled anew.
   */
  readonly verified: Promise<RefusedSnapshot | undefined>;
}

export interface RefusedSnapshot {
  readonly refusal: SnapshotRefusal;
  /** What differs; no note text. */
  readonly detail: string;
}

/** Where a vector index outlives the process. It is a cache of a cache: whatever is wrong with it, the store fills the index. */
export interface IndexSnapshots {
  /**
   * Fills the empty index from the newest snapshot. What is refused leaves the index empty. `storeId`: snapshots of another
   * store are refused; `lastRevision` is the store's newest change.
   */
  restore(storeId: string, lastRevision: number): Promise<RestoredSnapshot | RefusedSnapshot>;
  /**
   * Writes a snapshot that holds every change up to `revision`, whole or not at all; searches and writes go on. `QUEUE_FULL`
   * while the index builds or compacts in the background, unless this is the `last` one, for which that is given up.
   */
  save(storeId: string, revision: number, last?: boolean): Promise<{ readonly sizeBytes: number }>;
  /** Removes what is stored, and what a save under way leaves: the vectors of an erased note may be in it. */
  discard(): Promise<void>;
}
