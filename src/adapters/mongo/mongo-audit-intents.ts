import type { Collection, Filter } from 'mongodb';
import type { AuditEvent } from '../../domain/audit.js';
import { isDuplicate } from './mongo-errors.js';

/** Says, before an event of no note is written, that event and link will be: what a crash in between leaves to others. */
export interface AuditIntentDocument {
  /** Id of the event. */
  readonly _id: string;
  /** JSON of the event. */
  readonly event: string;
  /** Until when, in ms since the epoch, whoever wrote it is taken to be at it. */
  readonly due: number;
}

/** A write takes milliseconds; a process that is this late has died or lost its server. */
const LEASE_MS = 5_000;

/**
 * Events of notes are kept by the note itself until they are sealed; others have this list, which is empty but for the writes of
 * the moment. An entry is completed by its writer or, once its lease is over, by one other process.
 */
export class MongoAuditIntents {
  readonly #intents: Collection<AuditIntentDocument>;
  readonly #leaseMs: number;

  constructor(intents: Collection<AuditIntentDocument>, leaseMs = LEASE_MS) {
    this.#intents = intents;
    this.#leaseMs = leaseMs;
  }

  /** False where the event was announced before and has not been completed yet. */
  async announce(event: AuditEvent): Promise<boolean> {
    try {
      const due = Date.now() + this.#leaseMs;
      await this.#intents.insertOne({ _id: event.id, event: JSON.stringify(event), due });
      return true;
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      return false;
    }
  }

  async done(id: string): Promise<void> {
    await this.#intents.deleteOne({ _id: id });
  }

  async ids(): Promise<readonly string[]> {
    const found = await this.#intents.find({}, { projection: { _id: 1 } }).toArray();
    return found.map(({ _id }) => _id);
  }

  /** Completes what is overdue with `complete`, each by one process at a time. Resolves with how many; harmless to repeat. */
  async completeOverdue(complete: (event: AuditEvent) => Promise<unknown>): Promise<number> {
    let completed = 0;
    const overdue: Filter<AuditIntentDocument> = { due: { $lte: Date.now() } };
    for (const { _id, event, due } of await this.#intents.find(overdue).toArray()) {
      // The lease is the version: of several processes one takes it over.
      const taken = await this.#intents.updateOne(
        { _id, due },
        { $set: { due: Date.now() + this.#leaseMs } },
      );
      if (taken.matchedCount === 0) continue;
      await complete(JSON.parse(event) as AuditEvent);
      completed += 1;
    }
    return completed;
  }
}
