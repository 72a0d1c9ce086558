import type { Collection, Filter } from 'mongodb';
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
import { NOTE_ORDERS } from '../records/note-order.js';
import type { MongoAuditLog } from './mongo-audit-log.js';
import type { MongoChangeLog } from './mongo-change-log.js';
import type { MongoConnection } from './mongo-connection.js';
import {
  type NoteDocument,
  noteFromDocument,
  type VectorSubtype,
  vectorKey,
  vectorsFromDocument,
  WITH_VECTORS,
  WITHOUT_VECTORS,
} from './mongo-documents.js';
import type { MongoDoorbell } from './mongo-doorbell.js';
import { MongoNoteWriter } from './mongo-note-writer.js';
import { readPage } from './mongo-paging.js';
import { resolveFilter } from './mongo-sealed-search.js';
import { countByStatus } from './mongo-status-counts.js';
import { MongoVectorWriter } from './mongo-vector-writer.js';
import type { MongoVersionKeeper } from './mongo-version-store.js';
import type { WriteCompletion } from './mongo-write-completion.js';

export interface MongoNoteStoreParts {
  readonly connection: MongoConnection;
  readonly notes: Collection<NoteDocument>;
  readonly changes: MongoChangeLog;
  readonly completion: WriteCompletion;
  readonly log: Pick<MongoAuditLog, 'complete'>;
  readonly keeper: MongoVersionKeeper;
  readonly doorbell: MongoDoorbell;
  readonly vectorSubtype: VectorSubtype;
  readonly cipher: Cipher | undefined;
  /** Absent: the model that each note names. */
  readonly modelId?: string | undefined;
  /** Ids of damaged records, shared by all views of one store, so that each counts once however often it is met. */
  readonly corrupt?: Set<unknown>;
}

/** Reads, and what the writer, the change log and the doorbell do, behind one port. */
export class MongoNoteStore implements NoteStore {
  readonly #parts: MongoNoteStoreParts;
  readonly #writer: MongoNoteWriter;
  readonly #notes: Collection<NoteDocument>;
  readonly #vectorWriter: MongoVectorWriter;
  readonly #corrupt: Set<unknown>;

  constructor(parts: MongoNoteStoreParts) {
    this.#parts = parts;
    this.#notes = parts.notes;
    this.#writer = new MongoNoteWriter(parts);
    this.#vectorWriter = new MongoVectorWriter(parts);
    this.#corrupt = parts.corrupt ?? new Set();
  }

