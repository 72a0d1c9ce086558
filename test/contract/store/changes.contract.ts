import { describe, expect, it, vi } from 'vitest';
import type { NoteStore, Store } from '../../../src/ports/note-store.js';
import { type StoreTraits, useFixture } from './fixture.js';
import { audit, entry, insertOne, noteId, sampleNote, writable } from './sample-notes.js';

/** Applies the log as an index follower does: in order, newer versions only. */
class Follower {
  readonly versions = new Map<string, number>();
  readonly #notes: NoteStore;
  revision = 0;

  constructor(notes: NoteStore) {
    this.#notes = notes;
  }

  async catchUp(): Promise<void> {
    for (;;) {
      const { changes, pruned } = await this.#notes.changesSince(this.revision, 50);
      if (pruned) throw new Error(`Expected an unpruned log after ${this.revision}`);
      if (changes.length === 0) return;
      for (const change of changes) {
        if (change.revision !== this.revision + 1)
          throw new Error(`Expected ${this.revision + 1}, got ${change.revision}`);
        this.revision = change.revision;
      }
      for (const { note } of await this.#notes.load(changes.flatMap((change) => change.noteIds))) {
        this.versions.set(note.id, Math.max(note.version, this.versions.get(note.id) ?? 0));
      }
    }
  }
}

