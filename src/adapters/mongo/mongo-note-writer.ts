import type { Collection } from 'mongodb';
import type { FeedbackNote, NoteId, NoteVectors, OutcomeCounts } from '../../domain/note.js';
import type { Cipher } from '../../ports/cipher.js';
import type { InsertOutcome, NoteInsert, NoteUpdate } from '../../ports/note-store.js';
import { noteNotFound, versionConflict } from '../records/note-errors.js';
import {
  type AuditDocument,
  type NoteDocument,
  noteContent,
  type VectorSubtype,
  type VectorsDocument,
  vectorDocument,
  vectorKey,
} from './mongo-documents.js';
import { duplicatePositions, isDuplicate } from './mongo-errors.js';
import type { MongoVersionKeeper } from './mongo-version-store.js';
import type { WriteCompletion } from './mongo-write-completion.js';

/** Each note changes in one atomic operation that carries its audit event; `WriteCompletion` does the rest. */
export class MongoNoteWriter {
  readonly #notes: Collection<NoteDocument>;
  readonly #completion: WriteCompletion;
  readonly #keeper: MongoVersionKeeper;
  readonly #vectorSubtype: VectorSubtype;
  readonly #cipher: Cipher | undefined;

  constructor(parts: {
    readonly notes: Collection<NoteDocument>;
    readonly completion: WriteCompletion;
    readonly keeper: MongoVersionKeeper;
    readonly vectorSubtype: VectorSubtype;
    readonly cipher: Cipher | undefined;
  }) {
    this.#notes = parts.notes;
    this.#completion = parts.completion;
    this.#keeper = parts.keeper;
    this.#vectorSubtype = parts.vectorSubtype;
    this.#cipher = parts.cipher;
  }

  async insert(entries: readonly NoteInsert[]): Promise<readonly InsertOutcome[]> {
    await this.#completion.completeFailed();
    // The first of several entries with one id: the others would be refused anyway.
    const byId = new Map<NoteId, NoteInsert>();
    for (const entry of entries) if (!byId.has(entry.note.id)) byId.set(entry.note.id, entry);
    const documents = Array.from(byId.values(), (entry) => this.#newDocument(entry));
    const refused =
      documents.length === 0
        ? new Set<number>()
        : await this.#completion.watched(() => this.#insertNew(documents));
    const made = documents.filter((_, i) => !refused.has(i));
    await this.#completion.complete(made);
    const ids = new Set(made.map((document) => document._id));
    return entries.map((entry) => {
      const { note, vectors } = entry;
      if (!ids.has(note.id) || byId.get(note.id) !== entry) return {};
      return {
        note: { ...note, version: 1, ...(vectors === undefined ? {} : { embeddingModel: vectors.modelId }) },
      };
    });
  }

  async update({ note, expectedVersion, vectors, audit }: NoteUpdate): Promise<FeedbackNote> {
    await this.#completion.completeFailed();
    const { id, namespace } = note;
    const projection = { version: 1, pending: 1, embeddingModel: 1, outcomes: 1 };
    const held = await this.#notes.findOne({ _id: id, namespace }, { projection });
    if (held === null) throw noteNotFound(id);
    if (held.version !== expectedVersion) throw versionConflict(id, expectedVersion, held.version);
    // What a crash cut off: its event would be overwritten. The change entry of this write covers the lost one.
    if (held.pending) await this.#completion.writeEvents([held.pending]);
    const version = expectedVersion + 1;
    await this.#keeper.keep(id, expectedVersion);
    const encoded = this.#changedVectors(id, vectors);
    const pending = { ...eventOf(note, version, audit), open: true as const };
    const target = { _id: id, namespace, version: expectedVersion };
    const change = { $set: { ...noteContent(note, this.#cipher), ...encoded, version, pending } };
    const result = await this.#completion.watched(() => this.#notes.updateOne(target, change));
    if (result.matchedCount === 0) throw versionConflict(id, expectedVersion, expectedVersion + 1);
    await this.#completion.complete([{ _id: id, version, pending }]);
    const model = vectors === undefined ? held.embeddingModel : (vectors?.modelId ?? null);
    return {
      ...note,
      outcomes: held.outcomes,
      version,
      ...(model === null ? {} : { embeddingModel: model }),
    };
  }

  async addOutcome(namespace: string, id: NoteId, delta: Partial<OutcomeCounts>): Promise<void> {
    const added = Object.entries(delta).filter(([, count]) => count !== undefined);
    const increments = Object.fromEntries(added.map(([name, count]) => [`outcomes.${name}`, count]));
    const result = await this.#notes.updateOne({ _id: id, namespace }, { $inc: increments });
    if (result.matchedCount === 0) throw noteNotFound(id);
  }

  /** Those of other models stay; an erasure drops all. */
  #changedVectors(id: NoteId, vectors: NoteUpdate['vectors']): Record<string, unknown> {
    if (vectors === undefined) return {};
    if (vectors === null) return { embeddingModel: null, vectors: {} };
    const { modelId } = vectors;
    return { embeddingModel: modelId, [`vectors.${vectorKey(modelId)}`]: this.#encode(id, vectors) };
  }

  #encode(id: NoteId, vectors: NoteVectors): VectorsDocument {
    return vectorDocument(id, vectors, this.#vectorSubtype, this.#cipher);
  }

  #newDocument({ note, vectors, audit }: NoteInsert): NoteDocument {
    return {
      _id: note.id,
      ...noteContent(note, this.#cipher),
      version: 1,
      outcomes: note.outcomes,
      embeddingModel: vectors?.modelId ?? null,
      vectors: vectors === undefined ? {} : { [vectorKey(vectors.modelId)]: this.#encode(note.id, vectors) },
      pending: { ...eventOf(note, 1, audit), open: true },
    };
  }

  /** Positions of the documents whose ids were taken. */
  async #insertNew(documents: readonly NoteDocument[]): Promise<ReadonlySet<number>> {
    const [only, ...more] = documents;
    try {
      if (only !== undefined && more.length === 0) await this.#notes.insertOne(only);
      else await this.#notes.insertMany([...documents], { ordered: false });
      return new Set();
    } catch (error) {
      return isDuplicate(error) && documents.length === 1 ? new Set([0]) : duplicatePositions(error);
    }
  }
}

function eventOf(note: NoteUpdate['note'], version: number, audit: NoteUpdate['audit']): AuditDocument {
  return { _id: `${note.id}:${version}`, ...audit, version, namespace: note.namespace, noteId: note.id };
}
