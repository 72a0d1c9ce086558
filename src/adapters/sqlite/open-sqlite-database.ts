import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import path from 'node:path';
import { ErrataError } from '../../domain/errors.js';
import { SqliteDatabase, type SqliteDatabaseOptions } from './sqlite-database.js';
import { APPLICATION_ID, MIGRATIONS } from './sqlite-schema.js';

/** Opens or makes the file (owner-only), and brings its schema up to date; several processes may do so at once. */
export async function openSqliteDatabase(options: SqliteDatabaseOptions): Promise<SqliteDatabase> {
  makeOwnerOnly(options.path);
  const database = new SqliteDatabase(options);
  try {
    await database.attempt((db) => db.pragma('journal_mode = WAL'));
    await migrate(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Notes quote people's work: the file is made before SQLite sees it, which gives its WAL the same mode. */
function makeOwnerOnly(file: string): void {
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    closeSync(openSync(file, 'a', 0o600));
    const { mode, uid } = statSync(file);
    // A file that was copied or restored may have come with wider rights.
    if ((mode & 0o077) !== 0 && uid === process.getuid?.()) chmodSync(file, 0o600);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'an error';
    const message = `Expected a file that this user may write at ${file}, received ${code}; check the folder and its rights`;
    throw new ErrataError('STORE_UNAVAILABLE', message, { cause: error });
  }
}

async function migrate(database: SqliteDatabase): Promise<void> {
  const target = MIGRATIONS.length;
  await database.attempt((db) => {
    if (db.pragma('user_version', { simple: true }) === target) return;
    db.transaction(() => {
      const version = Number(db.pragma('user_version', { simple: true }));
      const tables = db.prepare<[], { n: number }>('SELECT count(*) AS n FROM sqlite_schema').get()?.n ?? 0;
      const ours = db.pragma('application_id', { simple: true }) === APPLICATION_ID;
      if (!ours && (tables > 0 || version > 0)) throw foreignFile(database.path);
      if (version > target) throw newerFile(database.path, version);
      for (const migration of MIGRATIONS.slice(version)) db.exec(migration);
      db.pragma(`application_id = ${APPLICATION_ID}`);
      db.pragma(`user_version = ${target}`);
    }).immediate();
  });
}

function foreignFile(file: string): ErrataError {
  const message = `Expected an Errata store at ${file}, received a database of another program`;
  return new ErrataError('STORE_UNAVAILABLE', message);
}

function newerFile(file: string, version: number): ErrataError {
  const message = `Expected schema version ${MIGRATIONS.length} or older at ${file}, received ${version}: use the newer Errata that wrote it`;
  return new ErrataError('STORE_UNAVAILABLE', message);
}
