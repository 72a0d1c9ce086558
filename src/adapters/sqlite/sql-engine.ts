import { createRequire } from 'node:module';
import { ErrataError } from '../../domain/errors.js';

export type SqlValue = string | number | null;

export interface SqlStatement {
  run(...parameters: SqlValue[]): unknown;
  all(...parameters: SqlValue[]): unknown[];
}

/** The little of SQLite that an index in memory needs, from whichever library this process can load. */
export interface SqlEngine {
  readonly name: 'better-sqlite3' | 'node:sqlite';
  exec(sql: string): unknown;
  prepare(sql: string): SqlStatement;
  close(): void;
}

type DatabaseConstructor = new (path: string) => Omit<SqlEngine, 'name'>;

const require = createRequire(import.meta.url);

/**
 * A database in memory. better-sqlite3 is bound to the Node version that it was installed under; under another one the
 * `node:sqlite` that Node ≥ 22.13 carries takes its place (FTS5 is in both).
 *
 * Errors: `INDEX_UNAVAILABLE` where neither can be loaded.
 */
export function openMemoryEngine(preferred: SqlEngine['name'] = 'better-sqlite3'): SqlEngine {
  const failures: unknown[] = [];
  if (preferred === 'better-sqlite3') {
    try {
      return open('better-sqlite3', require('better-sqlite3') as DatabaseConstructor);
    } catch (error) {
      failures.push(error);
    }
  }
  try {
    const builtIn = require('node:sqlite') as { DatabaseSync: DatabaseConstructor };
    return open('node:sqlite', builtIn.DatabaseSync);
  } catch (error) {
    failures.push(error);
  }
  const message = `Expected better-sqlite3 or node:sqlite to load under Node ${process.versions.node}, received neither: run npm rebuild better-sqlite3`;
  throw new ErrataError('INDEX_UNAVAILABLE', message, { cause: new AggregateError(failures) });
}

function open(name: SqlEngine['name'], Constructor: DatabaseConstructor): SqlEngine {
  const db = new Constructor(':memory:');
  db.exec('PRAGMA journal_mode = OFF; PRAGMA temp_store = MEMORY');
  return {
    name,
    exec: (sql) => db.exec(sql),
    prepare: (sql) => db.prepare(sql),
    close: () => db.close(),
  };
}
