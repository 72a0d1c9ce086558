import type { FeedbackNote, NoteId, NoteVectors, OutcomeCounts } from '../../domain/note.js';
import type { Cipher } from '../../ports/cipher.js';
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
  ResealedPage,
  StatusCounts,
  StoredNote,
} from '../../ports/note-store.js';
import { ChangeDoorbell } from './change-doorbell.js';
import { RecentNotes } from './recent-notes.js';
import { appendChange, lastRevision, pruneChanges, readChanges } from './sqlite-change-log.js';
import type { Row, SqliteDatabase } from './sqlite-database.js';
import { countByStatus, countNotes, listNotes } from './sqlite-note-queries.js';
import {
  NOTE_COLUMNS,
  noteFromRow,
  OF_MODEL,
  STATE_COLUMNS,
  stateFromRow,
  VECTOR_COLUMNS,
  vectorsFromRow,
} from './sqlite-note-rows.js';
import { SqliteNoteWriter } from './sqlite-note-writer.js';

interface ScanParameters {
  readonly after: string;
  readonly limit: number;
  readonly model: string | null;
  readonly namespace?: string | undefined;
}

/** The plus keeps the planner off the namespace's indexes: the ids are what is looked up. */
const IN_IDS = 'n.id IN (SELECT value FROM json_each(@ids))';
const IN_NAMESPACE = '+n.namespace = @namespace';
interface SqliteNoteStoreParts {
  readonly cipher?: Cipher | undefined;
  readonly modelId?: string | undefined;
  /** Shared by all views of one store. */
  readonly doorbell?: ChangeDoorbell;
  readonly corrupt?: Set<unknown>;
  readonly recent?: RecentNotes;
}

/** Note, audit event and change entry in one transaction: there is nothing for `repair` to complete. */
export class SqliteNoteStore implements NoteStore {
  readonly #db: SqliteDatabase;
  readonly #writer: SqliteNoteWriter;
  readonly #cipher: Cipher | undefined;
  /** Null: the model that each note names. */
  readonly #model: string | null;
  readonly #doorbell: ChangeDoorbell;
  /** Ids, so that a damaged record counts once however often it is met. */
  readonly #corrupt: Set<unknown>;
  readonly #recent: RecentNotes;

  constructor(db: SqliteDatabase, parts: SqliteNoteStoreParts = {}) {
    this.#db = db;
    this.#cipher = parts.cipher;
    this.#model = parts.modelId ?? null;
    this.#recent = parts.recent ?? new RecentNotes();
    this.#writer = new SqliteNoteWriter(db, parts.cipher);
    this.#doorbell = parts.doorbell ?? new ChangeDoorbell(db, () => lastRevision(db));
    this.#corrupt = parts.corrupt ?? new Set();
  }

