import type { Keyset, Page, PageRequest } from '../../ports/note-store.js';
import { checkKeyset, compareKeysets, type SortOrder } from '../records/note-order.js';
import { checkLimit, toPage } from '../records/page-window.js';
import type { Parameters, Row, SqliteDatabase } from './sqlite-database.js';

export interface PagedQuery<Key extends string, T> {
  /** `SELECT … FROM …` whose rows hold every sort key by its name. */
  readonly select: string;
  /** Column of each sort key. */
  readonly columns: Readonly<Record<Key, string>>;
  readonly conditions: readonly string[];
  readonly parameters: Parameters;
  /**
   * One query a partition (a namespace), each in index order, merged here: SQLite would sort all rows of several
   * namespaces for the first page. Each is a condition and its parameters.
   */
  readonly partitions: readonly { readonly condition: string; readonly parameters: Parameters }[];
  readonly order: SortOrder<Key>;
  readonly page: PageRequest;
  /** Undefined for a row that cannot be read: it is left out and the page filled up. */
  readonly read: (row: Row) => T | undefined;
}

/** One page by keyset. Call it inside one snapshot; the cost grows with the limit and partitions, not with the position. */
export function readPage<Key extends string, T>(db: SqliteDatabase, query: PagedQuery<Key, T>): Page<T> {
  const { page, order } = query;
  checkLimit(page);
  checkKeyset(page.after, order);
  checkKeyset(page.before, order);
  const { after, before } = page;
  return toPage(page, {
    rows: readWindow(db, query, page.limit + 1),
    beyondAfter: after !== undefined && select(db, query, [[atOrBefore(order), after]], 1).length > 0,
    beyondBefore: before !== undefined && select(db, query, [[atOrAfter(order), before]], 1).length > 0,
  });
}

type Bound = readonly [operator: string, keyset: Keyset];

function readWindow<Key extends string, T>(
  db: SqliteDatabase,
  query: PagedQuery<Key, T>,
  wanted: number,
): { item: T; keyset: Keyset }[] {
  const { backwards } = query.page;
  let { after, before } = query.page;
  const found: { item: T; keyset: Keyset }[] = [];
  for (;;) {
    const bounds: Bound[] = [];
    if (after !== undefined) bounds.push([query.order.descending ? '<' : '>', after]);
    if (before !== undefined) bounds.push([query.order.descending ? '>' : '<', before]);
    const rows = select(db, query, bounds, wanted);
    for (const { row, keyset } of rows) {
      const item = query.read(row);
      if (item !== undefined) found.push({ item, keyset });
    }
    const last = rows.at(-1);
    if (found.length >= wanted || rows.length < wanted || last === undefined) return found.slice(0, wanted);
    if (backwards) before = last.keyset;
    else after = last.keyset;
  }
}

/** Rows within the bounds over all partitions, in the direction of travel. */
function select<Key extends string, T>(
  db: SqliteDatabase,
  query: PagedQuery<Key, T>,
  bounds: readonly Bound[],
  limit: number,
): { row: Row; keyset: Keyset }[] {
  const { keys } = query.order;
  const descending = query.order.descending !== (query.page.backwards ?? false);
  const tuple = keys.map((key) => query.columns[key]).join(', ');
  const ranges = bounds.map(([operator], b) => {
    return `(${tuple}) ${operator} (${keys.map((_, k) => `@bound_${b}_${k}`).join(', ')})`;
  });
  const values = bounds.flatMap(([, keyset], b) => keyset.map((v, k) => [`bound_${b}_${k}`, v] as const));
  const sort = keys.map((key) => `${query.columns[key]} ${descending ? 'DESC' : 'ASC'}`).join(', ');
  const rows = query.partitions.flatMap((partition) => {
    const where = [partition.condition, ...query.conditions, ...ranges].join(' AND ');
    const sql = `${query.select} WHERE ${where} ORDER BY ${sort} LIMIT @limit`;
    const parameters = { ...query.parameters, ...partition.parameters, ...Object.fromEntries(values), limit };
    return db.all(sql, parameters).map((row) => ({ row, keyset: keys.map((key) => row[key]) as Keyset }));
  });
  if (query.partitions.length < 2) return rows;
  const sign = descending ? -1 : 1;
  return rows.sort((a, b) => sign * compareKeysets(a.keyset, b.keyset)).slice(0, limit);
}

const atOrBefore = (order: SortOrder<string>): string => (order.descending ? '>=' : '<=');
const atOrAfter = (order: SortOrder<string>): string => (order.descending ? '<=' : '>=');
