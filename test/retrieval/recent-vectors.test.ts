import { describe, expect, it } from 'vitest';
import type { NoteId, NoteVectors } from '../../src/domain/note.js';
import { RecentVectors } from '../../src/retrieval/recent-vectors.js';

/** Counts what it is asked for; `gate` holds answers back. */
function storeOf(gate: Promise<void> = Promise.resolve()) {
  const asked: string[] = [];
  const erased = new Set<string>();
  return {
    asked,
    erased,
    async getVectors(namespace: string, ids: readonly NoteId[]) {
      asked.push(...ids.map((id) => `${namespace}/${id}`));
      const found = new Map<NoteId, NoteVectors>();
      for (const id of ids)
        if (!erased.has(id))
          found.set(id, { modelId: 'm', lesson: Float32Array.of(id.length, 0, 0, 0) } as NoteVectors);
      await gate;
      return found;
    },
  };
}

describe('RecentVectors', () => {
  it('asks the store once for each note of a namespace', async () => {
    const store = storeOf();
    const recent = new RecentVectors(store);
    const first = await recent.getVectors('n', ['a', 'bb']);
    const second = await recent.getVectors('n', ['bb', 'ccc']);
    expect([...first.keys()]).toEqual(['a', 'bb']);
    expect(second.get('bb')).toBe(first.get('bb'));
    expect(second.get('ccc')?.lesson[0]).toBe(3);
    expect(store.asked).toEqual(['n/a', 'n/bb', 'n/ccc']);
    await recent.getVectors('other', ['a']);
    expect(store.asked.at(-1)).toBe('other/a');
  });

  it('does not remember that a note had none', async () => {
    const store = storeOf();
    const recent = new RecentVectors(store);
    store.erased.add('a');
    expect((await recent.getVectors('n', ['a'])).size).toBe(0);
    store.erased.clear();
    expect((await recent.getVectors('n', ['a'])).size).toBe(1);
  });

  it('forgets a note that has changed, also while it is being read', async () => {
    let open = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const store = storeOf(gate);
    const recent = new RecentVectors(store);
    const reading = recent.getVectors('n', ['a']);
    store.erased.add('a');
    recent.forget('n', 'a');
    open();
    // What was read before is handed out, but not kept.
    expect((await reading).size).toBe(1);
    expect((await recent.getVectors('n', ['a'])).size).toBe(0);
    store.erased.clear();
    await recent.getVectors('n', ['a']);
    store.erased.add('a');
    recent.forget('n', 'a');
    expect((await recent.getVectors('n', ['a'])).size).toBe(0);
  });

  it('stays under its bound of bytes', async () => {
    const store = storeOf();
    const recent = new RecentVectors(store, 2 * (3 * 16 + 700));
    await recent.getVectors('n', ['a', 'b', 'c']);
    store.asked.length = 0;
    await recent.getVectors('n', ['b', 'c']);
    expect(store.asked).toEqual([]);
    await recent.getVectors('n', ['a']);
    expect(store.asked).toEqual(['n/a']);
  });
});
