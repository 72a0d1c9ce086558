import { setTimeout as pause } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { ErrataError } from '../../domain/errors.js';
import { fromSqlite, isBusy } from './sqlite-errors.js';

export type Parameters = Readonly<Record<string, unknown>>;
export type Row = Readonly<Record<string, unknown>>;

export interface SqliteDatabaseOptions {
  readonly path: string;
  /** How long a call waits for another process's write before it fails with `STORE_BUSY`. */
  readonly busyTimeoutMs: number;
  /** Writes that would make the file larger fail with `STORE_UNAVAILABLE`. */
  readonly maxSizeBytes?: number | undefined;
}

/** SQLite's `synchronous`. */
type Durability = 'FULL' | 'NORMAL';

interface WaitingWrite {
  readonly work: () => unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** How long SQLite itself may wait: that wait blocks the event loop, so longer ones are timers between attempts. */
const BLOCKING_WAIT_MS = 25;
/**
 * Small on purpose. Where an insert changes the order of a B-tree's pages (most do: ids are random), SQLite's commit visits every page
 * that is cached: 16,000 of them took .5 to 4 ms a receipt and a submission. What is read is in the system's cache anyway.
 */
const CACHE_KIB = 4_096;
/** 16 MB of log before it is moved into the file: a bulk load waits for the disk a quarter as often as by default. */
const CHECKPOINT_PAGES = 4_000;
/** Transactions of other connections take milliseconds; with the growing pauses this is up to a fifth of a second. */
const EMPTY_LOG_ATTEMPTS = 20;
/** Shapes of statements are few; the bound only keeps odd filters from adding up. */
const MAX_STATEMENTS = 500;

/**
 * One connection: WAL, foreign keys, cached statements, `BEGIN IMMEDIATE` writes, driver errors translated. Everything
 * between `read`/`write` and their result is synchronous, so that work of two calls never mixes.
 */
export class SqliteDatabase {
  readonly path: string;
  readonly #db: Database.Database;
  readonly #busyTimeoutMs: number;
  readonly #statements = new Map<string, Database.Statement<[Parameters], Row>>();
  /** By what they wait for: the disk, or the system. */
  readonly #waiting: Record<Durability, WaitingWrite[]> = { FULL: [], NORMAL: [] };
  #level: Durability | undefined;
  #closed = false;

