import DataLoader from 'dataloader';
import type { FeedbackNote, NoteId } from '../domain/note.js';
import type { NoteHistory } from '../ports/note-store.js';
import type { NoteQueries } from '../ports/use-cases.js';

export interface NoteKey {
  readonly namespace: string;
  readonly id: NoteId;
}

export interface HistoryKey extends NoteKey {
  /** Entries a note. */
  readonly first: number;
}

/**
 * Batches what the resolvers of one request ask for, so that the number of use-case calls depends on the fields selected
 * and the namespaces met, not on the page's size.
 */
export interface RequestLoaders {
  readonly notes: DataLoader<NoteKey, FeedbackNote | undefined, string>;
  readonly histories: DataLoader<HistoryKey, NoteHistory, string>;
  /** The same count asked for twice in a request is computed once. */
  count(key: string, compute: () => Promise<number>): Promise<number>;
  /** Mutations call it: what was loaded before a write may be old. */
  clear(): void;
}

const EMPTY_HISTORY: NoteHistory = { items: [], keysets: [], hasNext: false, total: 0 };
/** Keeps one statement's parameter list far below SQLite's limit of 32,766. */
const MAX_BATCH = 1_000;

/** Groups positions of `keys` by a name, so that one call a group answers them all. */
function groupPositions<K>(keys: readonly K[], nameOf: (key: K) => string): readonly (readonly number[])[] {
  const groups = new Map<string, number[]>();
  keys.forEach((key, position) => {
    const name = nameOf(key);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [position]);
    else group.push(position);
  });
  return [...groups.values()];
}

/** Runs `load` once a group with the group's distinct ids and puts the answers back in the order of `keys`. */
async function loadGrouped<K extends NoteKey, V>(
  keys: readonly K[],
  nameOf: (key: K) => string,
  load: (first: K, ids: readonly NoteId[]) => Promise<(id: NoteId) => V>,
): Promise<V[]> {
  const results = new Array<V>(keys.length);
  await Promise.all(
    groupPositions(keys, nameOf).map(async (positions) => {
      const members = positions.map((position) => keys[position]).filter((key) => key !== undefined);
      const [head] = members;
      if (head === undefined) return;
      const lookUp = await load(head, [...new Set(members.map((key) => key.id))]);
      positions.forEach((position, index) => {
        results[position] = lookUp((members[index] ?? head).id);
      });
    }),
  );
  return results;
}

export function createRequestLoaders(queries: NoteQueries, options: { remember: boolean }): RequestLoaders {
  const notes = new DataLoader<NoteKey, FeedbackNote | undefined, string>(
    (keys) =>
      loadGrouped(
        keys,
        (key) => key.namespace,
        async (head, ids) => {
          const found = new Map((await queries.getMany(head.namespace, ids)).map((note) => [note.id, note]));
          return (id) => found.get(id);
        },
      ),
    {
      cache: options.remember,
      maxBatchSize: MAX_BATCH,
      cacheKeyFn: (key) => JSON.stringify([key.namespace, key.id]),
    },
  );
  const histories = new DataLoader<HistoryKey, NoteHistory, string>(
    (keys) =>
      loadGrouped(
        keys,
        (key) => JSON.stringify([key.namespace, key.first]),
        async (head, ids) => {
          const found = await queries.histories([head.namespace], ids, head.first);
          return (id) => found.get(id) ?? EMPTY_HISTORY;
        },
      ),
    {
      cache: options.remember,
      maxBatchSize: MAX_BATCH,
      cacheKeyFn: (key) => JSON.stringify([key.namespace, key.id, key.first]),
    },
  );
  const counts = new Map<string, Promise<number>>();
  return {
    notes,
    histories,
    count: (key, compute) => {
      const known = options.remember ? counts.get(key) : undefined;
      if (known !== undefined) return known;
      const computed = compute();
      if (options.remember) counts.set(key, computed);
      return computed;
    },
    clear: () => {
      notes.clearAll();
      histories.clearAll();
      counts.clear();
    },
  };
}
