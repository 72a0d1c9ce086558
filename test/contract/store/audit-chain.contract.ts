import { describe, expect, it } from 'vitest';
import { GENESIS } from '../../../src/domain/audit-chain.js';
import { verifyAudit } from '../../../src/guard/verify-audit.js';
import { type StoreTraits, useFixture } from './fixture.js';
import { at, audit, entry, insertOne, noteId, writable } from './sample-notes.js';

/** Every event is sealed, and whatever is done to the log past the store shows. */
export function describeAuditChain(traits: StoreTraits): void {
  describe('audit chain', () => {
    const fixture = useFixture(traits);
    const log = () => fixture().store.audit;
    const verify = () => verifyAudit(log());

    /** Three events of note a, one of b, one of no note. */
    async function write(): Promise<void> {
      const { store } = fixture();
      let note = await insertOne(store.notes, 'a');
      for (const reason of ['first', undefined]) {
        note = await store.notes.update({
          note: writable(note),
          expectedVersion: note.version,
          audit: audit('updated', { reason, changes: ['impact: LOW → HIGH'] }),
        });
      }
      const { note: b } = entry('b');
      await store.notes.insert([{ note: b, audit: audit('created', { origin: { via: 'IMPORT' } }) }]);
      await store.audit.append({ id: 'key', at: at(9), actor: 'ada', action: 'key-created', changes: [] });
    }

    it('seals events of notes and of the installation, each once, in a dense chain', async () => {
      expect(await verify()).toEqual({
        links: 0,
        events: 0,
        head: undefined,
        problems: [],
        problemCount: 0,
        unsealed: [],
      });
      await write();
      await log().append({ id: 'key', at: at(9), actor: 'ada', action: 'key-created', changes: [] });
      const links = await log().links(0, 100);
      expect(links.map(({ number }) => number)).toEqual(links.map((_, index) => index + 1));
      expect(links[0]?.previous).toBe(GENESIS);
      expect(links.flatMap(({ events }) => events.map(([id]) => id))).toEqual([
        `${noteId('a')}:1`,
        `${noteId('a')}:2`,
        `${noteId('a')}:3`,
        `${noteId('b')}:1`,
        'key',
      ]);
      expect(await verify()).toMatchObject({ events: 5, problemCount: 0, head: { number: links.length } });
      expect(await log().lastLink()).toEqual(links.at(-1));
    });

    it('stays one chain under several writers', async () => {
      const clients = await Promise.all(Array.from({ length: traits.clients }, () => fixture().connect()));
      await Promise.all(
        clients.map(async (store, client) => {
          for (let n = 0; n < 5; n += 1) {
            await store.notes.insert([entry(`${client} ${n}`), entry(`${client} ${n} more`)]);
          }
        }),
      );
      expect(await verify()).toMatchObject({ events: clients.length * 10, problems: [] });
    });

    it('shows an event that was changed, removed or put in', async () => {
      await write();
      const { forge } = fixture();
      const [second, third] = [`${noteId('a')}:2`, `${noteId('a')}:3`];
      await forge.renameActor(second, 'somebody');
      await forge.dropEvent(third);
      await forge.addEvent('forged');
      const { problems } = await verify();
      expect(problems.map(({ kind, eventId }) => [kind, eventId])).toEqual([
        ['CHANGED_EVENT', second],
        ['MISSING_EVENT', third],
        ['UNCHAINED_EVENT', 'forged'],
      ]);
    });

    it('shows a link that was removed, also at the end where its head was noted down', async () => {
      await write();
      const { head } = await verify();
      expect((await verifyAudit(log(), head)).problems).toEqual([]);
      await fixture().forge.dropLink(head!.number);
      await fixture().forge.dropEvent('key');
      expect((await verify()).problems).toEqual([]);
      expect((await verifyAudit(log(), head)).problems).toEqual([{ kind: 'OTHER_HEAD', link: head!.number }]);
      await fixture().forge.dropLink(2);
      expect((await verify()).problems).toContainEqual({ kind: 'MISSING_LINK', link: 2 });
    });

    it('seals what was written without a chain when it is opened again', async () => {
      await write();
      await fixture().forge.dropChain();
      expect((await verify()).problemCount).toBe(5);
      const again = await fixture().connect();
      expect(await verifyAudit(again.audit)).toMatchObject({ events: 5, problemCount: 0 });
    });

    it('is whole again after a crash between note and event', async ({ skip }) => {
      const { cutOff, connect } = fixture();
      if (cutOff === undefined) return skip('the store writes note and event in one transaction');
      await insertOne(fixture().store.notes, 'a');
      await cutOff(async (store) => void (await insertOne(store.notes, 'b')));
      const store = await connect();
      await store.notes.repair();
      expect(await verifyAudit(store.audit)).toMatchObject({ events: 2, problems: [] });
    });

    it('tells what a crash left unsealed from what was put in, and seals it', async ({ skip }) => {
      const { cutOffEvent, connect, forge, store } = fixture();
      if (cutOffEvent === undefined) return skip('the store writes event and link in one transaction');
      await write();
      const event = { id: 'outcome:r:n', at: at(9), actor: 'ada', action: 'outcome', changes: ['HARMFUL'] };
      await cutOffEvent(event);
      await forge.addEvent('forged');
      expect(await verify()).toMatchObject({
        problems: [{ kind: 'UNCHAINED_EVENT', eventId: 'forged' }],
        unsealed: [event.id],
      });
      // Said again, it still counts once, and is left to whoever completes it.
      expect(await store.audit.append(event)).toBe(false);
      expect((await verify()).unsealed).toEqual([event.id]);
      const other = await connect();
      expect(await verifyAudit(other.audit)).toMatchObject({ problemCount: 1, unsealed: [] });
      expect(await store.audit.unsealed()).toEqual([]);
      await cutOffEvent({ ...event, id: 'outcome:r:m' });
      expect(await store.notes.repair()).toBe(1);
      expect(await store.notes.repair()).toBe(0);
      expect(await verify()).toMatchObject({ problemCount: 1, unsealed: [] });
    });
  });
}
