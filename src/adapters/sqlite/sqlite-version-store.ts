import type { FeedbackNote, NoteId } from '../../domain/note.js';
import type { Cipher } from '../../ports/cipher.js';
import type { VersionStore } from '../../ports/note-store.js';
import { readNote } from '../records/note-record.js';
import type { SqliteDatabase } from './sqlite-database.js';
import { NOTE_COLUMNS, noteFromRow, parseObject } from './sqlite-note-rows.js';

/** Inside a write, before the row is overwritten: what it says now, without texts and sources, which versions share. */
export function keepVersion(db: SqliteDatabase, seq: unknown): void {
  db.run(
    `INSERT OR IGNORE INTO note_versions (note, version, body)
     SELECT seq, version, json_patch(json_remove(rest, '$.sources'), json_object('version', version, 'status', status,
       'impact', impact, 'updatedAt', updated_at, 'embeddingModel', model_id)) FROM notes WHERE seq = @seq`,
    { seq },
  );
}

/** Inside the write that erases the note: its attributes and findings go with its texts. */
export function dropVersions(db: SqliteDatabase, seq: unknown): void {
  db.run('DELETE FROM note_versions WHERE note = @seq', { seq });
}

export class SqliteVersionStore implements VersionStore {
  readonly #db: SqliteDatabase;
  readonly #cipher: Cipher | undefined;

  constructor(db: SqliteDatabase, cipher: Cipher | undefined) {
    this.#db = db;
    this.#cipher = cipher;
  }

  async past(namespace: string, id: NoteId, limit: number): Promise<readonly FeedbackNote[]> {
    const present = `SELECT ${NOTE_COLUMNS} FROM notes n WHERE n.id = @id AND n.namespace = @namespace`;
    const sql = 'SELECT body FROM note_versions WHERE note = @seq ORDER BY version DESC LIMIT @limit';
    return this.#db.read(() => {
      const row = this.#db.get(present, { id, namespace });
      const note = row === undefined ? undefined : noteFromRow(row, this.#cipher);
      if (row === undefined || note === undefined) return [];
      return this.#db.all(sql, { seq: row.seq, limit }).flatMap(({ body }) => {
        const state = parseObject(body);
        if (state === undefined) return [];
        const { id, namespace, taskType, wrongAnswer, correction, lesson, sources, outcomes, createdAt } =
          note;
        const shared = {
          id,
          namespace,
          taskType,
          wrongAnswer,
          correction,
          lesson,
          sources,
          outcomes,
          createdAt,
        };
        return readNote({ ...state, ...shared }) ?? [];
      });
    });
  }
}
