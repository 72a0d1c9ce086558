import { describe, expect, it } from 'vitest';
import { type StoreTraits, useFixture } from './fixture.js';
import { audit, entry, insertOne, noteId, vectors, writable } from './sample-notes.js';

const TEXTS = {
  emoji: '👩🏽‍💻 fixes 🐛 — 𝒞𝓊𝓇𝓈𝒾𝓋𝑒 𠜎',
  scripts: 'Ünïcödé Ελληνικά עברית العربية हिन्दी ไทย 日本語 한국어 Íslenska',
  quotes: `"double" 'single' \\back\\slash {"json": [1]} $set .dots % _ * ?`,
  lines: 'first\nsecond\tthird',
};

/** Texts, vectors, damaged records, and the scans that fill an index. */
export function describeRecords(traits: StoreTraits): void {
  describe('records', () => {
    const fixture = useFixture(traits);
    const notes = () => fixture().store.notes;

    it.each(Object.entries(TEXTS))('round-trips %s', async (_, text) => {
      const note = await insertOne(notes(), text, {
        lesson: text,
        attributes: { repo: text },
        sources: [{ kind: text, author: text }],
      });
      expect(await notes().get('acme', note.id)).toEqual(note);
      const found = await notes().list(
        ['acme'],
        { text, author: text, attributes: { repo: text } },
        'CREATED_ASC',
        {
          limit: 5,
        },
      );
      expect(found.items).toEqual([note]);
    });

    it('round-trips a text of a million characters', async () => {
      const note = await insertOne(notes(), 'long', { wrongAnswer: 'äß字😀 '.repeat(170_000) });
      expect(await notes().get('acme', note.id)).toEqual(note);
    });

    it('keeps every bit of a vector, and erases vectors for good', async () => {
      const lesson = Float32Array.from([1 / 3, -0, 1e-45, 3.4e38, -1.1754944e-38, Math.PI]);
      const situation = Float32Array.from([0.1, 0.2, 0.3, 0.4, 0.5, 0.6]);
      const held = { modelId: 'model@1', lesson, situation };
      const note = await insertOne(notes(), 'a', {}, held);
      const bits = (vector: Float32Array | undefined) => [
        ...new Uint32Array(vector?.slice().buffer ?? new ArrayBuffer(0)),
      ];
      const read = (await notes().getVectors('acme', [note.id, noteId('none')])).get(note.id);
      expect(read?.modelId).toBe('model@1');
      expect(bits(read?.lesson)).toEqual(bits(lesson));
      expect(bits(read?.situation)).toEqual(bits(situation));

      const kept = await notes().update({
        note: writable(note),
        expectedVersion: 1,
        audit: audit('updated'),
      });
      expect(kept.embeddingModel).toBe('model@1');
      const next = { modelId: 'model@2', lesson: situation };
      const moved = await notes().update({
        note: writable(note),
        expectedVersion: 2,
        vectors: next,
        audit: audit('embedded'),
      });
      expect(moved.embeddingModel).toBe('model@2');
      expect((await notes().getVectors('acme', [note.id])).get(note.id)).toEqual(next);

      const erased = await notes().update({
        note: writable(note),
        expectedVersion: 3,
        vectors: null,
        audit: audit('erased'),
      });
      expect(erased.embeddingModel).toBeUndefined();
      expect(await notes().getVectors('acme', [note.id])).toEqual(new Map());
      expect((await notes().load([note.id]))[0]?.vectors).toBeUndefined();
    });

    it('gives out what another connection wrote a moment ago, however often a note was read before', async () => {
      const other = (await fixture().connect()).notes;
      const { id } = await insertOne(notes(), 'a', { lesson: 'as it was' }, vectors(1, 0));
      const read = async () => notes().get('acme', id);
      const before = await read();
      expect(await read()).toEqual(before);
      await other.addOutcome('acme', id, { retrieved: 2, harmful: 1 });
      const counted = await read();
      expect(counted?.outcomes).toEqual({ retrieved: 2, helpful: 0, harmful: 1, ignored: 0 });
      if (counted === undefined) return;
      const audited = { expectedVersion: 1, audit: audit('deprecated') };
      await other.update({ note: { ...writable(counted), status: 'DEPRECATED' }, ...audited });
      expect(await read()).toMatchObject({ status: 'DEPRECATED', version: 2, outcomes: counted.outcomes });
      await other.putVectors([{ id, vectors: { ...vectors(0, 1), modelId: 'model@2' } }]);
      await other.adoptModel('model@2', undefined, 10);
      expect(await read()).toMatchObject({ embeddingModel: 'model@2', version: 2 });
      expect(await notes().getMany('umbra', [id])).toEqual([]);
    });

    it('skips a damaged record everywhere and counts it once', async () => {
      const ids = ['a', 'b', 'c', 'd'].map(noteId).sort();
      await notes().insert(['a', 'b', 'c', 'd'].map((label) => entry(label, {}, vectors(1, 0))));
      const [bad, ...good] = ids as [string, ...string[]];
      await fixture().damage(bad);
      expect(notes().corruptRecords()).toBe(0);
      expect(await notes().get('acme', bad)).toBeUndefined();
      expect((await notes().getMany('acme', ids)).map((note) => note.id)).toEqual(good);
      const listed = await notes().list('all', {}, 'CREATED_ASC', { limit: 3 });
      expect(listed.items.map((note) => note.id)).toEqual(good);
      expect((await notes().load(ids)).map(({ note }) => note.id).sort()).toEqual(good);
      expect((await notes().scanActive(undefined, 1)).map(({ note }) => note.id)).toEqual(good.slice(0, 1));
      expect(
        (await notes().scanWithoutModel('other', undefined, undefined, 9)).map((note) => note.id),
      ).toEqual(good);
      expect(notes().corruptRecords()).toBe(1);
    });

    it('scans versions, active notes and notes without a model in id order', async () => {
      await notes().insert([
        entry('a', {}, vectors(1, 0)),
        entry('b', { namespace: 'umbra' }, { ...vectors(0, 1), modelId: 'model@2' }),
        entry('c'),
        entry('d', { status: 'PENDING' }, vectors(1, 0)),
      ]);
      const order = ['a', 'b', 'c', 'd'].map(noteId).sort();
      const all = await notes().versions(undefined, 10);
      expect(all.map((entry) => entry.id)).toEqual(order);
      expect(all.find((held) => held.id === noteId('d'))).toEqual({
        namespace: 'acme',
        id: noteId('d'),
        version: 1,
        status: 'PENDING',
      });
      expect((await notes().versions(order[1], 1)).map((entry) => entry.id)).toEqual([order[2]]);
      const active = await notes().scanActive(undefined, 10);
      expect(active.map(({ note }) => note.id)).toEqual(['a', 'b'].map(noteId).sort());
      expect(active.every(({ note, vectors: held }) => held?.modelId === note.embeddingModel)).toBe(true);
      const ids = async (namespace?: string) =>
        (await notes().scanWithoutModel('model@1', namespace, undefined, 10)).map((note) => note.id);
      expect(await ids()).toEqual(['b', 'c'].map(noteId).sort());
      expect(await ids('acme')).toEqual([noteId('c')]);
      const [first] = await ids();
      expect((await notes().scanWithoutModel('model@1', undefined, first, 1)).map((note) => note.id)).toEqual(
        [(await ids())[1]],
      );
    });

    it('loads notes of any namespace with their vectors', async () => {
      await notes().insert([entry('a', {}, vectors(0.6, 0.8)), entry('b', { namespace: 'umbra' })]);
      const loaded = await notes().load([noteId('b'), noteId('none'), noteId('a')]);
      const byId = new Map(loaded.map((stored) => [stored.note.id, stored]));
      expect(byId.get(noteId('a'))?.vectors).toEqual(vectors(0.6, 0.8));
      expect(byId.get(noteId('b'))).toEqual({ note: await notes().get('umbra', noteId('b')) });
      expect(loaded).toHaveLength(2);
    });
  });
}
