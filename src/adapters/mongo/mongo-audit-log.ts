import type { Collection, Filter } from 'mongodb';
import type { AuditEvent } from '../../domain/audit.js';
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
import type { MongoConnection } from './mongo-connection.js';
import type { AuditDocument } from './mongo-documents.js';
import { isDuplicate } from './mongo-errors.js';
import { scopeFilter } from './mongo-note-filter.js';
import { readPage } from './mongo-paging.js';

export class MongoAuditLog implements AuditLog {
  readonly #connection: MongoConnection;
  readonly #events: Collection<AuditDocument>;

  constructor(connection: MongoConnection, events: Collection<AuditDocument>) {
    this.#connection = connection;
    this.#events = events;
  }

  async append({ id, ...event }: AuditEvent): Promise<void> {
    await this.#connection.run(async () => {
      try {
        await this.#events.insertOne({ _id: id, ...event, version: 0 });
      } catch (error) {
        if (!isDuplicate(error)) throw error;
      }
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