/** The dense change log, its doorbell, pruning, and what a crash cuts off. */
export function describeChangeLog(traits: StoreTraits): void {
  describe('change log', () => {
    const fixture = useFixture(traits);
    const notes = () => fixture().store.notes;

    it('has one entry a write, one for a whole batch, none for no change', async () => {
      expect(await notes().changesSince(0, 10)).toEqual({ changes: [], pruned: false });
      await notes().insert([entry('a'), entry('b')]);
      const a = await notes().get('acme', noteId('a'));
      await notes().update({ note: writable(a!), expectedVersion: 1, audit: audit('updated') });
      await notes().insert([entry('a')]);
      await notes().addOutcome('acme', noteId('a'), { helpful: 1 });
      await insertOne(notes(), 'c');
      const changes = [
        { revision: 1, noteIds: [noteId('a'), noteId('b')] },
        { revision: 2, noteIds: [noteId('a')] },
        { revision: 3, noteIds: [noteId('c')] },
      ];
      expect(await notes().changesSince(0, 10)).toEqual({ changes, pruned: false });
      expect(await notes().changesSince(1, 1)).toEqual({ changes: changes.slice(1, 2), pruned: false });
      expect(await notes().changesSince(3, 10)).toEqual({ changes: [], pruned: false });
      expect(await notes().lastRevision()).toBe(3);
    });

    it(`loses nothing of ${traits.clients} clients that write at once`, async () => {
      const others = await Promise.all(Array.from({ length: traits.clients - 1 }, () => fixture().connect()));
      const clients: Store[] = [fixture().store, ...others];
      const follower = new Follower(notes());
      let writing = true;
      const following = (async () => {
        while (writing) {
          await follower.catchUp();
          await new Promise((resolve) => setImmediate(resolve));
        }
      })();
      const expected = new Map<string, number>();
      await Promise.all(
        clients.map(async (client, c) => {
          for (let i = 0; i < 40; i += 1) {
            const note = await insertOne(client.notes, `${c}/${i}`);
            expected.set(note.id, 1);
            if (i % 2 === 0) {
              await client.notes.update({
                note: sampleNote(`${c}/${i}`),
                expectedVersion: 1,
                audit: audit('updated'),
              });
              expected.set(note.id, 2);
            }
          }
        }),
      );
      writing = false;
      await following;
      await follower.catchUp();
      await Promise.all(others.map((client) => client.close()));
      expect(follower.versions).toEqual(expected);
      expect(await fixture().store.audit.count('all', {})).toBe(
        [...expected.values()].reduce((a, b) => a + b, 0),
      );
      expect(await notes().repair()).toBe(0);
    });

    it('is pruned by range, never its newest entry, and says so', async () => {
      for (const label of ['a', 'b', 'c', 'd']) await insertOne(notes(), label);
      expect(await notes().pruneChanges(2)).toBe(2);
      expect(await notes().changesSince(1, 10)).toEqual({ changes: [], pruned: true });
      expect((await notes().changesSince(2, 10)).changes.map((change) => change.revision)).toEqual([3, 4]);
      expect(await notes().pruneChanges(99)).toBe(1);
      expect(await notes().lastRevision()).toBe(4);
      expect(await notes().pruneChanges(99)).toBe(0);
      await insertOne(notes(), 'e');
      expect((await notes().changesSince(4, 10)).changes).toEqual([{ revision: 5, noteIds: [noteId('e')] }]);
      // A follower of a newer state than this store's: a backup was restored.
      expect(await notes().changesSince(6, 10)).toEqual({ changes: [], pruned: true });
    });

    it('rings for writes of this client and of others, and stops when told to', async () => {
      const heard = vi.fn();
      const stop = await notes().watch(heard);
      await insertOne(notes(), 'a');
      await vi.waitFor(() => expect(heard).toHaveBeenCalled(), { timeout: 5_000, interval: 5 });
      if (traits.clients > 1) {
        const other = await fixture().connect();
        // The first write's ringing is over once the other client's own is awaited: only its write can ring again.
        await vi.waitFor(() => expect(heard.mock.calls.length).toBeGreaterThan(0), { timeout: 5_000 });
        heard.mockClear();
        await insertOne(other.notes, 'b');
        await vi.waitFor(() => expect(heard).toHaveBeenCalled(), { timeout: 5_000, interval: 5 });
        await other.close();
      }
      await stop();
      await stop();
      heard.mockClear();
      await insertOne(notes(), 'c');
      await notes().lastRevision();
      await new Promise((resolve) => setImmediate(resolve));
      expect(heard).not.toHaveBeenCalled();
    });

    it('completes on repair what a crash cut off', async (context) => {
      const { cutOff, store } = fixture();
      if (cutOff === undefined)
        context.skip('the store writes note, audit event and change entry in one transaction');
      const old = await insertOne(notes(), 'old');
      await cutOff?.((crashing) =>
        Promise.allSettled([
          crashing.notes.insert([entry('new')]),
          crashing.notes.update({ note: writable(old), expectedVersion: 1, audit: audit('updated') }),
        ]),
      );
      expect((await notes().get('acme', old.id))?.version).toBe(2);
      expect(await store.audit.count('all', {})).toBe(1);
      expect(await notes().lastRevision()).toBe(1);
      expect(await notes().repair()).toBe(2);
      expect(await store.audit.count('all', { noteId: old.id })).toBe(2);
      expect(await store.audit.count('all', { noteId: noteId('new') })).toBe(1);
      const { changes } = await notes().changesSince(1, 10);
      expect(new Set(changes.flatMap((change) => change.noteIds))).toEqual(new Set([old.id, noteId('new')]));
      expect(await notes().repair()).toBe(0);
    });

    it('completes what a crash cut off with the next write to the note', async (context) => {
      const { cutOff, store } = fixture();
      if (cutOff === undefined)
        context.skip('the store writes note, audit event and change entry in one transaction');
      await cutOff?.((crashing) => crashing.notes.insert([entry('a')]));
      await notes().update({
        note: sampleNote('a'),
        expectedVersion: 1,
        audit: audit('updated', { actor: 'second' }),
      });
      const events = (await store.audit.list('all', {}, { limit: 9 })).items;
      expect(events.map((event) => [event.id, event.actor])).toEqual([
        [`${noteId('a')}:2`, 'second'],
        [`${noteId('a')}:1`, 'tester'],
      ]);
      expect((await notes().changesSince(0, 9)).changes.flatMap((change) => change.noteIds)).toContain(
        noteId('a'),
      );
      expect(await notes().repair()).toBe(0);
    });
  });
}