  constructor(options: SqliteDatabaseOptions) {
    this.path = options.path;
    this.#busyTimeoutMs = options.busyTimeoutMs;
    try {
      this.#db = new Database(options.path, { timeout: BLOCKING_WAIT_MS });
      this.#db.pragma('foreign_keys = ON');
      // What is overwritten or deleted is zeroed in its page: an erased note must not be readable from the file.
      this.#db.pragma('secure_delete = ON');
      this.#db.pragma(`cache_size = -${CACHE_KIB}`);
      this.#db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
      if (options.maxSizeBytes !== undefined) {
        const pageSize = Number(this.#db.pragma('page_size', { simple: true }));
        this.#db.pragma(`max_page_count = ${Math.max(1, Math.floor(options.maxSizeBytes / pageSize))}`);
      }
    } catch (error) {
      throw fromSqlite(error, options.path);
    }
  }

  /** Runs `work` on one snapshot of the database. */
  async read<T>(work: () => T): Promise<T> {
    return this.#attempt(() => this.#transaction('BEGIN', work));
  }

  /**
   * Runs `work` as one write: all of it is on disk when the promise resolves, or none of it. Writes that wait at the same
   * time share a transaction, since waiting for the disk is what a write costs (0.1 to 5 ms).
   */
  write<T>(work: () => T): Promise<T> {
    return this.#enqueue('FULL', work);
  }

  /**
   * Like `write` without waiting for the disk: survives kill -9, not loss of power. For statistics, not for content. Those of one turn
   * share a transaction, whose beginning and end are half of what one of them costs.
   */
  writeRelaxed<T>(work: () => T): Promise<T> {
    return this.#enqueue('NORMAL', work);
  }

  /** Retries while another connection is in the way: for what cannot run inside a transaction, too. */
  async attempt<T>(work: (db: Database.Database) => T): Promise<T> {
    return this.#attempt(() => work(this.#db));
  }

  /**
   * Moves the log into the file and empties it, so that no earlier state of a page is left in it. Gives up while other
   * connections keep reading; then the log is overwritten as it is used again.
   */
  async emptyLog(): Promise<void> {
    for (let attempt = 1; attempt <= EMPTY_LOG_ATTEMPTS; attempt += 1) {
      const busy = await this.attempt((db) => db.pragma('wal_checkpoint(TRUNCATE)', { simple: true }));
      if (busy === 0) return;
      await pause(attempt);
    }
  }

  all(sql: string, parameters: Parameters = {}): Row[] {
    return this.#statement(sql).all(parameters);
  }

  get(sql: string, parameters: Parameters = {}): Row | undefined {
    return this.#statement(sql).get(parameters);
  }

  /** Number of rows changed. */
  run(sql: string, parameters: Parameters = {}): number {
    return this.#statement(sql).run(parameters).changes;
  }

  /** Changes whenever another connection commits. */
  dataVersion(): number {
    this.checkOpen();
    return Number(this.#db.pragma('data_version', { simple: true }));
  }

  checkOpen(): void {
    if (this.#closed) {
      throw new ErrataError('CLOSED', `Expected an open store for ${this.path}, received a call after close`);
    }
  }

  /** Writes that still wait are refused with `CLOSED`. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#statements.clear();
    this.#db.close();
  }

  async #attempt<T>(work: () => T): Promise<T> {
    const deadline = performance.now() + this.#busyTimeoutMs;
    for (;;) {
      this.checkOpen();
      try {
        return work();
      } catch (error) {
        if (!isBusy(error) || performance.now() >= deadline) throw fromSqlite(error, this.path);
      }
      // Spread out, so that two processes do not meet again at once.
      await pause(1 + Math.random() * 10);
    }
  }

  #enqueue<T>(level: Durability, work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const waiting = this.#waiting[level];
      waiting.push({ work, resolve: resolve as (value: unknown) => void, reject });
      if (waiting.length === 1) setImmediate(() => void this.#flush(level));
    });
  }

  async #flush(level: Durability): Promise<void> {
    const writes = this.#waiting[level].splice(0);
    try {
      const settle = await this.#attempt(() => {
        this.#synchronous(level);
        return this.#transaction('BEGIN IMMEDIATE', () => this.#runAll(writes));
      });
      for (const done of settle) done();
    } catch (error) {
      for (const { reject } of writes) reject(error);
    }
  }

  #runAll(writes: readonly WaitingWrite[]): readonly (() => void)[] {
    const [only] = writes;
    if (only === undefined || writes.length > 1) return writes.map((write) => this.#runOne(write));
    // What fails alone takes the whole transaction back.
    const result = only.work();
    return [() => only.resolve(result)];
  }

  /** One write of several: its error undoes its own work only. What it gives back tells its caller, after the commit. */
  #runOne({ work, resolve, reject }: WaitingWrite): () => void {
    this.#statement('SAVEPOINT one').run({});
    try {
      const result = work();
      this.#statement('RELEASE one').run({});
      return () => resolve(result);
    } catch (error) {
      // A full disk or an I/O error has ended the whole transaction.
      if (!this.#db.inTransaction) throw error;
      this.#statement('ROLLBACK TO one').run({});
      this.#statement('RELEASE one').run({});
      return () => reject(fromSqlite(error, this.path));
    }
  }

  #transaction<T>(begin: string, work: () => T): T {
    this.#statement(begin).run({});
    try {
      const result = work();
      this.#statement('COMMIT').run({});
      return result;
    } catch (error) {
      // Some errors (a full disk, an I/O error) have rolled back already.
      if (this.#db.inTransaction) this.#statement('ROLLBACK').run({});
      throw error;
    }
  }

  #synchronous(level: 'FULL' | 'NORMAL'): void {
    if (this.#level === level) return;
    this.#db.pragma(`synchronous = ${level}`);
    this.#level = level;
  }

  #statement(sql: string): Database.Statement<[Parameters], Row> {
    const held = this.#statements.get(sql);
    if (held !== undefined) return held;
    if (this.#statements.size >= MAX_STATEMENTS) this.#statements.clear();
    const made = this.#db.prepare<[Parameters], Row>(sql);
    this.#statements.set(sql, made);
    return made;
  }
}
