import type { Collection } from 'mongodb';
import type { NoteId } from '../../domain/note.js';
import type { ChangePage } from '../../ports/note-store.js';
import { readChangeWindow } from '../records/change-window.js';
import { isDuplicate } from './mongo-errors.js';

export interface ChangeDocument {
  /** The revision. */
  readonly _id: number;
  readonly noteIds: readonly NoteId[];
}

/** 64 characters an id: an entry stays far below the 16 MB of a document. */
const MAX_IDS_AN_ENTRY = 100_000;

/** Numbers that are tried one after another before the log's end is looked up again. */
const RETRIES_A_LOOK = 3;

/**
 * The dense log: an entry is inserted with the next number if nobody else has it, so there is never a gap that a slower
 * writer might fill. Writes of this process that wait for each other share an entry.
 */
export class MongoChangeLog {
  readonly #entries: Collection<ChangeDocument>;
  #waiting: { ids: NoteId[]; written: Promise<void> } | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(entries: Collection<ChangeDocument>) {
    this.#entries = entries;
  }

  /** Resolves when an entry with the ids is written. */
  append(ids: readonly NoteId[]): Promise<void> {
    if (this.#waiting !== undefined && this.#waiting.ids.length + ids.length <= MAX_IDS_AN_ENTRY) {
      this.#waiting.ids.push(...ids);
      return this.#waiting.written;
    }
    const entry = { ids: [...ids] };
    const written = this.#running.then(() => {
      if (this.#waiting?.ids === entry.ids) this.#waiting = undefined;
      return this.#write(entry.ids);
    });
    this.#waiting = { ids: entry.ids, written };
    // The next entry follows also where this one failed; its own callers learn of the failure.
    this.#running = written.catch(() => undefined);
    return written;
  }

  async last(): Promise<number> {
    const [entry] = await this.#entries
      .find({}, { projection: { _id: 1 } })
      .sort({ _id: -1 })
      .limit(1)
      .toArray();
    return entry?._id ?? 0;
  }

  async since(revision: number, limit: number): Promise<ChangePage> {
    const documents = await this.#entries
      .find({ _id: { $gt: revision } })
      .sort({ _id: 1 })
      .limit(limit)
      .toArray();
    const entries = documents.map(({ _id, noteIds }) => ({ revision: _id, noteIds }));
    const last = entries.at(-1)?.revision ?? (revision === 0 ? 0 : await this.last());
    return readChangeWindow(entries, revision, last);
  }

  /** By range, so that what is left is dense. */
  async prune(revision: number): Promise<number> {
    const newest = await this.last();
    const result = await this.#entries.deleteMany({ _id: { $lte: Math.min(revision, newest - 1) } });
    return result.deletedCount;
  }

  async #write(noteIds: readonly NoteId[]): Promise<void> {
    let last = await this.last();
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.#entries.insertOne({ _id: last + 1, noteIds });
      } catch (error) {
        if (!isDuplicate(error)) throw error;
        // Somebody else took the number: the next one is free, unless there are many of them.
        last = attempt % RETRIES_A_LOOK === 0 ? await this.last() : last + 1;
        continue;
      }
      // Where the entry before is gone, the log was extended and pruned past this number in between: followers are
      // beyond it already, so it is written again at the end. (An empty log, which nobody follows yet, has none before.)
      const previous = last === 0 || (await this.#entries.findOne({ _id: last }, { projection: { _id: 1 } }));
      if (previous) return;
      await this.#entries.deleteOne({ _id: last + 1 });
      last = await this.last();
    }
  }
}
