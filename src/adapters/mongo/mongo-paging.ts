import type { Collection, Document, Filter, Sort } from 'mongodb';
import type { Keyset, Page, PageRequest } from '../../ports/note-store.js';
import { checkKeyset, type SortOrder } from '../records/note-order.js';
import { checkLimit, toPage } from '../records/page-window.js';

export interface PagedQuery<Key extends string, D extends Document, T> {
  readonly collection: Collection<D>;
  readonly filter: Filter<D>;
  readonly projection: Document;
  /** Field of each sort key. */
  readonly fields: Readonly<Record<Key, string>>;
  readonly order: SortOrder<Key>;
  readonly page: PageRequest;
  /** Undefined for a document that cannot be read: it is left out and the page filled up. */
  readonly read: (document: Document) => T | undefined;
}

/** One page by keyset; its cost grows with the limit, not with the position. */
export async function readPage<Key extends string, D extends Document, T>(
  query: PagedQuery<Key, D, T>,
): Promise<Page<T>> {
  const { page, order } = query;
  checkLimit(page);
  checkKeyset(page.after, order);
  checkKeyset(page.before, order);
  const [forward, backward] = order.descending ? (['$lt', '$gt'] as const) : (['$gt', '$lt'] as const);
  const exists = async (operator: '$lt' | '$gt', keyset: Keyset | undefined): Promise<boolean> => {
    if (keyset === undefined) return false;
    const filter = within(query, [range(query, operator, keyset, true)]);
    return (await query.collection.findOne(filter, { projection: { _id: 1 } })) !== null;
  };
  return toPage(page, {
    rows: await readWindow(query, page.limit + 1, forward, backward),
    beyondAfter: await exists(backward, page.after),
    beyondBefore: await exists(forward, page.before),
  });
}

async function readWindow<Key extends string, D extends Document, T>(
  query: PagedQuery<Key, D, T>,
  wanted: number,
  forward: '$lt' | '$gt',
  backward: '$lt' | '$gt',
): Promise<{ item: T; keyset: Keyset }[]> {
  const { backwards } = query.page;
  let { after, before } = query.page;
  const direction = query.order.descending !== (backwards ?? false) ? -1 : 1;
  const fields = query.order.keys.map((key) => query.fields[key]);
  const sort = Object.fromEntries(fields.map((field) => [field, direction])) as Sort;
  const found: { item: T; keyset: Keyset }[] = [];
  for (;;) {
    const bounds: Filter<D>[] = [];
    if (after !== undefined) bounds.push(range(query, forward, after, false));
    if (before !== undefined) bounds.push(range(query, backward, before, false));
    const cursor = query.collection.find(within(query, bounds), { projection: query.projection });
    const documents: Document[] = await cursor.sort(sort).limit(wanted).toArray();
    let last: Keyset | undefined;
    for (const document of documents) {
      last = fields.map((field) => document[field]) as Keyset;
      const item = query.read(document);
      if (item !== undefined) found.push({ item, keyset: last });
    }
    if (found.length >= wanted || documents.length < wanted || last === undefined)
      return found.slice(0, wanted);
    if (backwards) before = last;
    else after = last;
  }
}

function within<Key extends string, D extends Document, T>(
  query: PagedQuery<Key, D, T>,
  bounds: readonly Filter<D>[],
): Filter<D> {
  return bounds.length === 0 ? query.filter : ({ $and: [query.filter, ...bounds] } as Filter<D>);
}

/** Documents on one side of a position: the first key decides unless it ties, then the next. */
function range<Key extends string, D extends Document, T>(
  query: PagedQuery<Key, D, T>,
  operator: '$lt' | '$gt',
  keyset: Keyset,
  inclusive: boolean,
): Filter<D> {
  const fields = query.order.keys.map((key) => query.fields[key]);
  const alternatives: Document[] = fields.map((field, i) => ({
    ...Object.fromEntries(fields.slice(0, i).map((tied, k) => [tied, keyset[k]])),
    [field]: { [operator]: keyset[i] },
  }));
  if (inclusive) alternatives.push(Object.fromEntries(fields.map((field, i) => [field, keyset[i]])));
  // The bound on the first key alone is what lets the index be entered at the position.
  return {
    $and: [{ [fields[0] ?? '_id']: { [`${operator}e`]: keyset[0] } }, { $or: alternatives }],
  } as Filter<D>;
}
