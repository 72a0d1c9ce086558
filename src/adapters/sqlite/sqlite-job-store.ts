import { ErrataError } from '../../domain/errors.js';
import type { Job } from '../../domain/job.js';
import type { Instant } from '../../domain/note.js';
import type { JobStore, NamespaceScope } from '../../ports/note-store.js';
import { readJob } from '../records/job-record.js';
import type { Row, SqliteDatabase } from './sqlite-database.js';
import { parseObject } from './sqlite-note-rows.js';

const COLUMNS = `id, kind, namespace, options, state, done, total, message, created_at AS createdAt, started_at AS startedAt,
  finished_at AS finishedAt, cancel_requested AS cancelRequested, cursor, lease_owner AS leaseOwner,
  lease_until AS leaseUntil, fence, losses`;

/** Patch fields by column. */
const PATCHED = {
  state: 'state',
  done: 'done',
  total: 'total',
  message: 'message',
  cursor: 'cursor',
  finishedAt: 'finished_at',
  leaseUntil: 'lease_until',
  losses: 'losses',
} as const;

export class SqliteJobStore implements JobStore {
  readonly #db: SqliteDatabase;

  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  async put(job: Job): Promise<void> {
    const sql = `INSERT OR REPLACE INTO jobs (id, kind, namespace, options, state, done, total, message, created_at, started_at,
        finished_at, cancel_requested, cursor, lease_owner, lease_until, fence, losses)
      VALUES (@id, @kind, @namespace, @options, @state, @done, @total, @message, @createdAt, @startedAt,
        @finishedAt, @cancelRequested, @cursor, @leaseOwner, @leaseUntil, @fence, @losses)`;
    const absent = {
      namespace: null,
      total: null,
      message: null,
      startedAt: null,
      finishedAt: null,
      cursor: null,
      leaseOwner: null,
      leaseUntil: null,
      losses: null,
    };
    const present = Object.fromEntries(Object.entries(job).filter(([, value]) => value !== undefined));
    const options = JSON.stringify(job.options);
    const cancelRequested = Number(job.cancelRequested);
    await this.#db.write(() => this.#db.run(sql, { ...absent, ...present, options, cancelRequested }));
  }

  async get(id: string): Promise<Job | undefined> {
    const row = await this.#db.read(() => this.#db.get(`SELECT ${COLUMNS} FROM jobs WHERE id = @id`, { id }));
    return row === undefined ? undefined : jobFromRow(row);
  }

  async list(scope: NamespaceScope, limit: number): Promise<readonly Job[]> {
    const where = scope === 'all' ? '' : 'WHERE namespace IN (SELECT value FROM json_each(@scope))';
    const sql = `SELECT ${COLUMNS} FROM jobs ${where} ORDER BY created_at DESC, id DESC LIMIT @limit`;
    const rows = await this.#db.read(() => this.#db.all(sql, { limit, scope: JSON.stringify(scope) }));
    return rows.flatMap((row) => jobFromRow(row) ?? []);
  }

  take(owner: string, now: Instant, leaseUntil: Instant): Promise<Job | undefined> {
    const oldest = `SELECT id FROM jobs WHERE state = 'QUEUED' OR (state = 'RUNNING' AND lease_until <= @now)
      ORDER BY created_at, id LIMIT 1`;
    const sql = `UPDATE jobs SET losses = CASE state WHEN 'RUNNING' THEN coalesce(losses, 0) + 1 ELSE losses END,
      state = 'RUNNING', fence = fence + 1, lease_owner = @owner, lease_until = @leaseUntil,
      started_at = coalesce(started_at, @now) WHERE id = @id`;
    return this.#db.write(() => {
      const found = this.#db.get(oldest, { now });
      if (found === undefined) return undefined;
      this.#db.run(sql, { id: found.id, owner, now, leaseUntil });
      const row = this.#db.get(`SELECT ${COLUMNS} FROM jobs WHERE id = @id`, { id: found.id });
      const job = row === undefined ? undefined : jobFromRow(row);
      if (job !== undefined) return job;
      throw new ErrataError(
        'CORRUPT_RECORD',
        `Expected a readable job ${found.id}, received a damaged record`,
      );
    });
  }

  async update(id: string, fence: number, patch: Parameters<JobStore['update']>[2]): Promise<boolean> {
    const set = Object.entries(PATCHED).filter(
      ([field]) => patch[field as keyof typeof PATCHED] !== undefined,
    );
    const assignments = ['fence = fence', ...set.map(([field, column]) => `${column} = @${field}`)].join(
      ', ',
    );
    const sql = `UPDATE jobs SET ${assignments} WHERE id = @id AND fence = @fence AND state IN ('QUEUED', 'RUNNING')`;
    return (await this.#db.write(() => this.#db.run(sql, { ...patch, id, fence }))) > 0;
  }

  async requestCancel(id: string, now: Instant): Promise<boolean> {
    const sql = `UPDATE jobs SET cancel_requested = 1,
      finished_at = CASE WHEN state = 'QUEUED' OR lease_until <= @now THEN @now ELSE finished_at END,
      state = CASE WHEN state = 'QUEUED' OR lease_until <= @now THEN 'CANCELLED' ELSE state END
      WHERE id = @id AND state IN ('QUEUED', 'RUNNING')`;
    return (await this.#db.write(() => this.#db.run(sql, { id, now }))) > 0;
  }
}

function jobFromRow(row: Row): Job | undefined {
  const cancelRequested = row.cancelRequested === 1;
  return readJob({ ...row, options: parseObject(row.options), cancelRequested });
}
