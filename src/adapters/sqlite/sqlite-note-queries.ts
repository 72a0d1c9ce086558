import type { FeedbackNote } from '../../domain/note.js';
import type { Cipher } from '../../ports/cipher.js';
import type {
  NamespaceScope,
  NoteFilter,
  NoteOrder,
  Page,
  PageRequest,
  StatusCounts,
} from '../../ports/note-store.js';
import { foldText, searchedText } from '../records/fold-text.js';
import { NOTE_ORDERS } from '../records/note-order.js';
import type { NoteTexts } from '../records/note-seal.js';
import type { Row, SqliteDatabase } from './sqlite-database.js';
import { NOTE_COLUMNS, textsFromRow } from './sqlite-note-rows.js';
import { readPage } from './sqlite-paging.js';

interface Condition {
  readonly conditions: readonly string[];
  readonly parameters: Record<string, unknown>;
}

/** What the text filter looks through: sealed texts are opened row by row, some 10 µs each. */
const SEARCHED =
  'CASE WHEN n.key_id IS NULL THEN n.searched ELSE errata_searched(n.id, n.key_id, n.sealed) END';

/** Gives a connection the function that opens sealed texts for the text filter. */
export async function offerSearchedText(db: SqliteDatabase, cipher: Cipher | undefined): Promise<void> {
  await db.attempt((connection) =>
    connection.function('errata_searched', (id: unknown, keyId: unknown, sealed: unknown) => {
      const texts = textsFromRow({ id, keyId, sealed }, cipher);
      return texts === undefined ? '' : searchedText(texts as NoteTexts);
    }),
  );
}

/** A filter as SQL on a table named `n`. Lists go in as one JSON parameter, so that the statements stay few. */
function filterConditions(filter: NoteFilter): Condition {
  const conditions: string[] = [];
  const parameters: Record<string, unknown> = {};
  const add = (condition: string, name: string, value: unknown): void => {
    conditions.push(condition);
    parameters[name] = value;
  };
  const { taskTypes, statuses, impact, author, source, text, attributes, createdFrom, createdTo } = filter;
  if (taskTypes !== undefined)
    add('n.task_type IN (SELECT value FROM json_each(@taskTypes))', 'taskTypes', JSON.stringify(taskTypes));
  if (statuses !== undefined)
    add('n.status IN (SELECT value FROM json_each(@statuses))', 'statuses', JSON.stringify(statuses));
  if (impact !== undefined) add('n.impact = @impact', 'impact', impact);
  if (createdFrom !== undefined) add('n.created_at >= @createdFrom', 'createdFrom', createdFrom);
  if (createdTo !== undefined) add('n.created_at < @createdTo', 'createdTo', createdTo);
  if (author !== undefined) add(facetCondition('author', `''`, '@author'), 'author', author);
  const { anchor, assignee, dueBefore } = filter;
  if (anchor !== undefined) {
    add(facetCondition('anchor', '@anchorKind', '@anchorRef'), 'anchorKind', anchor.kind);
    parameters.anchorRef = anchor.ref;
  }
  if (assignee !== undefined)
    add(`json_extract(n.rest, '$.review.assignee') = @assignee`, 'assignee', assignee);
  if (dueBefore !== undefined)
    add(`json_extract(n.rest, '$.review.dueAt') < @dueBefore`, 'dueBefore', dueBefore);
  const wanted = Object.entries(source ?? {}).filter(([, value]) => value !== undefined);
  for (const [field, value] of wanted) parameters[`source_${field}`] = value;
  if (wanted.length > 0) {
    const fields = wanted.map(([field]) => `json_extract(s.value, '$.${field}') = @source_${field}`);
    conditions.push(`EXISTS (SELECT 1 FROM json_each(n.rest, '$.sources') s WHERE ${fields.join(' AND ')})`);
  }
  for (const [i, [key, value]] of Object.entries(attributes ?? {}).entries()) {
    add(facetCondition('attribute', `@key${i}`, `@value${i}`), `key${i}`, key);
    parameters[`value${i}`] = value;
  }
  if (text !== undefined && text !== '') add(`instr(${SEARCHED}, @text) > 0`, 'text', foldText(text));
  return { conditions, parameters };
}

function facetCondition(kind: 'author' | 'attribute' | 'anchor', key: string, value: string): string {
  return `EXISTS (SELECT 1 FROM note_facets f WHERE f.kind = '${kind}' AND f.key = ${key} AND f.value = ${value} AND f.note = n.seq)`;
}

/** The scope's namespaces, each once. `all` hops from one to the next in the index: its cost is one look-up a namespace. */
export function namespacesOf(db: SqliteDatabase, scope: NamespaceScope): readonly string[] {
  if (scope !== 'all') return [...new Set(scope)];
  return db
    .all(
      `WITH RECURSIVE held (namespace) AS (
         SELECT min(namespace) FROM notes
         UNION ALL
         SELECT (SELECT min(n.namespace) FROM notes n WHERE n.namespace > held.namespace) FROM held WHERE held.namespace IS NOT NULL
       ) SELECT namespace FROM held WHERE namespace IS NOT NULL`,
    )
    .map((row) => String(row.namespace));
}

export interface ListRequest {
  readonly scope: NamespaceScope;
  readonly filter: NoteFilter;
  readonly order: NoteOrder;
  readonly page: PageRequest;
}

export function listNotes(
  db: SqliteDatabase,
  request: ListRequest,
  read: (row: Row) => FeedbackNote | undefined,
): Page<FeedbackNote> {
  return readPage(db, {
    select: `SELECT ${NOTE_COLUMNS} FROM notes n`,
    columns: {
      ...{ createdAt: 'n.created_at', updatedAt: 'n.updated_at', openedAt: 'n.opened_at' },
      ...{ risk: 'n.risk', id: 'n.id' },
    },
    ...filterConditions(request.filter),
    partitions: namespacesOf(db, request.scope).map((namespace) => ({
      condition: 'n.namespace = @namespace',
      parameters: { namespace },
    })),
    order: NOTE_ORDERS[request.order],
    page: request.page,
    read,
  });
}

export function countNotes(db: SqliteDatabase, scope: NamespaceScope, filter: NoteFilter): number {
  const { conditions, parameters } = filterConditions(filter);
  const where = ['n.namespace = @namespace', ...conditions].join(' AND ');
  return namespacesOf(db, scope).reduce((sum, namespace) => {
    const row = db.get(`SELECT count(*) AS total FROM notes n WHERE ${where}`, { ...parameters, namespace });
    return sum + Number(row?.total ?? 0);
  }, 0);
}

/** Ordered by namespace and task type. */
export function countByStatus(db: SqliteDatabase, scope: NamespaceScope): StatusCounts[] {
  const counted = (status: string): string => `sum(n.status = '${status}')`;
  const sql = `SELECT n.namespace, n.task_type AS taskType, ${counted('ACTIVE')} AS active,
      ${counted('PENDING')} AS pending, ${counted('DEPRECATED')} AS deprecated, ${counted('QUARANTINED')} AS quarantined
    FROM notes n WHERE n.namespace = @namespace GROUP BY n.task_type ORDER BY n.task_type`;
  return [...namespacesOf(db, scope)].sort().flatMap((namespace) =>
    db.all(sql, { namespace }).map((row) => ({
      namespace,
      taskType: String(row.taskType),
      active: Number(row.active),
      pending: Number(row.pending),
      deprecated: Number(row.deprecated),
      quarantined: Number(row.quarantined),
    })),
  );
}
