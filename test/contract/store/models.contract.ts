import { describe, expect, it } from 'vitest';
import { ERASED_TEXT } from '../../../src/domain/lifecycle.js';
import type { NoteVectors } from '../../../src/domain/note.js';
import type { NoteStore } from '../../../src/ports/note-store.js';
import { type StoreTraits, useFixture } from './fixture.js';
import { audit, insertOne, noteId, vectors, writable } from './sample-notes.js';

const OTHER = 'other.model/v1@2';
const otherVectors = (...values: number[]): NoteVectors => ({ ...vectors(...values), modelId: OTHER });

/** Vectors of several models stand beside each other and are never mixed. */
export function describeModels(traits: StoreTraits): void {
  describe('vectors of several models', () => {
    const fixture = useFixture(traits);
    const notes = () => fixture().store.notes;
    const ids = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id).sort();

    it('gives each view the vectors of its model and no others', async () => {
      const a = await insertOne(notes(), 'a', {}, vectors(1, 0));
      const b = await insertOne(notes(), 'b', { status: 'PENDING' }, vectors(0, 1));
      expect(await notes().putVectors([{ id: a.id, vectors: otherVectors(0.6, 0.8, 0) }])).toBe(1);
      const [mine, other, none] = [notes(), notes().forModel(OTHER), notes().forModel('none')];
      const all = [a.id, b.id];
      expect(await mine.getVectors('acme', all)).toEqual(
        new Map([
          [a.id, vectors(1, 0)],
          [b.id, vectors(0, 1)],
        ]),
      );
      expect(await other.getVectors('acme', all)).toEqual(new Map([[a.id, otherVectors(0.6, 0.8, 0)]]));
      expect(await none.getVectors('acme', all)).toEqual(new Map());
      const loaded = new Map((await other.load(all)).map((held) => [held.note.id, held.vectors]));
      expect(loaded).toEqual(
        new Map([
          [a.id, otherVectors(0.6, 0.8, 0)],
          [b.id, undefined],
        ]),
      );
      const modelsOf = async (view: NoteStore) =>
        (await view.scanActive(undefined, 9)).map(({ vectors: held }) => held?.modelId);
      expect(await modelsOf(mine)).toEqual(['model@1']);
      expect(await modelsOf(other)).toEqual([OTHER]);
      expect(await modelsOf(none)).toEqual([undefined]);
      expect(ids(await notes().scanWithoutModel(OTHER, undefined, undefined, 9))).toEqual([b.id]);
      expect(await notes().scanWithoutModel('model@1', undefined, undefined, 9)).toEqual([]);
      // No version, no event, no change entry.
      expect(await notes().get('acme', a.id)).toEqual(a);
      expect(await notes().lastRevision()).toBe(2);
      expect(await fixture().store.audit.count('all', {})).toBe(2);
    });

    it('keeps them through changes, and lets notes name another model page by page', async () => {
      const made = [];
      for (const label of ['a', 'b', 'c']) made.push(await insertOne(notes(), label, {}, vectors(1, 0)));
      const [a, b, c] = made.map(({ id }) => id).sort() as [string, string, string];
      await notes().putVectors([a, b, c].map((id) => ({ id, vectors: otherVectors(0, 1, 0) })));
      const held = made.find(({ id }) => id === a)!;
      await notes().update({
        note: { ...writable(held), impact: 'LOW' },
        expectedVersion: 1,
        audit: audit('updated'),
      });
      const first = await notes().adoptModel(OTHER, undefined, 2);
      expect(first).toBe(b);
      expect(await notes().adoptModel(OTHER, first, 2)).toBeUndefined();
      const found = await notes().getMany('acme', [a, b, c]);
      expect(found.map(({ embeddingModel }) => embeddingModel)).toEqual([OTHER, OTHER, OTHER]);
      expect((await notes().getVectors('acme', [a])).get(a)).toEqual(otherVectors(0, 1, 0));
      expect((await notes().forModel('model@1').getVectors('acme', [a])).get(a)).toEqual(vectors(1, 0));
      // What notes name as theirs stays.
      expect(await notes().dropVectors(OTHER, 9)).toBe(0);
      expect(await notes().dropVectors('model@1', 2)).toBe(2);
      expect(await notes().dropVectors('model@1', 2)).toBe(1);
      expect((await notes().forModel('model@1').getVectors('acme', [a, b, c])).size).toBe(0);
      expect((await notes().scanActive(undefined, 9)).map(({ note }) => note.id)).toEqual([a, b, c]);
    });

    it('gives erased and unknown notes no vectors', async () => {
      const a = await insertOne(notes(), 'a', {}, vectors(1, 0));
      await notes().putVectors([{ id: a.id, vectors: otherVectors(0, 1, 0) }]);
      const texts = { lesson: ERASED_TEXT, correction: ERASED_TEXT, wrongAnswer: ERASED_TEXT };
      await notes().update({
        note: { ...writable(a), ...texts, status: 'DEPRECATED' },
        expectedVersion: 1,
        vectors: null,
        audit: audit('erased'),
      });
      const late = [a.id, noteId('none')].map((id) => ({ id, vectors: otherVectors(0, 1, 0) }));
      expect(await notes().putVectors(late)).toBe(0);
      expect(await notes().forModel(OTHER).getVectors('acme', [a.id])).toEqual(new Map());
      expect(await notes().getVectors('acme', [a.id])).toEqual(new Map());
    });
  });
}