  forModel(modelId: string): NoteStore {
    return new MongoNoteStore({ ...this.#parts, modelId, corrupt: this.#corrupt });
  }

  async get(namespace: string, id: NoteId): Promise<FeedbackNote | undefined> {
    const [note] = await this.getMany(namespace, [id]);
    return note;
  }

  async getMany(namespace: string, ids: readonly NoteId[]): Promise<readonly FeedbackNote[]> {
    const filter = { _id: { $in: [...ids] }, namespace };
    const documents = await this.#run(() =>
      this.#notes.find(filter, { projection: WITHOUT_VECTORS }).toArray(),
    );
    const found = new Map(documents.flatMap(this.#note).map((note) => [note.id, note]));
    return ids.flatMap((id) => found.get(id) ?? []);
  }

  async getVectors(namespace: string, ids: readonly NoteId[]): Promise<ReadonlyMap<NoteId, NoteVectors>> {
    const filter = { _id: { $in: [...ids] }, namespace };
    const documents = await this.#run(() =>
      this.#notes.find(filter, { projection: this.#vectorProjection() }).toArray(),
    );
    return new Map(
      documents.flatMap((document) => {
        const vectors = this.#vectors(document);
        return vectors === undefined ? [] : [[document._id, vectors] as const];
      }),
    );
  }

  list(
    scope: NamespaceScope,
    filter: NoteFilter,
    order: NoteOrder,
    page: PageRequest,
  ): Promise<Page<FeedbackNote>> {
    return this.#run(async () =>
      readPage({
        collection: this.#notes,
        filter: await this.#filter(scope, filter),
        projection: WITHOUT_VECTORS,
        fields: {
          ...{ createdAt: 'createdAt', updatedAt: 'updatedAt', openedAt: 'openedAt' },
          ...{ risk: 'risk', id: '_id' },
        },
        order: NOTE_ORDERS[order],
        page,
        read: (document) => this.#note(document as Partial<NoteDocument>)[0],
      }),
    );
  }

  count(scope: NamespaceScope, filter: NoteFilter): Promise<number> {
    return this.#run(async () => this.#notes.countDocuments(await this.#filter(scope, filter)));
  }

  statusCounts(scope: NamespaceScope): Promise<readonly StatusCounts[]> {
    return this.#run(() => countByStatus(this.#notes, scope));
  }

  async insert(entries: readonly NoteInsert[]): Promise<readonly InsertOutcome[]> {
    const outcomes = await this.#run(() => this.#writer.insert(entries));
    this.#parts.doorbell.ring();
    return outcomes;
  }

  async update(entry: NoteUpdate): Promise<FeedbackNote> {
    const note = await this.#run(() => this.#writer.update(entry));
    this.#parts.doorbell.ring();
    return note;
  }

  addOutcome(namespace: string, id: NoteId, delta: Partial<OutcomeCounts>): Promise<void> {
    return this.#run(() => this.#writer.addOutcome(namespace, id, delta));
  }

  putVectors(entries: readonly { readonly id: NoteId; readonly vectors: NoteVectors }[]): Promise<number> {
    return this.#run(() => this.#vectorWriter.putVectors(entries));
  }

  adoptModel(modelId: string, afterId: NoteId | undefined, limit: number): Promise<NoteId | undefined> {
    return this.#run(() => this.#vectorWriter.adoptModel(modelId, afterId, limit));
  }

  dropVectors(modelId: string, limit: number): Promise<number> {
    return this.#run(() => this.#vectorWriter.dropVectors(modelId, limit));
  }

  reseal(afterId: NoteId | undefined, limit: number): Promise<ResealedPage> {
    return this.#run(() => this.#vectorWriter.reseal(afterId, limit));
  }

  lastRevision(): Promise<number> {
    return this.#run(() => this.#parts.changes.last());
  }

  changesSince(revision: number, limit: number): Promise<ChangePage> {
    return this.#run(() => this.#parts.changes.since(revision, limit));
  }

  async load(ids: readonly NoteId[]): Promise<readonly StoredNote[]> {
    const filter = { _id: { $in: [...ids] } };
    const documents = await this.#run(() => this.#notes.find(filter, { projection: WITH_VECTORS }).toArray());
    return documents.flatMap((document) => this.#stored(document));
  }

  async versions(afterId: NoteId | undefined, limit: number): Promise<readonly NoteVersion[]> {
    const projection = { namespace: 1, version: 1, status: 1 };
    const find = () =>
      this.#notes
        .find({ _id: { $gt: afterId ?? '' } }, { projection })
        .sort({ _id: 1 })
        .limit(limit);
    const documents = await this.#run(() => find().toArray());
    return documents.map(({ _id, namespace, version, status }) => {
      return { namespace, id: _id, version, status: status as NoteVersion['status'] };
    });
  }

  scanActive(afterId: NoteId | undefined, limit: number): Promise<readonly StoredNote[]> {
    const filter: Filter<NoteDocument> = { status: 'ACTIVE', embeddingModel: { $ne: null } };
    return this.#scan(filter, WITH_VECTORS, afterId, limit, (document) => this.#stored(document));
  }

  scanWithoutModel(
    modelId: string,
    namespace: string | undefined,
    afterId: NoteId | undefined,
    limit: number,
  ): Promise<readonly FeedbackNote[]> {
    const scope = namespace === undefined ? {} : { namespace };
    const filter: Filter<NoteDocument> = {
      ...scope,
      [`vectors.${vectorKey(modelId)}.modelId`]: { $ne: modelId },
    };
    return this.#scan(filter, WITHOUT_VECTORS, afterId, limit, this.#note);
  }

  async watch(onChange: () => void): Promise<() => Promise<void>> {
    this.#parts.connection.checkOpen();
    return this.#parts.doorbell.add(onChange);
  }

  pruneChanges(revision: number): Promise<number> {
    return this.#run(() => this.#parts.changes.prune(revision));
  }

  async repair(): Promise<number> {
    const completed = await this.#run(() => this.#parts.completion.repair());
    if (completed > 0) this.#parts.doorbell.ring();
    return completed + (await this.#parts.log.complete());
  }

  corruptRecords(): number {
    return this.#corrupt.size;
  }

  #filter(scope: NamespaceScope, filter: NoteFilter): Promise<Filter<NoteDocument>> {
    const { cipher, connection } = this.#parts;
    return resolveFilter({ notes: this.#notes, cipher, elemMatch: connection.knowsElemMatch }, scope, filter);
  }

  #run<T>(work: () => Promise<T>): Promise<T> {
    return this.#parts.connection.run(work);
  }

  /** Reads on past records that cannot be read, so that only the end of the notes gives an empty answer. */
  async #scan<T>(
    filter: Filter<NoteDocument>,
    projection: typeof WITH_VECTORS | typeof WITHOUT_VECTORS,
    afterId: NoteId | undefined,
    limit: number,
    read: (document: Partial<NoteDocument>) => readonly T[],
  ): Promise<readonly T[]> {
    let after = afterId ?? '';
    for (;;) {
      const range: Filter<NoteDocument> = { ...filter, _id: { $gt: after } };
      const find = () => this.#notes.find(range, { projection }).sort({ _id: 1 }).limit(limit);
      const documents = await this.#run(() => find().toArray());
      const found = documents.flatMap((document) => read(document));
      if (found.length > 0 || documents.length < limit) return found;
      after = documents.at(-1)?._id ?? after;
    }
  }

  readonly #note = (document: Partial<NoteDocument>): readonly FeedbackNote[] => {
    const note = noteFromDocument(document, this.#parts.cipher);
    if (note !== undefined) return [note];
    this.#corrupt.add(document._id);
    return [];
  };

  #vectorProjection(): Record<string, 1> {
    const { modelId } = this.#parts;
    return modelId === undefined
      ? { vectors: 1, embeddingModel: 1 }
      : { [`vectors.${vectorKey(modelId)}`]: 1, embeddingModel: 1 };
  }

  #vectors(document: Partial<NoteDocument>): NoteVectors | undefined {
    const vectors = vectorsFromDocument(document, this.#parts.modelId, this.#parts.cipher);
    if (vectors === undefined) this.#corrupt.add(document._id);
    return vectors ?? undefined;
  }

  #stored(document: Partial<NoteDocument>): readonly StoredNote[] {
    return this.#note(document).map((note) => {
      const vectors = this.#vectors(document);
      return vectors === undefined ? { note } : { note, vectors };
    });
  }
}
