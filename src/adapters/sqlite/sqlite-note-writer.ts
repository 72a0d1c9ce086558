import { ERASED_TEXT } from '../../domain/lifecycle.js';
import type { FeedbackNote, NoteId, NoteVectors, OutcomeCounts } from '../../domain/note.js';
import type { Cipher } from '../../ports/cipher.js';
import type { InsertOutcome, NoteInsert, NoteUpdate, ResealedPage } from '../../ports/note-store.js';
import { noteNotFound, versionConflict } from '../records/note-errors.js';
import { sealVectors } from '../records/note-seal.js';
import { insertAuditEvent } from './sqlite-audit-log.js';
import { appendChange } from './sqlite-change-log.js';
import type { Row, SqliteDatabase } from './sqlite-database.js';
import {
  dropAllVectors,
  INSERT_NOTE,
  NOTE_COLUMNS,
  noteFromRow,
  noteParameters,
  outcomesFromRow,
  textColumns,
  UPDATE_NOTE,
  VECTOR_COLUMNS,
  vectorsFromRow,
  writeFacets,
  writeVectors,
} from './sqlite-note-rows.js';
import { dropVersions, keepVersion } from './sqlite-version-store.js';

/** Statements that write notes and what belongs to them. `insertOne` and `updateOne` run inside a write of their caller. */
export class SqliteNoteWriter {
  readonly #db: SqliteDatabase;
  readonly #cipher: Cipher | undefined;

  constructor(db: SqliteDatabase, cipher: Cipher | undefined) {
    this.#db = db;
    this.#cipher = cipher;
  }

