import { join } from 'node:path';
import Database from 'better-sqlite3';

/** What the file of a killed process holds, read past the adapter. */
export interface StoredRows {
  readonly integrity: string;
  readonly notes: number;
  readonly active: number;
  /** Notes that lack what is written in the same transaction as they are. */
  readonly withoutVectors: number;
  readonly withoutCreatedEvent: number;
  readonly withoutChange: number;
  /** Versions of all notes together; every version has exactly one audit event. */
  readonly versions: number;
  readonly noteEvents: number;
  /** Of notes that are not there. */
  readonly orphanEvents: number;
  readonly orphanChanges: number;
  readonly revisions: number;
  readonly lastRevision: number;
}

const QUERIES: Readonly<Record<Exclude<keyof StoredRows, 'integrity'>, string>> = {
  notes: 'SELECT count(*) FROM notes',
  active: `SELECT count(*) FROM notes WHERE status = 'ACTIVE'`,
  withoutVectors: 'SELECT count(*) FROM notes WHERE seq NOT IN (SELECT note FROM note_vectors)',
  withoutCreatedEvent: `SELECT count(*) FROM notes WHERE id NOT IN
    (SELECT note_id FROM audit WHERE action = 'created' AND note_id IS NOT NULL)`,
  withoutChange: `SELECT count(*) FROM notes WHERE id NOT IN
    (SELECT value FROM changes, json_each(changes.note_ids))`,
  versions: 'SELECT coalesce(sum(version), 0) FROM notes',
  noteEvents: `SELECT count(*) FROM audit WHERE note_id IS NOT NULL AND action <> 'outcome'`,
  orphanEvents:
    'SELECT count(*) FROM audit WHERE note_id IS NOT NULL AND note_id NOT IN (SELECT id FROM notes)',
  orphanChanges: `SELECT count(*) FROM changes, json_each(changes.note_ids) WHERE value NOT IN (SELECT id FROM notes)`,
  revisions: 'SELECT count(*) FROM changes',
  lastRevision: 'SELECT coalesce(max(revision), 0) FROM changes',
};

function open(folder: string): Database.Database {
  return new Database(join(folder, 'errata.sqlite'), { fileMustExist: true });
}

export function readStoredRows(folder: string): StoredRows {
  const db = open(folder);
  try {
    const numbers = Object.fromEntries(
      Object.entries(QUERIES).map(([name, sql]) => [name, Number(db.prepare(sql).pluck().get())]),
    ) as unknown as Omit<StoredRows, 'integrity'>;
    return { ...numbers, integrity: String(db.pragma('integrity_check', { simple: true })) };
  } finally {
    db.close();
  }
}

/** Number of notes as another process sees it now; 0 while the file is being made. */
export function countStoredNotes(folder: string): number {
  try {
    const db = open(folder);
    try {
      return Number(db.prepare('SELECT count(*) FROM notes').pluck().get());
    } finally {
      db.close();
    }
  } catch {
    return 0;
  }
}
