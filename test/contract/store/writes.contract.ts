import { describe, expect, it } from 'vitest';
import { isErrataError } from '../../../src/domain/errors.js';
import { type StoreTraits, useFixture } from './fixture.js';
import { at, audit, entry, insertOne, noteId, sampleNote, vectors, writable } from './sample-notes.js';

/** Insert, update, compare-and-set, outcomes, namespaces. */
export function describeWrites(traits: StoreTraits): void {
  describe('writes', () => {
    const fixture = useFixture(traits);
    const notes = () => fixture().store.notes;

    it('gives back what was inserted, as version 1', async () => {
      const note = sampleNote('full', {
        attributes: { repo: 'errata', 'a.b$c': 'dots and dollars', __proto__x: 'y' },
        sources: [
          {
            kind: 'review',
            author: 'ada',
            tool: 'sonar',
            url: 'https://example.org/1',
            record: 'T-1',
            at: at(1),
          },
          { kind: 'import' },
        ],
        supportCount: 2,
        findings: [{ rule: 'redacted.jwt', field: 'lesson', reason: 'a token' }],
        expiresAt: at(100),
        reviewAfter: at(50),
        supersedes: [noteId('older')],
        supersededBy: noteId('newer'),
        mergeCandidate: { noteId: noteId('like'), similarity: 0.9312345678 },
        outcomes: { retrieved: 3, helpful: 2, harmful: 1, ignored: 0 },
      });
      const [outcome] = await notes().insert([{ note, audit: audit(), vectors: vectors(0.6, 0.8) }]);
      const expected = { ...note, version: 1, embeddingModel: 'model@1' };
      expect(outcome?.note).toEqual(expected);
      expect(await notes().get('acme', note.id)).toEqual(expected);
      expect(await notes().getMany('acme', [noteId('none'), note.id])).toEqual([expected]);
    });

    it('leaves an existing note alone, in batches too', async () => {
      const first = await insertOne(notes(), 'a');
      const again = entry('a', { lesson: 'another text' });
      const outcomes = await notes().insert([entry('b'), again, entry('b'), entry('c')]);
      expect(outcomes.map((outcome) => outcome.note?.id)).toEqual([
        noteId('b'),
        undefined,
        undefined,
        noteId('c'),
      ]);
      expect(await notes().get('acme', first.id)).toEqual(first);
      expect(await notes().count('all', {})).toBe(3);
    });

    it('keeps an id for the namespace that took it first', async () => {
      await insertOne(notes(), 'a');
      const [outcome] = await notes().insert([entry('a', { namespace: 'umbra' })]);
      expect(outcome?.note).toBeUndefined();
      expect(await notes().get('umbra', noteId('a'))).toBeUndefined();
    });

    it('accepts nothing as nothing', async () => {
      expect(await notes().insert([])).toEqual([]);
      expect(await notes().getMany('acme', [])).toEqual([]);
      expect(await notes().lastRevision()).toBe(0);
    });

    it('gives the note to exactly one of 50 parallel inserts of the same id', async () => {
      const outcomes = await Promise.all(
        Array.from({ length: 50 }, (_, i) => notes().insert([entry('same', { supportCount: i })])),
      );
      const made = outcomes.flatMap(([outcome]) => outcome?.note ?? []);
      expect(made).toHaveLength(1);
      expect(await notes().get('acme', noteId('same'))).toEqual(made[0]);
      expect(await fixture().store.audit.count('all', { noteId: noteId('same') })).toBe(1);
    });

    it('updates on the expected version only', async () => {
      const first = await insertOne(notes(), 'a', {}, vectors(1, 0));
      const changed = {
        ...writable(first),
        lesson: 'changed',
        status: 'DEPRECATED' as const,
        updatedAt: at(9),
      };
      const second = await notes().update({ note: changed, expectedVersion: 1, audit: audit('deprecated') });
      expect(second).toEqual({ ...changed, version: 2, embeddingModel: 'model@1' });
      expect(await notes().get('acme', first.id)).toEqual(second);

      const stale = notes().update({ note: changed, expectedVersion: 1, audit: audit('restored') });
      await expect(stale).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
      expect(await notes().get('acme', first.id)).toEqual(second);
      expect(await fixture().store.audit.count('all', { noteId: first.id })).toBe(2);
    });

    it('removes what an update leaves out', async () => {
      const first = await insertOne(notes(), 'a', {
        expiresAt: at(5),
        supersededBy: noteId('b'),
        mergeCandidate: { noteId: noteId('b'), similarity: 0.95 },
        attributes: { repo: 'errata' },
      });
      const { expiresAt: _e, supersededBy: _s, mergeCandidate: _m, ...kept } = writable(first);
      const note = { ...kept, attributes: {} };
      await notes().update({ note, expectedVersion: 1, audit: audit('updated') });
      expect(await notes().get('acme', first.id)).toEqual({ ...note, version: 2 });
      expect(await notes().count(['acme'], { attributes: { repo: 'errata' } })).toBe(0);
    });

    it('lets one of many writers of a version win', async () => {
      const note = writable(await insertOne(notes(), 'a'));
      const results = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) =>
          notes().update({
            note: { ...note, supportCount: i + 2 },
            expectedVersion: 1,
            audit: audit('updated'),
          }),
        ),
      );
      const won = results.filter((result) => result.status === 'fulfilled');
      const lost = results.filter((result) => result.status === 'rejected');
      expect(won).toHaveLength(1);
      expect(lost.every(({ reason }) => isErrataError(reason, 'VERSION_CONFLICT'))).toBe(true);
      expect(await notes().get('acme', note.id)).toEqual(won[0]?.value);
    });

    it('names a missing note, also one of another namespace', async () => {
      const note = writable(await insertOne(notes(), 'a'));
      const missing = { code: 'NOTE_NOT_FOUND' };
      const elsewhere = { ...note, namespace: 'umbra' };
      await expect(
        notes().update({ note: elsewhere, expectedVersion: 1, audit: audit() }),
      ).rejects.toMatchObject(missing);
      await expect(notes().addOutcome('umbra', note.id, { helpful: 1 })).rejects.toMatchObject(missing);
      await expect(notes().addOutcome('acme', noteId('b'), { helpful: 1 })).rejects.toMatchObject(missing);
      expect(await notes().get('umbra', note.id)).toBeUndefined();
      expect(await notes().getMany('umbra', [note.id])).toEqual([]);
      expect(await notes().getVectors('umbra', [note.id])).toEqual(new Map());
    });

    it('adds outcomes without a new version, and no update takes them back', async () => {
      const note = writable(await insertOne(notes(), 'a'));
      await Promise.all(
        Array.from({ length: 20 }, () => notes().addOutcome('acme', note.id, { retrieved: 1, helpful: 2 })),
      );
      const counted = await notes().get('acme', note.id);
      expect(counted).toMatchObject({
        version: 1,
        outcomes: { retrieved: 20, helpful: 40, harmful: 0, ignored: 0 },
      });
      const updated = await notes().update({ note, expectedVersion: 1, audit: audit('updated') });
      expect(updated.outcomes).toEqual(counted?.outcomes);
      expect((await notes().get('acme', note.id))?.outcomes).toEqual(counted?.outcomes);
    });

    it('answers CLOSED after close, which may be repeated', async () => {
      const { store } = fixture();
      const closed = { code: 'CLOSED' };
      await store.close();
      await store.close();
      await expect(store.ping()).rejects.toMatchObject(closed);
      await expect(store.notes.get('acme', noteId('a'))).rejects.toMatchObject(closed);
      await expect(store.notes.insert([entry('a')])).rejects.toMatchObject(closed);
      await expect(store.notes.list('all', {}, 'CREATED_ASC', { limit: 1 })).rejects.toMatchObject(closed);
      await expect(store.notes.watch(() => undefined)).rejects.toMatchObject(closed);
      await expect(store.notes.repair()).rejects.toMatchObject(closed);
      await expect(store.audit.count('all', {})).rejects.toMatchObject(closed);
      await expect(store.receipts.get('r')).rejects.toMatchObject(closed);
      await expect(store.jobs.list('all', 1)).rejects.toMatchObject(closed);
      await expect(store.keys.list()).rejects.toMatchObject(closed);
      await expect(store.settings.get('s')).rejects.toMatchObject(closed);
    });
  });
}
