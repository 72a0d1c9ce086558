import type { NoteId } from '../../domain/note.js';
import type { IndexedNote } from '../../ports/vector-index.js';
import { ROW_KINDS } from './index-checks.js';
import type { NativeBatch } from './load-addon.js';

/** A note with the key and tags under which the addon will hold it. */
export interface KeyedNote {
  readonly note: IndexedNote;
  readonly key: number;
  readonly tags: readonly number[];
}

const HASH_ID = /^[0-9a-f]{32,}$/;

/**
 * The first 128 bits of an id as four big-endian words, so that comparing words compares ids: of the hash itself for
 * content-hash ids, else of its UTF-8 text.
 */
export function orderWords(id: NoteId): readonly [number, number, number, number] {
  const hex = HASH_ID.test(id)
    ? id.slice(0, 32)
    : Buffer.from(id, 'utf8').toString('hex', 0, 16).padEnd(32, '0');
  const word = (index: number): number => Number.parseInt(hex.slice(index * 8, index * 8 + 8), 16);
  return [word(0), word(1), word(2), word(3)];
}

/** Lays notes out column by column, as the addon takes them. */
export function packBatch(items: readonly KeyedNote[], dimensions: number): NativeBatch {
  const rows = items.flatMap(({ note }) =>
    ROW_KINDS.flatMap((kind, index) => {
      const vector = note.vectors[kind];
      return vector === undefined ? [] : [{ index, vector }];
    }),
  );
  const batch = {
    keys: new Float64Array(items.length),
    orders: new Uint32Array(items.length * 4),
    rowBegin: new Uint32Array(items.length + 1),
    kinds: new Uint8Array(rows.length),
    vectors: new Float32Array(rows.length * dimensions),
    tagBegin: new Uint32Array(items.length + 1),
    tags: Uint32Array.from(items.flatMap(({ tags }) => tags)),
  };
  items.forEach(({ note, key, tags }, i) => {
    batch.keys[i] = key;
    batch.orders.set(orderWords(note.id), i * 4);
    const owned = ROW_KINDS.filter((kind) => note.vectors[kind] !== undefined).length;
    batch.rowBegin[i + 1] = (batch.rowBegin[i] ?? 0) + owned;
    batch.tagBegin[i + 1] = (batch.tagBegin[i] ?? 0) + tags.length;
  });
  rows.forEach(({ index, vector }, row) => {
    batch.kinds[row] = index;
    batch.vectors.set(vector, row * dimensions);
  });
  return batch;
}
