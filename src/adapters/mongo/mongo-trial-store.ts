import type { Collection } from 'mongodb';
import type { Trial } from '../../domain/trial.js';
import type { TrialStore } from '../../ports/note-store.js';
import type { MongoConnection } from './mongo-connection.js';
import { isDuplicate } from './mongo-errors.js';

export interface TrialDocument extends Omit<Trial, 'receiptId' | 'correct'> {
  readonly _id: string;
  /** `null` until the check was judged, so that every server finds it by value. */
  readonly correct: boolean | null;
}

export class MongoTrialStore implements TrialStore {
  readonly #connection: MongoConnection;
  readonly #trials: Collection<TrialDocument>;

  constructor(connection: MongoConnection, trials: Collection<TrialDocument>) {
    this.#connection = connection;
    this.#trials = trials;
  }

  async put({ receiptId, namespace, noteId, withheld, at }: Trial): Promise<void> {
    await this.#connection.run(async () => {
      try {
        await this.#trials.insertOne({ _id: receiptId, namespace, noteId, withheld, at, correct: null });
      } catch (error) {
        if (!isDuplicate(error)) throw error;
      }
    });
  }

  async settle(receiptId: string, correct: boolean): Promise<boolean> {
    const open = { _id: receiptId, correct: null };
    const result = await this.#connection.run(() => this.#trials.updateOne(open, { $set: { correct } }));
    return result.matchedCount > 0;
  }

  async settled(namespace: string, limit: number): Promise<readonly Trial[]> {
    const documents = await this.#connection.run(() =>
      this.#trials
        .find({ namespace, correct: { $in: [true, false] } })
        .sort({ at: -1, _id: -1 })
        .limit(limit)
        .toArray(),
    );
    return documents.map(({ _id, correct, ...trial }) => ({
      ...trial,
      receiptId: _id,
      correct: correct === true,
    }));
  }
}
