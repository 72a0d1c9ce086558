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
import { lastLink, readLinks, sealEvents } from './sqlite-audit-chain.js';
import type { Row, SqliteDatabase } from './sqlite-database.js';
import { readPage } from './sqlite-paging.js';

const COLUMNS =
  'a.id, a.at, a.version, a.actor, a.origin, a.action, a.namespace, a.note_id AS noteId, a.reason, a.changes';

/** An event of a note's change carries the version that the change made. */
export type NoteAuditEvent = Omit<AuditEvent, 'id'> & { readonly version: number };

/** Inside a write. Event ids of note changes say note and version, so that each version has one. */
export function insertAuditEvent(db: SqliteDatabase, event: NoteAuditEvent): void {
  insert(db, { ...event, id: `${event.noteId}:${event.version}` }, event.version);
}

function insert(db: SqliteDatabase, event: AuditEvent, version: number): boolean {
  const added = db.run(
    `INSERT INTO audit (id, at, version, actor, origin, action, namespace, note_id, reason, changes)
     VALUES (@id, @at, @version, @actor, @origin, @action, @namespace, @noteId, @reason, @changes) ON CONFLICT (id) DO NOTHING`,
    {
      id: event.id,
      at: event.at,
      version,
      actor: event.actor,
      origin: event.origin === undefined ? null : JSON.stringify(event.origin),
      action: event.action,
      namespace: event.namespace ?? null,
      noteId: event.noteId ?? null,
      reason: event.reason ?? null,
      changes: JSON.stringify(event.changes),
    },
  );
  if (added > 0) sealEvents(db, [event]);
  return added > 0;
}

export class SqliteAuditLog implements AuditLog {
  readonly #db: SqliteDatabase;

  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  append(event: AuditEvent): Promise<boolean> {
    return this.#db.write(() => insert(this.#db, event, 0));
  }

  /** Event and link are one transaction. */
  async unsealed(): Promise<readonly string[]> {
    return [];
  }

  list(scope: NamespaceScope, filter: AuditFilter, page: PageRequest): Promise<Page<AuditEvent>> {
    return this.#db.read(() => this.#page(scope, filter, page));
  }

  count(scope: NamespaceScope, filter: AuditFilter): Promise<number> {
    return this.#db.read(() => this.#total(scope, filter));
  }

  /** One snapshot; inside it a note costs two index look-ups of some 20 µs. */
  histories(
    scope: NamespaceScope,
    noteIds: readonly NoteId[],
    first: number,
  ): Promise<ReadonlyMap<NoteId, NoteHistory>> {
    return this.#db.read(
      () =>
        new Map(
          noteIds.map((noteId) => {
            const { items, keysets, hasNext } = this.#page(scope, { noteId }, { limit: first });
            return [noteId, { items, keysets, hasNext, total: this.#total(scope, { noteId }) }];
          }),
        ),
    );
  }

  getMany(ids: readonly string[]): Promise<readonly AuditEvent[]> {
    const sql = `SELECT ${COLUMNS} FROM audit a WHERE a.id IN (SELECT value FROM json_each(@ids))`;
    return this.#db.read(() =>
      this.#db.all(sql, { ids: JSON.stringify(ids) }).flatMap((row) => readAuditRow(row) ?? []),
    );
  }

  links(number: number, limit: number): Promise<readonly AuditLink[]> {
    return this.#db.read(() => readLinks(this.#db, number, limit));
  }

  lastLink(): Promise<AuditLink | undefined> {
    return this.#db.read(() => lastLink(this.#db));
  }

  /** Seals what an older version wrote without a chain; once, at opening. */
  async adopt(): Promise<void> {
    const isNew = await this.#db.read(
      () =>
        lastLink(this.#db) === undefined &&
        this.#db.get('SELECT 1 AS found FROM audit LIMIT 1') !== undefined,
    );
    if (!isNew) return;
    await this.#db.write(() => {
      if (lastLink(this.#db) !== undefined) return;
      const rows = this.#db.all(`SELECT ${COLUMNS} FROM audit a ORDER BY a.at, a.version, a.id`);
      sealEvents(
        this.#db,
        rows.flatMap((row) => readAuditRow(row) ?? []),
      );
    });
  }

  #page(scope: NamespaceScope, filter: AuditFilter, page: PageRequest): Page<AuditEvent> {
    return readPage(this.#db, {
      select: `SELECT ${COLUMNS} FROM audit a`,
      columns: { at: 'a.at', version: 'a.version', id: 'a.id' },
      ...conditions(filter),
      partitions: partitions(scope),
      order: AUDIT_ORDER,
      page,
      read: readAuditRow,
    });
  }

  #total(scope: NamespaceScope, filter: AuditFilter): number {
    const { conditions: where, parameters } = conditions(filter);
    return partitions(scope).reduce((sum, partition) => {
      const sql = `SELECT count(*) AS total FROM audit a WHERE ${[partition.condition, ...where].join(' AND ')}`;
      return sum + Number(this.#db.get(sql, { ...parameters, ...partition.parameters })?.total ?? 0);
    }, 0);
  }
}

function conditions(filter: AuditFilter) {
  const { noteId, actor } = filter;
  const where: string[] = [];
  if (noteId !== undefined) where.push('a.note_id = @noteId');
  if (actor !== undefined) where.push('a.actor = @actor');
  return { conditions: where, parameters: { noteId, actor } };
}

function partitions(scope: NamespaceScope) {
  if (scope === 'all') return [{ condition: 'TRUE', parameters: {} }];
  return [...new Set(scope)].map((namespace) => ({
    condition: 'a.namespace = @namespace',
    parameters: { namespace },
  }));
}

function readAuditRow(row: Row): AuditEvent | undefined {
  const origin = row.origin == null ? null : (parseChanges(row.origin) ?? 'damaged');
  return readAuditEvent({ ...row, origin, changes: parseChanges(row.changes) });
}

function parseChanges(json: unknown): unknown {
  try {
    return JSON.parse(String(json));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
