import { expect } from 'vitest';
import type { Store } from '../../../src/ports/note-store.js';

/** Acknowledged notes are there, each version has its audit event, and the dense log mentions every note. */
export async function expectConsistent(
  store: Store,
  acknowledged: ReadonlyMap<string, number>,
): Promise<void> {
  const versions = new Map(
    (await store.notes.versions(undefined, 1_000_000)).map((held) => [held.id, held.version]),
  );
  const lost = [...acknowledged].filter(([id, version]) => (versions.get(id) ?? 0) < version);
  expect(lost).toEqual([]);

  const ids = [...versions.keys()];
  const loaded = await store.notes.load(ids);
  expect(loaded.filter(({ note }) => note.embeddingModel !== undefined)).toHaveLength(ids.length);
  expect(loaded.filter((stored) => stored.vectors === undefined)).toEqual([]);
  expect(store.notes.corruptRecords()).toBe(0);

  const events = (await store.audit.list('all', {}, { limit: 1_000_000 })).items.map((event) => event.id);
  const expected = [...versions].flatMap(([id, last]) =>
    Array.from({ length: last }, (_, i) => `${id}:${i + 1}`),
  );
  expect(new Set(events)).toEqual(new Set(expected));
  expect(events).toHaveLength(expected.length);

  const { changes, pruned } = await store.notes.changesSince(0, 1_000_000);
  expect(pruned).toBe(false);
  expect(changes.map((change) => change.revision)).toEqual(changes.map((_, i) => i + 1));
  expect(new Set(changes.flatMap((change) => change.noteIds))).toEqual(new Set(ids));
}
