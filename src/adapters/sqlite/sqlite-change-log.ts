import type { NoteId } from '../../domain/note.js';
import type { Change, ChangePage } from '../../ports/note-store.js';
import { readChangeWindow } from '../records/change-window.js';
import type { SqliteDatabase } from './sqlite-database.js';

/** Inside the note's own write: the immediate transaction is what makes `max + 1` dense and gap-free. */
export function appendChange(db: SqliteDatabase, ids: readonly NoteId[]): void {
  const sql = `INSERT INTO changes (revision, note_ids) SELECT coalesce(max(revision), 0) + 1, @ids FROM changes`;
  db.run(sql, { ids: JSON.stringify(ids) });
}

export function lastRevision(db: SqliteDatabase): number {
  return Number(db.get('SELECT max(revision) AS last FROM changes')?.last ?? 0);
}

export function readChanges(db: SqliteDatabase, revision: number, limit: number): ChangePage {
  const sql =
    'SELECT revision, note_ids AS ids FROM changes WHERE revision > @revision ORDER BY revision LIMIT @limit';
  const entries = db.all(sql, { revision, limit }).map((row): Change => {
    const noteIds: unknown = JSON.parse(String(row.ids));
    return { revision: Number(row.revision), noteIds: noteIds as NoteId[] };
  });
  return readChangeWindow(entries, revision, lastRevision(db));
}

export function pruneChanges(db: SqliteDatabase, revision: number): number {
  const sql =
    'DELETE FROM changes WHERE revision <= @revision AND revision < (SELECT max(revision) FROM changes)';
  return db.run(sql, { revision });
}