  insertOne({ note, vectors, audit }: NoteInsert): InsertOutcome {
    const model = vectors?.modelId ?? null;
    const made = this.#db.get(INSERT_NOTE, {
      ...noteParameters(note),
      ...textColumns(this.#cipher, note),
      ...note.outcomes,
      model,
    });
    if (made === undefined) return {};
    const { seq } = made;
    writeFacets(this.#db, seq, note, true);
    if (vectors !== undefined) writeVectors(this.#db, seq, sealVectors(this.#cipher, note.id, vectors));
    insertAuditEvent(this.#db, { ...audit, version: 1, namespace: note.namespace, noteId: note.id });
    return { note: { ...note, version: 1, ...(model === null ? {} : { embeddingModel: model }) } };
  }

  updateOne({ note, expectedVersion, vectors, audit }: NoteUpdate): FeedbackNote {
    const sql = `SELECT seq, version, model_id AS model, retrieved, helpful, harmful, ignored FROM notes WHERE id = @id AND namespace = @namespace`;
    const held = this.#db.get(sql, { id: note.id, namespace: note.namespace });
    if (held === undefined) throw noteNotFound(note.id);
    if (held.version !== expectedVersion)
      throw versionConflict(note.id, expectedVersion, Number(held.version));
    const version = expectedVersion + 1;
    const model = vectors === undefined ? held.model : (vectors?.modelId ?? null);
    keepVersion(this.#db, held.seq);
    this.#db.run(UPDATE_NOTE, {
      ...noteParameters(note),
      ...textColumns(this.#cipher, note),
      version,
      model,
    });
    writeFacets(this.#db, held.seq, note, false);
    if (vectors === null) {
      dropAllVectors(this.#db, held.seq);
      dropVersions(this.#db, held.seq);
    } else if (vectors !== undefined) {
      writeVectors(this.#db, held.seq, sealVectors(this.#cipher, note.id, vectors));
    }
    insertAuditEvent(this.#db, { ...audit, version, namespace: note.namespace, noteId: note.id });
    appendChange(this.#db, [note.id]);
    const outcomes = outcomesFromRow(held);
    return { ...note, outcomes, version, ...(model === null ? {} : { embeddingModel: String(model) }) };
  }

  async addOutcome(namespace: string, id: NoteId, delta: Partial<OutcomeCounts>): Promise<void> {
    const { retrieved = 0, helpful = 0, harmful = 0, ignored = 0 } = delta;
    const sql = `UPDATE notes SET retrieved = retrieved + @retrieved, helpful = helpful + @helpful,
      harmful = harmful + @harmful, ignored = ignored + @ignored WHERE id = @id AND namespace = @namespace`;
    const parameters = { retrieved, helpful, harmful, ignored, id, namespace };
    const changed = await this.#db.writeRelaxed(() => this.#db.run(sql, parameters));
    if (changed === 0) throw noteNotFound(id);
  }

  putVectors(entries: readonly { readonly id: NoteId; readonly vectors: NoteVectors }[]): Promise<number> {
    // A note that was erased meanwhile has no vectors any more.
    const sql = 'SELECT seq FROM notes WHERE id = @id AND NOT (lesson = @erased AND correction = @erased)';
    return this.#db.write(() => {
      let written = 0;
      for (const { id, vectors } of entries) {
        const seq = this.#db.get(sql, { id, erased: ERASED_TEXT })?.seq;
        if (seq === undefined) continue;
        writeVectors(this.#db, seq, sealVectors(this.#cipher, id, vectors));
        written += 1;
      }
      return written;
    });
  }

  async adoptModel(modelId: string, afterId: NoteId | undefined, limit: number): Promise<NoteId | undefined> {
    const holds = 'EXISTS (SELECT 1 FROM note_vectors v WHERE v.note = n.seq AND v.model_id = @modelId)';
    const find = `SELECT n.seq, n.id FROM notes n WHERE n.id > @after AND n.model_id IS NOT @modelId AND ${holds} ORDER BY n.id LIMIT @limit`;
    return this.#db.write(() => {
      const rows = this.#db.all(find, { modelId, after: afterId ?? '', limit });
      for (const { seq } of rows) {
        this.#db.run('UPDATE notes SET model_id = @modelId WHERE seq = @seq', { modelId, seq });
      }
      return rows.length < limit ? undefined : String(rows.at(-1)?.id);
    });
  }

  dropVectors(modelId: string, limit: number): Promise<number> {
    const rows = `SELECT v.rowid FROM note_vectors v JOIN notes n ON n.seq = v.note
      WHERE v.model_id = @modelId AND n.model_id IS NOT @modelId LIMIT @limit`;
    const sql = `DELETE FROM note_vectors WHERE rowid IN (${rows})`;
    return this.#db.write(() => this.#db.run(sql, { modelId, limit }));
  }

  async reseal(afterId: NoteId | undefined, limit: number): Promise<ResealedPage> {
    const cipher = this.#cipher;
    if (cipher === undefined) return { resealed: 0 };
    const sql = `SELECT ${NOTE_COLUMNS} FROM notes n WHERE n.id > @after ORDER BY n.id LIMIT @limit`;
    return this.#db.write(() => {
      const keyId = cipher.keyId();
      const rows = this.#db.all(sql, { after: afterId ?? '', limit });
      const resealed = rows.filter((row) => this.#resealOne(row, cipher, keyId)).length;
      return rows.length < limit ? { resealed } : { resealed, lastId: String(rows.at(-1)?.id) };
    });
  }

  /** False where everything is sealed with the key already; a damaged row stays as it is. */
  #resealOne(row: Row, cipher: Cipher, keyId: string): boolean {
    const note = noteFromRow(row, cipher);
    if (note === undefined) return false;
    const columns = row.keyId === keyId ? undefined : textColumns(cipher, note);
    if (columns?.sealed) {
      const texts = `lesson = @lesson, correction = @correction, wrong_answer = @wrongAnswer, searched = @searched`;
      const sql = `UPDATE notes SET ${texts}, key_id = @keyId, sealed = @sealed WHERE seq = @seq`;
      this.#db.run(sql, { ...columns, seq: row.seq });
    }
    const stale = `SELECT n.id, ${VECTOR_COLUMNS} FROM note_vectors v JOIN notes n ON n.seq = v.note
      WHERE v.note = @seq AND v.key_id IS NOT @keyId`;
    const vectors = this.#db
      .all(stale, { seq: row.seq, keyId })
      .flatMap((held) => vectorsFromRow(held, cipher) ?? []);
    for (const each of vectors) writeVectors(this.#db, row.seq, sealVectors(cipher, note.id, each));
    return Boolean(columns?.sealed) || vectors.length > 0;
  }
}
