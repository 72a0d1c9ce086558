import { describe, expect, it } from 'vitest';
import type { AuditEvent } from '../../../src/domain/audit.js';
import type { NamespaceScope, PageRequest } from '../../../src/ports/note-store.js';
import { type StoreTraits, useFixture } from './fixture.js';
import { at, audit, entry, insertOne, noteId, writable } from './sample-notes.js';

/** One event a version, newest first, within the scope. */
export function describeAuditLog(traits: StoreTraits): void {
  describe('audit log', () => {
    const fixture = useFixture(traits);
    const notes = () => fixture().store.notes;
    const log = () => fixture().store.audit;
    const ids = async (scope: NamespaceScope, page: PageRequest = { limit: 50 }, filter = {}) =>
      (await log().list(scope, filter, page)).items.map((event) => event.id);

    it('holds one event a version, with all that was said', async () => {
      const draft = audit('deprecated', {
        at: at(3),
        actor: 'ada',
        origin: { via: 'API', address: '203.0.113.7', client: 'curl/8.5.0' },
        reason: 'outdated',
        changes: ['status: ACTIVE → DEPRECATED'],
      });
      const note = await insertOne(notes(), 'a');
      await notes().update({ note: writable(note), expectedVersion: 1, audit: draft });
      const { items } = await log().list(['acme'], { noteId: note.id }, { limit: 9 });
      expect(items).toEqual([
        { ...draft, id: `${note.id}:2`, namespace: 'acme', noteId: note.id },
        { ...audit(), id: `${note.id}:1`, namespace: 'acme', noteId: note.id },
      ]);
    });

    it('takes an event id once, whoever asks first', async () => {
      const event = { ...audit('outcome'), id: 'outcome:r:n', changes: ['verdict: HELPFUL'] };
      const others = await Promise.all(Array.from({ length: traits.clients - 1 }, () => fixture().connect()));
      const asked = [fixture().store, ...others].map(({ audit: each }, i) =>
        each.append({ ...event, actor: `client ${i}` }),
      );
      const taken = await Promise.all(asked);
      expect(taken.filter(Boolean)).toHaveLength(1);
      expect(await log().append(event)).toBe(false);
      const { items } = await log().list('all', {}, { limit: 9 });
      expect(items.map(({ actor }) => actor)).toEqual([`client ${taken.indexOf(true)}`]);
    });

    it('keeps the versions of one millisecond in order', async () => {
      let note = await insertOne(notes(), 'a');
      for (let version = 1; version < 12; version += 1) {
        note = await notes().update({
          note: writable(note),
          expectedVersion: version,
          audit: audit('updated'),
        });
      }
      const expected = Array.from({ length: 12 }, (_, i) => `${note.id}:${12 - i}`);
      expect(await ids('all')).toEqual(expected);
      const first = await log().list('all', {}, { limit: 5 });
      expect(first.hasNext).toBe(true);
      expect(await ids('all', { limit: 9, after: first.keysets.at(-1) })).toEqual(expected.slice(5));
      expect(await ids('all', { limit: 3, before: first.keysets.at(-1), backwards: true })).toEqual(
        expected.slice(1, 4),
      );
    });

    it('reads the histories of many notes at once, each within the scope', async () => {
      let note = await insertOne(notes(), 'a');
      for (let version = 1; version < 4; version += 1) {
        note = await notes().update({
          note: writable(note),
          expectedVersion: version,
          audit: audit('updated'),
        });
      }
      const other = await insertOne(notes(), 'b');
      const found = await log().histories(['acme'], [note.id, other.id, noteId('never stored')], 3);
      expect(found.get(note.id)).toMatchObject({ hasNext: true, total: 4 });
      expect(found.get(note.id)?.items.map(({ id }) => id)).toEqual(
        [4, 3, 2].map((version) => `${note.id}:${version}`),
      );
      expect(found.get(other.id)).toMatchObject({ hasNext: false, total: 1 });
      expect(found.get(noteId('never stored'))).toEqual({ items: [], keysets: [], hasNext: false, total: 0 });
      const page = await log().list(['acme'], { noteId: note.id }, { limit: 3 });
      expect(found.get(note.id)?.keysets).toEqual(page.keysets);
      expect((await log().histories(['umbra'], [note.id], 3)).get(note.id)?.total).toBe(0);
    });

    it('filters by note, actor and scope; installation events are for scope `all` only', async () => {
      await notes().insert([
        entry('a'),
        { ...entry('b', { namespace: 'umbra' }), audit: audit('created', { at: at(1), actor: 'bob' }) },
      ]);
      const event: AuditEvent = {
        id: 'e-1',
        at: at(2),
        actor: 'root',
        action: 'key-created',
        changes: ['name: ci'],
      };
      await log().append(event);
      await log().append({
        ...event,
        id: 'e-2',
        at: at(3),
        namespace: 'acme',
        action: 'outcome',
        reason: 'helped',
      });
      const [a, b] = [`${noteId('a')}:1`, `${noteId('b')}:1`];
      expect(await ids('all')).toEqual(['e-2', 'e-1', b, a]);
      expect(await ids(['acme'])).toEqual(['e-2', a]);
      expect(await ids(['acme', 'umbra'])).toEqual(['e-2', b, a]);
      expect(await ids([])).toEqual([]);
      expect(await ids('all', { limit: 9 }, { actor: 'bob' })).toEqual([b]);
      expect(await ids(['acme'], { limit: 9 }, { noteId: noteId('b') })).toEqual([]);
      expect(await log().count('all', {})).toBe(4);
      expect(await log().count(['acme'], {})).toBe(2);
      expect(await log().count('all', { actor: 'root' })).toBe(2);
      expect((await log().list('all', {}, { limit: 9 })).items[1]).toEqual(event);
    });

    it('refuses positions of another shape', async () => {
      const page = log().list('all', {}, { limit: 1, after: ['x', 'y', 'z'] });
      await expect(page).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
    });
  });
}
