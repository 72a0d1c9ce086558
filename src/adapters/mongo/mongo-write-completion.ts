import type { Collection } from 'mongodb';
import { readAuditEvent } from '../records/audit-record.js';
import type { MongoAuditChain } from './mongo-audit-chain.js';
import type { MongoChangeLog } from './mongo-change-log.js';
import type { AuditDocument, NoteDocument } from './mongo-documents.js';
import { duplicatePositions } from './mongo-errors.js';
import type { MongoVersionKeeper } from './mongo-version-store.js';

type PendingNote = Pick<NoteDocument, '_id' | 'version' | 'pending'>;

/** Notes that `repair` completes in one go: one change entry, one look at the audit log. */
const REPAIR_BATCH = 500;

/**
 * The second half of a write, for servers without transactions: audit event (its id says note and version, so twice is
 * once), change entry, then the note's `pending` mark is taken away. Whatever stops it in between, the mark stays and
 * the half is done again; a change entry that is written twice does no harm.
 */
export class WriteCompletion {
  readonly #notes: Collection<NoteDocument>;
  readonly #audit: Collection<AuditDocument>;
  readonly #chain: MongoAuditChain;
  readonly #changes: MongoChangeLog;
  readonly #keeper: MongoVersionKeeper;
  #failed = false;

  constructor(parts: {
    readonly notes: Collection<NoteDocument>;
    readonly audit: Collection<AuditDocument>;
    readonly chain: MongoAuditChain;
    readonly changes: MongoChangeLog;
    readonly keeper: MongoVersionKeeper;
  }) {
    this.#notes = parts.notes;
    this.#audit = parts.audit;
    this.#chain = parts.chain;
    this.#changes = parts.changes;
    this.#keeper = parts.keeper;
  }

  /** One change entry for all the notes. */
  async complete(notes: readonly PendingNote[]): Promise<void> {
    if (notes.length === 0) return;
    await this.watched(async () => {
      await this.writeEvents(notes.flatMap(({ pending }) => pending ?? []));
      await this.#keeper.drop(notes.filter(isErasure).map(({ _id }) => _id));
      await this.#changes.append(notes.map(({ _id }) => _id));
      await this.#clear(notes);
    });
  }

  /** Runs a step of a write; where it fails, whatever it may have done nevertheless is completed before the next write. */
  async watched<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (error) {
      this.#failed = true;
      throw error;
    }
  }

  /** Does again what failed in this process, before its next write. */
  async completeFailed(): Promise<void> {
    if (!this.#failed) return;
    this.#failed = false;
    await this.watched(() => this.repair());
  }

  async repair(): Promise<number> {
    let completed = 0;
    for (;;) {
      const projection = { version: 1, pending: 1 };
      const notes = await this.#notes
        .find({ 'pending.open': true }, { projection })
        .limit(REPAIR_BATCH)
        .toArray();
      await this.complete(notes);
      completed += notes.length;
      if (notes.length < REPAIR_BATCH) return completed;
    }
  }

  /** Events that are there already are left alone, and sealed again: whether they had been is not known. */
  async writeEvents(pending: readonly (AuditDocument & { readonly open: true })[]): Promise<void> {
    if (pending.length === 0) return;
    const events = pending.map(({ open: _open, ...event }) => event);
    try {
      await this.#audit.insertMany(events, { ordered: false });
    } catch (error) {
      duplicatePositions(error);
    }
    await this.#chain.append(events.flatMap((event) => readAuditEvent({ ...event, id: event._id }) ?? []));
  }

  /** Only while the note is still at the version that was completed. */
  async #clear(notes: readonly PendingNote[]): Promise<void> {
    const byVersion = new Map<number, string[]>();
    for (const { _id, version } of notes) byVersion.set(version, [...(byVersion.get(version) ?? []), _id]);
    for (const [version, ids] of byVersion) {
      await this.#notes.updateMany({ _id: { $in: ids }, version }, { $set: { pending: null } });
    }
  }
}

/** An erased note's past states hold its attributes: they go with its texts, also when a crash came in between. */
function isErasure({ pending }: PendingNote): boolean {
  return pending?.action === 'erased';
}
