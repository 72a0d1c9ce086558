import { ErrataError } from '../../domain/errors.js';

/** SQLite's extended result code of a driver error, such as `SQLITE_IOERR_WRITE`. */
function resultCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || error.name !== 'SqliteError') return undefined;
  const { code } = error as Error & { code?: unknown };
  return typeof code === 'string' ? code : undefined;
}

/** Whether another connection holds what this one wanted: worth another try. */
export function isBusy(error: unknown): boolean {
  const code = resultCode(error) ?? '';
  return code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED');
}

/** Whether a unique constraint refused a row. */
export function isDuplicate(error: unknown): boolean {
  const code = resultCode(error);
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY';
}

const UNAVAILABLE: readonly (readonly [code: string, advice: string])[] = [
  ['SQLITE_FULL', 'free disk space or raise the size limit'],
  ['SQLITE_IOERR', 'check the disk'],
  ['SQLITE_CANTOPEN', 'check that the folder exists and that this user may write to it'],
  ['SQLITE_READONLY', 'check that this user may write to the file and its folder'],
  ['SQLITE_PERM', 'check that this user may write to the file and its folder'],
  ['SQLITE_CORRUPT', 'restore the file from a backup'],
  ['SQLITE_NOTADB', 'check that the path names an Errata store'],
  ['SQLITE_NOMEM', 'free memory'],
];

/** A driver error as the port's: `STORE_BUSY`, `STORE_UNAVAILABLE` with what to do, else `INTERNAL`; the cause is kept. */
export function fromSqlite(error: unknown, path: string): unknown {
  if (error instanceof ErrataError) return error;
  const code = resultCode(error);
  if (code === undefined) return isUnloadable(error) ? unloadable(error) : error;
  if (isBusy(error)) {
    const message = `Expected the lock of the store ${path}, received ${code}: another process is writing; try again`;
    return new ErrataError('STORE_BUSY', message, { cause: error, details: { code } });
  }
  const known = UNAVAILABLE.find(([prefix]) => code.startsWith(prefix));
  if (known === undefined) {
    const message = `Expected the store ${path} to run a statement, received ${code}`;
    return new ErrataError('INTERNAL', message, { cause: error, details: { code } });
  }
  const message = `Expected a usable store at ${path}, received ${code}: ${known[1]}`;
  return new ErrataError('STORE_UNAVAILABLE', message, { cause: error, details: { code } });
}

/** The library is compiled for one Node version; another one cannot load it. */
function isUnloadable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && error.code === 'ERR_DLOPEN_FAILED') || error.message.includes('bindings file');
}

function unloadable(error: unknown): ErrataError {
  const message = `Expected better-sqlite3 to load under Node ${process.versions.node}, received a build for another version: run npm rebuild better-sqlite3, or use MongoDB`;
  return new ErrataError('STORE_UNAVAILABLE', message, { cause: error });
}
