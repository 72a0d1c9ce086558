import type { FeedbackNote, NoteId, NoteVectors, OutcomeCounts } from '../../domain/note.js';
import type {
  ChangePage,
  InsertOutcome,
  NamespaceScope,
  NoteFilter,
  NoteInsert,
  NoteOrder,
  NoteStore,
  NoteUpdate,
  NoteVersion,
  Page,
  PageRequest,
  StatusCounts,
  StoredNote,
} from '../../ports/note-store.js';
import { noteNotFound, versionConflict } from '../records/note-errors.js';
import { ChangeDoorbell } from './change-doorbell.js';
import { insertAuditEvent } from './sqlite-audit-log.js';
import { appendChange, lastRevision, pruneChanges, readChanges } from './sqlite-change-log.js';
import type { Row, SqliteDatabase } from './sqlite-database.js';
import { countByStatus, countNotes, listNotes } from './sqlite-note-queries.js';
import {
  INSERT_NOTE,
  NOTE_COLUMNS,
  noteFromRow,
  noteParameters,
  outcomesFromRow,
  UPDATE_NOTE,
  VECTOR_COLUMNS,
  vectorsFromRow,
  writeFacets,
  writeVectors,
} from './sqlite-note-rows.js';
import { dropVersions, keepVersion } from './sqlite-version-store.js';

interface ScanParameters {
  readonly after: string;
  readonly limit: number;
  readonly modelId?: string;
  readonly namespace?: string | undefined;
}

/** The plus keeps the planner off the namespace's indexes: the ids are what is looked up. */
const IN_IDS = 'n.id IN (SELECT value FROM json_each(@ids))';
const IN_NAMESPACE = '+n.namespace = @namespace';
/** Note, audit event and change entry in one transaction: there is nothing for `repair` to complete. */
export class SqliteNoteStore implements NoteStore {
  readonly #db: SqliteDatabase;
  readonly #doorbell: ChangeDoorbell;
  /** Ids, so that a damaged record counts once however often it is met. */
  readonly #corrupt = new Set<unknown>();

  constructor(db: SqliteDatabase) {
    this.#db = db;
    this.#doorbell = new ChangeDoorbell(db, () => lastRevision(db));
  }

  async get(namespace: string, id: NoteId): Promise<FeedbackNote | undefined> {
    const [note] = await this.getMany(namespace, [id]);
    return note;
  }

