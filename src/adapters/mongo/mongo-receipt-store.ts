import type { Collection } from 'mongodb';
import type { Instant, NoteId } from '../../domain/note.js';
import type { Receipt } from '../../domain/retrieval.js';
import type { ReceiptStore } from '../../ports/note-store.js';
import type { MongoConnection } from './mongo-connection.js';

export interface ReceiptDocument {
  readonly _id: string;
  readonly namespace: string;
  readonly createdAt: Instant;
  readonly noteIds: readonly NoteId[];
  /** JSON: keys of attributes may hold dots and dollars. */
  readonly body: string;
}

/** One is written a retrieval, so writes wait for the primary only: a failover may take the last few. */
const WRITE_CONCERN = { w: 1 } as const;

export class MongoReceiptStore implements ReceiptStore {
  readonly #connection: MongoConnection;
  readonly #receipts: Collection<ReceiptDocument>;

  constructor(connection: MongoConnection, receipts: Collection<ReceiptDocument>) {
    this.#connection = connection;
    this.#receipts = receipts;
  }

  async put(receipt: Receipt): Promise<void> {
    const { id, namespace, createdAt, notes } = receipt;
    const noteIds = notes.map(({ noteId }) => noteId);
    const document = { namespace, createdAt, noteIds, body: JSON.stringify(receipt) };
    const options = { upsert: true, writeConcern: WRITE_CONCERN };
    await this.#connection.run(() => this.#receipts.replaceOne({ _id: id }, document, options));
  }

  async get(id: string): Promise<Receipt | undefined> {
    const document = await this.#connection.run(() => this.#receipts.findOne({ _id: id }));
    return document === null ? undefined : (JSON.parse(document.body) as Receipt);
  }

  async listByNote(namespace: string, noteId: NoteId, limit: number): Promise<readonly Receipt[]> {
    const documents = await this.#connection.run(() =>
      this.#receipts
        .find({ namespace, noteIds: noteId })
        .sort({ createdAt: -1, _id: -1 })
        .limit(limit)
        .toArray(),
    );
    return documents.map(({ body }) => JSON.parse(body) as Receipt);
  }

  async listByTime(
    namespace: string,
    { from, to }: { readonly from?: Instant | undefined; readonly to?: Instant | undefined },
    limit: number,
  ): Promise<readonly Receipt[]> {
    const createdAt = { $gte: from ?? '', ...(to !== undefined && { $lt: to }) };
    const documents = await this.#connection.run(() =>
      this.#receipts
        .find({ namespace, createdAt, noteIds: { $ne: [] } })
        .sort({ createdAt: -1, _id: -1 })
        .limit(limit)
        .toArray(),
    );
    return documents.map(({ body }) => JSON.parse(body) as Receipt);
  }

  async prune(before: Instant): Promise<number> {
    const result = await this.#connection.run(() =>
      this.#receipts.deleteMany({ createdAt: { $lt: before } }),
    );
    return result.deletedCount;
  }
}
