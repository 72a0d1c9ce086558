import type { Collection, Filter } from 'mongodb';
import type { AuditEvent } from '../../domain/audit.js';
import type { AuditFilter, AuditLog, NamespaceScope, Page, PageRequest } from '../../ports/note-store.js';
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
}

function auditFilter(scope: NamespaceScope, { noteId, actor }: AuditFilter): Filter<AuditDocument> {
  return {
    ...scopeFilter(scope),
    ...(noteId === undefined ? {} : { noteId }),
    ...(actor === undefined ? {} : { actor }),
  };
}