  async getMany(namespace: string, ids: readonly NoteId[]): Promise<readonly FeedbackNote[]> {
    const sql = `SELECT ${NOTE_COLUMNS} FROM notes n WHERE ${IN_IDS} AND ${IN_NAMESPACE}`;
    const rows = await this.#db.read(() => this.#db.all(sql, { ids: JSON.stringify(ids), namespace }));
    const found = new Map(rows.flatMap(this.#note).map((note) => [note.id, note]));
    return ids.flatMap((id) => found.get(id) ?? []);
  }

  async getVectors(namespace: string, ids: readonly NoteId[]): Promise<ReadonlyMap<NoteId, NoteVectors>> {
    const sql = `SELECT n.id, ${VECTOR_COLUMNS} FROM notes n JOIN note_vectors v ON v.note = n.seq
      WHERE ${IN_IDS} AND ${IN_NAMESPACE}`;
    const rows = await this.#db.read(() => this.#db.all(sql, { ids: JSON.stringify(ids), namespace }));
    return new Map(
      rows.flatMap((row) => {
        const vectors = this.#vectors(row);
        return vectors === undefined ? [] : [[String(row.id), vectors] as const];
      }),
    );
  }

  list(
    scope: NamespaceScope,
    filter: NoteFilter,
    order: NoteOrder,
    page: PageRequest,
  ): Promise<Page<FeedbackNote>> {
    const request = { scope, filter, order, page };
    return this.#db.read(() => listNotes(this.#db, request, (row) => this.#note(row)[0]));
  }

  count(scope: NamespaceScope, filter: NoteFilter): Promise<number> {
    return this.#db.read(() => countNotes(this.#db, scope, filter));
  }

  statusCounts(scope: NamespaceScope): Promise<readonly StatusCounts[]> {
    return this.#db.read(() => countByStatus(this.#db, scope));
  }

  async insert(entries: readonly NoteInsert[]): Promise<readonly InsertOutcome[]> {
    const outcomes = await this.#db.write(() => {
      const made = entries.map((entry) => this.#insertOne(entry));
      const ids = made.flatMap(({ note }) => note?.id ?? []);
      if (ids.length > 0) appendChange(this.#db, ids);
      return made;
    });
    this.#doorbell.ring();
    return outcomes;
  }

  async update(entry: NoteUpdate): Promise<FeedbackNote> {
    const note = await this.#db.write(() => this.#updateOne(entry));
    if (entry.vectors === null) await this.#db.emptyLog();
    this.#doorbell.ring();
    return note;
  }

  async addOutcome(namespace: string, id: NoteId, delta: Partial<OutcomeCounts>): Promise<void> {
    const { retrieved = 0, helpful = 0, harmful = 0, ignored = 0 } = delta;
    const sql = `UPDATE notes SET retrieved = retrieved + @retrieved, helpful = helpful + @helpful,
      harmful = harmful + @harmful, ignored = ignored + @ignored WHERE id = @id AND namespace = @namespace`;
    const parameters = { retrieved, helpful, harmful, ignored, id, namespace };
    const changed = await this.#db.writeRelaxed(() => this.#db.run(sql, parameters));
    if (changed === 0) throw noteNotFound(id);
  }

  lastRevision(): Promise<number> {
    return this.#db.read(() => lastRevision(this.#db));
  }

  changesSince(revision: number, limit: number): Promise<ChangePage> {
    return this.#db.read(() => readChanges(this.#db, revision, limit));
  }

  async load(ids: readonly NoteId[]): Promise<readonly StoredNote[]> {
    const sql = `SELECT ${NOTE_COLUMNS}, ${VECTOR_COLUMNS} FROM notes n LEFT JOIN note_vectors v ON v.note = n.seq WHERE ${IN_IDS}`;
    const rows = await this.#db.read(() => this.#db.all(sql, { ids: JSON.stringify(ids) }));
    return rows.flatMap((row) => this.#stored(row));
  }

  async versions(afterId: NoteId | undefined, limit: number): Promise<readonly NoteVersion[]> {
    const sql = `SELECT n.namespace, n.id, n.version, n.status FROM notes n WHERE n.id > @after ORDER BY n.id LIMIT @limit`;
    const rows = await this.#db.read(() => this.#db.all(sql, { after: afterId ?? '', limit }));
    return rows as unknown as readonly NoteVersion[];
  }

  async scanActive(afterId: NoteId | undefined, limit: number): Promise<readonly StoredNote[]> {
    const sql = `SELECT ${NOTE_COLUMNS}, ${VECTOR_COLUMNS} FROM notes n JOIN note_vectors v ON v.note = n.seq
      WHERE n.id > @after AND n.status = 'ACTIVE' ORDER BY n.id LIMIT @limit`;
    return this.#scan(sql, { after: afterId ?? '', limit }, (row) => this.#stored(row));
  }

  async scanWithoutModel(
    modelId: string,
    namespace: string | undefined,
    afterId: NoteId | undefined,
    limit: number,
  ): Promise<readonly FeedbackNote[]> {
    const scope = namespace === undefined ? '' : 'AND +n.namespace = @namespace';
    const sql = `SELECT ${NOTE_COLUMNS} FROM notes n WHERE n.id > @after AND n.model_id IS NOT @modelId ${scope} ORDER BY n.id LIMIT @limit`;
    return this.#scan(sql, { after: afterId ?? '', modelId, namespace, limit }, this.#note);
  }

  async watch(onChange: () => void): Promise<() => Promise<void>> {
    this.#db.checkOpen();
    const remove = this.#doorbell.add(onChange);
    return async () => remove();
  }

  pruneChanges(revision: number): Promise<number> {
    return this.#db.write(() => pruneChanges(this.#db, revision));
  }

  async repair(): Promise<number> {
    this.#db.checkOpen();
    return 0;
  }

  corruptRecords(): number {
    return this.#corrupt.size;
  }

  /** Called by the store that made it; the database is closed there. */
  close(): void {
    this.#doorbell.close();
  }

  #insertOne({ note, vectors, audit }: NoteInsert): InsertOutcome {
    const model = vectors?.modelId ?? null;
    if (this.#db.run(INSERT_NOTE, { ...noteParameters(note), ...note.outcomes, model }) === 0) return {};
    const seq = this.#db.get('SELECT seq FROM notes WHERE id = @id', { id: note.id })?.seq;
    writeFacets(this.#db, seq, note, true);
    if (vectors !== undefined) writeVectors(this.#db, seq, vectors);
    insertAuditEvent(this.#db, { ...audit, version: 1, namespace: note.namespace, noteId: note.id });
    return { note: { ...note, version: 1, ...(model === null ? {} : { embeddingModel: model }) } };
  }

  #updateOne({ note, expectedVersion, vectors, audit }: NoteUpdate): FeedbackNote {
    const sql = `SELECT seq, version, model_id AS model, retrieved, helpful, harmful, ignored FROM notes WHERE id = @id AND namespace = @namespace`;
    const held = this.#db.get(sql, { id: note.id, namespace: note.namespace });
    if (held === undefined) throw noteNotFound(note.id);
    if (held.version !== expectedVersion)
      throw versionConflict(note.id, expectedVersion, Number(held.version));
    const version = expectedVersion + 1;
    const model = vectors === undefined ? held.model : (vectors?.modelId ?? null);
    keepVersion(this.#db, held.seq);
    this.#db.run(UPDATE_NOTE, { ...noteParameters(note), version, model });
    writeFacets(this.#db, held.seq, note, false);
    if (vectors !== undefined) writeVectors(this.#db, held.seq, vectors);
    if (vectors === null) dropVersions(this.#db, held.seq);
    insertAuditEvent(this.#db, { ...audit, version, namespace: note.namespace, noteId: note.id });
    appendChange(this.#db, [note.id]);
    const outcomes = outcomesFromRow(held);
    return { ...note, outcomes, version, ...(model === null ? {} : { embeddingModel: String(model) }) };
  }

  /** Reads on past records that cannot be read, so that only the end of the notes gives an empty answer. */
  async #scan<T>(sql: string, parameters: ScanParameters, read: (row: Row) => readonly T[]) {
    let { after } = parameters;
    for (;;) {
      const from = after;
      const rows = await this.#db.read(() => this.#db.all(sql, { ...parameters, after: from }));
      const found = rows.flatMap((row) => read(row));
      if (found.length > 0 || rows.length < parameters.limit) return found;
      after = String(rows.at(-1)?.id);
    }
  }

  readonly #note = (row: Row): readonly FeedbackNote[] => {
    const note = noteFromRow(row);
    if (note !== undefined) return [note];
    this.#corrupt.add(row.id);
    return [];
  };

  #vectors(row: Row): NoteVectors | undefined {
    const vectors = vectorsFromRow(row);
    if (vectors === undefined && row.vectorModel !== null) this.#corrupt.add(row.id);
    return vectors;
  }

  #stored(row: Row): readonly StoredNote[] {
    return this.#note(row).map((note) => {
      const vectors = this.#vectors(row);
      return vectors === undefined ? { note } : { note, vectors };
    });
  }
}
