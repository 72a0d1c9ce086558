import type { Collection, Filter } from 'mongodb';
import type { AuditEvent } from '../../domain/audit.js';
import type { AuditLink } from '../../domain/audit-chain.js';
import type { NoteId } from '../../domain/note.js';
import type {
  AuditFilter,
  AuditLog,
  NamespaceScope,
  NoteHistory,
  Page,
  PageRequest,
} from '../../ports/note-store.js';
import { readAuditEvent } from '../records/audit-record.js';
import { AUDIT_ORDER } from '../records/note-order.js';
import type { MongoAuditChain } from './mongo-audit-chain.js';
import type { MongoAuditIntents } from './mongo-audit-intents.js';
import type { MongoConnection } from './mongo-connection.js';
import type { AuditDocument, NoteDocument } from './mongo-documents.js';
import { isDuplicate } from './mongo-errors.js';
import { scopeFilter } from './mongo-note-filter.js';
import { readPage } from './mongo-paging.js';

export class MongoAuditLog implements AuditLog {
  readonly #connection: MongoConnection;
  readonly #events: Collection<AuditDocument>;
  readonly #chain: MongoAuditChain;
  readonly #intents: MongoAuditIntents;
  readonly #notes: Collection<NoteDocument>;

  constructor(
    connection: MongoConnection,
    parts: {
      readonly events: Collection<AuditDocument>;
      readonly chain: MongoAuditChain;
      readonly intents: MongoAuditIntents;
      readonly notes: Collection<NoteDocument>;
    },
  ) {
    this.#connection = connection;
    this.#events = parts.events;
    this.#chain = parts.chain;
    this.#intents = parts.intents;
    this.#notes = parts.notes;
  }

  append(event: AuditEvent): Promise<boolean> {
    return this.#connection.run(async () => {
      const announced = await this.#intents.announce(event);
      const first = await this.#insert(event);
      if (first) await this.#chain.append([event]);
      // Both there already: whoever wrote them seals the event, or another process does.
      if (first || announced) await this.#intents.done(event.id);
      return first;
    });
  }

  /** Completes events of processes that died between announcing one and sealing it. Resolves with how many. */
  complete(): Promise<number> {
    return this.#connection.run(() =>
      this.#intents.completeOverdue(async (event) => {
        await this.#insert(event);
        // Perhaps for the second time, which does no harm: both links say the same of it.
        await this.#chain.append([event]);
        await this.#intents.done(event.id);
      }),
    );
  }

  /** Those of notes are kept by the notes, the others by the list of intents. */
  unsealed(): Promise<readonly string[]> {
    return this.#connection.run(async () => {
      const notes = await this.#notes
        .find({ 'pending.open': true }, { projection: { 'pending._id': 1 } })
        .toArray();
      return [...notes.flatMap(({ pending }) => pending?._id ?? []), ...(await this.#intents.ids())];
    });
  }

  /** False where the event is there already. */
  async #insert({ id, ...fields }: AuditEvent): Promise<boolean> {
    try {
      await this.#events.insertOne({ _id: id, ...fields, version: 0 });
      return true;
    } catch (error) {
      if (!isDuplicate(error)) throw error;
      return false;
    }
  }

  async getMany(ids: readonly string[]): Promise<readonly AuditEvent[]> {
    const documents = await this.#connection.run(() =>
      this.#events.find({ _id: { $in: [...ids] } }).toArray(),
    );
    return documents.flatMap((document) => readAuditEvent({ ...document, id: document._id }) ?? []);
  }

  links(number: number, limit: number): Promise<readonly AuditLink[]> {
    return this.#connection.run(() => this.#chain.after(number, limit));
  }

  lastLink(): Promise<AuditLink | undefined> {
    return this.#connection.run(() => this.#chain.last());
  }

  /** Seals what an older version wrote without a chain; once, at opening. */
  async adopt(): Promise<void> {
    await this.#connection.run(async () => {
      if ((await this.#chain.last()) !== undefined) return;
      const documents = await this.#events.find().sort({ at: 1, version: 1, _id: 1 }).toArray();
      if (documents.length === 0) return;
      await this.#chain.append(
        documents.flatMap((document) => readAuditEvent({ ...document, id: document._id }) ?? []),
      );
    });
  }

  list(scope: NamespaceScope, filter: AuditFilter, page: PageRequest): Promise<Page<AuditEvent>> {
    return this.#connection.run(() =>
      readPage({
        collection: this.#events,
        filter: auditFilter(scope, filter),
        projection: {},
        fields: { at: 'at', version: 'version', id: '_id' },
        order: AUDIT_ORDER,
        page,
        read: (document) => readAuditEvent({ ...document, id: document._id }),
      }),
    );
  }

  count(scope: NamespaceScope, filter: AuditFilter): Promise<number> {
    return this.#connection.run(() => this.#events.countDocuments(auditFilter(scope, filter)));
  }

  /**
   * One look-up for all notes. It reads every event of theirs, not only the newest: notes change a handful of times, and
   * the servers' common subset has no window functions.
   */
  async histories(
    scope: NamespaceScope,
    noteIds: readonly NoteId[],
    first: number,
  ): Promise<ReadonlyMap<NoteId, NoteHistory>> {
    const filter: Filter<AuditDocument> = { ...scopeFilter(scope), noteId: { $in: [...noteIds] } };
    const documents = await this.#connection.run(() =>
      this.#events.find(filter).sort({ at: -1, version: -1, _id: -1 }).toArray(),
    );
    const byNote = new Map<NoteId, AuditDocument[]>(noteIds.map((noteId) => [noteId, []]));
    for (const document of documents) byNote.get(document.noteId ?? '')?.push(document);
    return new Map([...byNote].map(([noteId, events]) => [noteId, toHistory(events, first)]));
  }
}

function toHistory(documents: readonly AuditDocument[], first: number): NoteHistory {
  const newest = documents.slice(0, first).flatMap((document) => {
    const item = readAuditEvent({ ...document, id: document._id });
    return item === undefined ? [] : [{ item, keyset: [document.at, document.version, document._id] }];
  });
  return {
    items: newest.map(({ item }) => item),
    keysets: newest.map(({ keyset }) => keyset),
    hasNext: documents.length > first,
    total: documents.length,
  };
}

function auditFilter(scope: NamespaceScope, { noteId, actor }: AuditFilter): Filter<AuditDocument> {
  return {
    ...scopeFilter(scope),
    ...(noteId === undefined ? {} : { noteId }),
    ...(actor === undefined ? {} : { actor }),
  };
}