  forModel(modelId: string): NoteStore {
    const shared = { doorbell: this.#doorbell, corrupt: this.#corrupt, recent: this.#recent };
    return new SqliteNoteStore(this.#db, { ...shared, cipher: this.#cipher, modelId });
  }

  async get(namespace: string, id: NoteId): Promise<FeedbackNote | undefined> {
    const [note] = await this.getMany(namespace, [id]);
    return note;
  }

  async getMany(namespace: string, ids: readonly NoteId[]): Promise<readonly FeedbackNote[]> {
    if (ids.length === 0) return [];
    const where = `FROM notes n WHERE ${IN_IDS} AND ${IN_NAMESPACE}`;
    // What is kept is kept inside the read, so that no change can come between.
    const found = await this.#db.read(() => {
      const notes = new Map<NoteId, FeedbackNote>();
      const unknown: NoteId[] = [];
      const states = this.#db.all(`SELECT ${STATE_COLUMNS} ${where}`, {
        ids: JSON.stringify(ids),
        namespace,
      });
      for (const state of states.map(stateFromRow)) {
        const note = this.#recent.noteOf(state);
        if (note === undefined) unknown.push(state.id);
        else notes.set(note.id, note);
      }
      if (unknown.length === 0) return notes;
      const rows = this.#db.all(`SELECT ${NOTE_COLUMNS} ${where}`, {
        ids: JSON.stringify(unknown),
        namespace,
      });
      for (const note of rows.flatMap(this.#note)) {
        notes.set(note.id, note);
        this.#recent.keep(note);
      }
      return notes;
    });
    return ids.flatMap((id) => found.get(id) ?? []);
  }

  async getVectors(namespace: string, ids: readonly NoteId[]): Promise<ReadonlyMap<NoteId, NoteVectors>> {
    const sql = `SELECT n.id, ${VECTOR_COLUMNS} FROM notes n JOIN ${OF_MODEL} WHERE ${IN_IDS} AND ${IN_NAMESPACE}`;
    const parameters = { ids: JSON.stringify(ids), namespace, model: this.#model };
    const rows = await this.#db.read(() => this.#db.all(sql, parameters));
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
      const made = entries.map((entry) => this.#writer.insertOne(entry));
      const ids = made.flatMap(({ note }) => note?.id ?? []);
      if (ids.length > 0) appendChange(this.#db, ids);
      return made;
    });
    this.#doorbell.ring();
    return outcomes;
  }

  async update(entry: NoteUpdate): Promise<FeedbackNote> {
    const note = await this.#db.write(() => this.#writer.updateOne(entry));
    this.#recent.forget(note.id);
    if (entry.vectors === null) await this.#db.emptyLog();
    this.#doorbell.ring();
    return note;
  }

  addOutcome(namespace: string, id: NoteId, delta: Partial<OutcomeCounts>): Promise<void> {
    return this.#writer.addOutcome(namespace, id, delta);
  }

  putVectors(entries: readonly { readonly id: NoteId; readonly vectors: NoteVectors }[]): Promise<number> {
    return this.#writer.putVectors(entries);
  }

  adoptModel(modelId: string, afterId: NoteId | undefined, limit: number): Promise<NoteId | undefined> {
    return this.#writer.adoptModel(modelId, afterId, limit);
  }

  dropVectors(modelId: string, limit: number): Promise<number> {
    return this.#writer.dropVectors(modelId, limit);
  }

  async reseal(afterId: NoteId | undefined, limit: number): Promise<ResealedPage> {
    const page = await this.#writer.reseal(afterId, limit);
    // What was plain, or sealed with a key that is given up, is not to be found in the log either.
    if (page.lastId === undefined) await this.#db.emptyLog();
    return page;
  }

  lastRevision(): Promise<number> {
    return this.#db.read(() => lastRevision(this.#db));
  }

  changesSince(revision: number, limit: number): Promise<ChangePage> {
    return this.#db.read(() => readChanges(this.#db, revision, limit));
  }

  async load(ids: readonly NoteId[]): Promise<readonly StoredNote[]> {
    const sql = `SELECT ${NOTE_COLUMNS}, ${VECTOR_COLUMNS} FROM notes n LEFT JOIN ${OF_MODEL} WHERE ${IN_IDS}`;
    const parameters = { ids: JSON.stringify(ids), model: this.#model };
    const rows = await this.#db.read(() => this.#db.all(sql, parameters));
    // Asked for what has changed, perhaps in another process.
    for (const id of ids) this.#recent.forget(id);
    return rows.flatMap((row) => this.#stored(row));
  }

  async versions(afterId: NoteId | undefined, limit: number): Promise<readonly NoteVersion[]> {
    const sql = `SELECT n.namespace, n.id, n.version, n.status FROM notes n WHERE n.id > @after ORDER BY n.id LIMIT @limit`;
    const rows = await this.#db.read(() => this.#db.all(sql, { after: afterId ?? '', limit }));
    return rows as unknown as readonly NoteVersion[];
  }

  async scanActive(afterId: NoteId | undefined, limit: number): Promise<readonly StoredNote[]> {
    const sql = `SELECT ${NOTE_COLUMNS}, ${VECTOR_COLUMNS} FROM notes n LEFT JOIN ${OF_MODEL}
      WHERE n.id > @after AND n.status = 'ACTIVE' AND n.model_id IS NOT NULL ORDER BY n.id LIMIT @limit`;
    return this.#scan(sql, { after: afterId ?? '', limit, model: this.#model }, (row) => this.#stored(row));
  }

  async scanWithoutModel(
    modelId: string,
    namespace: string | undefined,
    afterId: NoteId | undefined,
    limit: number,
  ): Promise<readonly FeedbackNote[]> {
    const scope = namespace === undefined ? '' : 'AND +n.namespace = @namespace';
    const lacks = 'NOT EXISTS (SELECT 1 FROM note_vectors v WHERE v.note = n.seq AND v.model_id = @model)';
    const sql = `SELECT ${NOTE_COLUMNS} FROM notes n WHERE n.id > @after AND ${lacks} ${scope} ORDER BY n.id LIMIT @limit`;
    return this.#scan(sql, { after: afterId ?? '', model: modelId, namespace, limit }, this.#note);
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

  cacheBytes(): number {
    return this.#recent.bytes;
  }

  corruptRecords(): number {
    return this.#corrupt.size;
  }

  /** Called by the store that made it; the database is closed there. */
  close(): void {
    this.#doorbell.close();
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
    const note = noteFromRow(row, this.#cipher);
    if (note !== undefined) return [note];
    this.#corrupt.add(row.id);
    return [];
  };

  #vectors(row: Row): NoteVectors | undefined {
    const vectors = vectorsFromRow(row, this.#cipher);
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
