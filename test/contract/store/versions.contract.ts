import { describe, expect, it } from 'vitest';
import { ERASED_TEXT } from '../../../src/domain/lifecycle.js';
import type { FeedbackNote } from '../../../src/domain/note.js';
import type { NoteWrite } from '../../../src/ports/note-store.js';
import { type StoreTraits, useFixture } from './fixture.js';
import { at, audit, insertOne, noteId, vectors, writable } from './sample-notes.js';

/** What notes were, and that an erasure leaves nothing of it. */
export function describeVersions(traits: StoreTraits): void {
  describe('versions', () => {
    const fixture = useFixture(traits);
    const change = (note: FeedbackNote, more: Partial<NoteWrite>, action = 'updated') =>
      fixture().store.notes.update({
        note: { ...writable(note), ...more },
        expectedVersion: note.version,
        audit: audit(action),
      });

    it('keeps every past state as it was, newest first, also after lost races', async () => {
      const { versions } = fixture().store;
      const first = await insertOne(
        fixture().store.notes,
        'a',
        { attributes: { 'a.b': '$c' } },
        vectors(1, 0),
      );
      expect(await versions.past('acme', first.id, 9)).toEqual([]);
      const second = await change(first, {
        attributes: {},
        impact: 'HIGH',
        expiresAt: at(50),
        updatedAt: at(1),
      });
      const races = Array.from({ length: traits.clients }, (_, i) =>
        change(second, { updatedAt: at(10 + i) }),
      );
      const outcomes = await Promise.allSettled(races);
      const third = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []));
      expect(third).toHaveLength(1);
      await change(third[0]!, { status: 'DEPRECATED', supersededBy: noteId('b'), updatedAt: at(30) });
      const past = await versions.past('acme', first.id, 9);
      expect(past).toEqual([third[0], second, first]);
      expect((await versions.past('acme', first.id, 2)).map(({ version }) => version)).toEqual([3, 2]);
      expect(await versions.past('umbra', first.id, 9)).toEqual([]);
    });

    it('leaves nothing of an erased note but its tombstone', async () => {
      const { notes, versions, audit: log } = fixture().store;
      const marks = [
        'mark-lesson',
        'mark-correction',
        'mark-claim',
        'mark-attribute',
        'mark-author',
        'mark-rule',
      ];
      const [lesson, correction, wrongAnswer, attribute, author, rule] = marks as [string, ...string[]];
      const held = vectors(0.6, -0.8);
      const first = await insertOne(
        notes,
        'a',
        {
          lesson,
          correction: correction!,
          wrongAnswer: wrongAnswer!,
          attributes: { key: attribute! },
          sources: [{ kind: 'review', author: author! }],
          findings: [{ rule: rule!, field: 'lesson', reason: 'r' }],
        },
        held,
      );
      const second = await change(first, { impact: 'HIGH' });
      const before = await fixture().raw();
      const bytes = Buffer.from(held.lesson.buffer);
      for (const mark of [...marks.slice(0, 3).map((text) => Buffer.from(text)), bytes])
        expect(before.includes(mark)).toBe(traits.encrypted !== true);
      for (const mark of marks.slice(3)) expect(before.includes(mark)).toBe(true);
      await notes.update({
        note: {
          ...writable(second),
          status: 'DEPRECATED',
          lesson: ERASED_TEXT,
          correction: ERASED_TEXT,
          wrongAnswer: ERASED_TEXT,
          attributes: {},
          sources: [{ kind: 'review' }],
          findings: [],
        },
        expectedVersion: 2,
        vectors: null,
        audit: audit('erased', { reason: 'a court said so' }),
      });
      const after = await fixture().raw();
      for (const mark of [...marks.map((text) => Buffer.from(text)), bytes])
        expect(after.includes(mark)).toBe(false);
      expect(await versions.past('acme', first.id, 9)).toEqual([]);
      expect(await notes.getVectors('acme', [first.id])).toEqual(new Map());
      const [event] = (await log.list('all', { noteId: first.id }, { limit: 1 })).items;
      expect(event).toMatchObject({ action: 'erased', reason: 'a court said so' });
    });
  });
}
