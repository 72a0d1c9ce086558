import type { Collection } from 'mongodb';
import type { FeedbackNote, NoteId } from '../../domain/note.js';
import type { Cipher } from '../../ports/cipher.js';
import type { VersionStore } from '../../ports/note-store.js';
import type { MongoConnection } from './mongo-connection.js';
import { type NoteDocument, noteFromDocument, WITHOUT_VECTORS } from './mongo-documents.js';
import { isDuplicate } from './mongo-errors.js';

/** What a note said at a version, without what versions share: texts, sources, outcomes. */
export interface VersionDocument
  extends Omit<
    NoteDocument,
    | '_id'
    | 'wrongAnswer'
    | 'correction'
    | 'lesson'
    | 'searched'
    | 'sealed'
    | 'sources'
    | 'outcomes'
    | 'vectors'
    | 'pending'
  > {
  readonly _id: string;
  readonly noteId: NoteId;
}

/** Not in a past state: texts and sources are the present note's, vectors belong to no version. */
const SHARED = {
  vectors: 0,
  searched: 0,
  sealed: 0,
  pending: 0,
  wrongAnswer: 0,
  correction: 0,
  lesson: 0,
  sources: 0,
  outcomes: 0,
} as const;

/** Keeps what updates overwrite. Written before the update: a state that no update followed is the present one, and harmless. */
export class MongoVersionKeeper {
  readonly #notes: Collection<NoteDocument>;
  readonly #versions: Collection<VersionDocument>;

  constructor(notes: Collection<NoteDocument>, versions: Collection<VersionDocument>) {
    this.#notes = notes;
    this.#versions = versions;
  }

  async keep(id: NoteId, version: number): Promise<void> {
    const state = await this.#notes.findOne({ _id: id, version }, { projection: SHARED });
    if (state === null) return;
    const { _id, ...rest } = state;
    try {
      await this.#versions.insertOne({ ...rest, _id: `${_id}:${version}`, noteId: _id } as VersionDocument);
    } catch (error) {
      if (!isDuplicate(error)) throw error;
    }
  }

  async drop(ids: readonly NoteId[]): Promise<void> {
    if (ids.length > 0) await this.#versions.deleteMany({ noteId: { $in: [...ids] } });
  }
}

export class MongoVersionStore implements VersionStore {
  readonly #connection: MongoConnection;
  readonly #notes: Collection<NoteDocument>;
  readonly #versions: Collection<VersionDocument>;
  readonly #cipher: Cipher | undefined;

  constructor(
    connection: MongoConnection,
    notes: Collection<NoteDocument>,
    versions: Collection<VersionDocument>,
    cipher: Cipher | undefined,
  ) {
    this.#cipher = cipher;
    this.#connection = connection;
    this.#notes = notes;
    this.#versions = versions;
  }

  async past(namespace: string, id: NoteId, limit: number): Promise<readonly FeedbackNote[]> {
    return this.#connection.run(async () => {
      const present = await this.#notes.findOne({ _id: id, namespace }, { projection: WITHOUT_VECTORS });
      if (present === null) return [];
      const states = await this.#versions
        .find({ noteId: id, version: { $lt: present.version } })
        .sort({ version: -1 })
        .limit(limit)
        .toArray();
      return states.flatMap(
        ({ _id, ...state }) => noteFromDocument({ ...present, ...state }, this.#cipher) ?? [],
      );
    });
  }
}
