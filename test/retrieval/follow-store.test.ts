import { describe, expect, it } from 'vitest';
import type { NoteVectors } from '../../src/domain/note.js';
import type { LexicalIndex } from '../../src/ports/lexical-index.js';
import type { NoteStore, StoredNote } from '../../src/ports/note-store.js';
import type { VectorIndex } from '../../src/ports/vector-index.js';
import { createIndexFollower } from '../../src/retrieval/follow-store.js';
import { RecentVectors } from '../../src/retrieval/recent-vectors.js';

const vectors = { modelId: 'm', lesson: Float32Array.of(1, 0) } as NoteVectors;

/** A store of one note that can be erased. */
function storeOfOne() {
  let erased = false;
  const stored = () =>
    ({
      note: { id: 'a', namespace: 'n', version: erased ? 2 : 1, status: erased ? 'DEPRECATED' : 'ACTIVE' },
      vectors: erased ? undefined : vectors,
    }) as unknown as StoredNote;
  const store = {
    lastRevision: async () => (erased ? 2 : 1),
    scanActive: async () => (erased ? [] : [stored()]),
    changesSince: async (revision: number) => ({
      pruned: false,
      changes: erased && revision < 2 ? [{ revision: 2, noteIds: ['a'] }] : [],
    }),
    load: async () => [stored()],
    count: async () => (erased ? 0 : 1),
    getVectors: async () => new Map(erased ? [] : [['a', vectors]]),
  } as unknown as NoteStore;
  return {
    store,
    erase() {
      erased = true;
    },
  };
}

describe('the index follower', () => {
  it('lets no vector of an erased note stay among the recent ones', async () => {
    const { store, erase } = storeOfOne();
    const nothing = async () => undefined;
    const index = { versionOf: () => undefined, remove: nothing, upsert: nothing, count: () => 1 };
    const recentVectors = new RecentVectors(store);
    const follower = createIndexFollower({
      store,
      vectorIndex: index as unknown as VectorIndex,
      lexicalIndex: index as unknown as LexicalIndex,
      modelId: 'm',
      recentVectors,
    });
    await follower.fill();
    expect((await recentVectors.getVectors('n', ['a'])).get('a')).toBe(vectors);
    erase();
    expect((await recentVectors.getVectors('n', ['a'])).get('a')).toBe(vectors);
    await follower.catchUp();
    expect((await recentVectors.getVectors('n', ['a'])).size).toBe(0);
  });
});
