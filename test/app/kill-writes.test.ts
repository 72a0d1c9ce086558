import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../src/ports/note-store.js';
import { killLeftOver, type ServerProcess, startServerProcess } from './dist-process.js';
import { type KillOrder, type KillOrders, killOrders } from './kill-orders.js';
import { BACKENDS, type OpenBackend } from './store-backends.js';
import { expectWhole } from './whole-store.js';

const SUBMIT = `mutation ($input: CorrectionInput!) { submitCorrection(input: $input) { outcome note { id status version } } }`;
const REVIEW = `mutation ($id: ID!, $decision: ReviewDecision!) {
  reviewNote(id: $id, decision: $decision, comment: "looked at") { id status } }`;
const FOUND = `query ($query: String!) { retrieve(input: { query: $query, threshold: 0 }) { candidates { note { id } } } }`;

function correction(name: string, more: object = {}) {
  return {
    taskType: 'code-review',
    wrongAnswer: `Said that write_${name}() may be called twice.`,
    correction: `write_${name}() closes its stream.`,
    lesson: `write_${name}() closes its stream; a second call must be reported.`,
    ...more,
  };
}

/** What is killed, and how the store tells whether it happened. */
interface Deed {
  readonly name: string;
  readonly query: string;
  readonly variables: object;
  /** Whether the deed is done, wholly; anything in between fails. */
  isDone(): Promise<boolean>;
}

for (const { title, skip, hasTransactions, open } of BACKENDS) {
  describe.skipIf(skip !== undefined)(`kill -9 in the middle of a write over ${title}`, () => {
    let folder: string;
    let backend: OpenBackend;
    let orders: KillOrders;
    let store: Store;
    /** Stays; the other one is killed and started again. */
    let witness: ServerProcess;
    let victim: ServerProcess;
    let made = 0;
    const startServer = () =>
      startServerProcess(folder, {
        ...{ ...backend.env, ...orders.env, ERRATA_EMBEDDER: 'starter', ERRATA_SWEEP_MINUTES: '0' },
      });
    async function submit(input: object): Promise<{ id: string; status: string }> {
      const { data, errors } = await witness.query(SUBMIT, { input });
      expect(errors).toBeUndefined();
      return data.submitCorrection.note;
    }

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'errata-kill-writes-'));
      backend = await open(folder);
      orders = killOrders(folder);
      witness = await startServer();
      victim = await startServer();
      store = await backend.connect();
    }, 600_000);
    afterAll(async () => {
      await killLeftOver();
      await store?.close();
      await backend?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const get = (id: string) => store.notes.get('default', id);
    const deeds: readonly { readonly title: string; begin(): Promise<Deed> }[] = [
      {
        title: 'a submission',
        async begin() {
          const input = correction(`new_${made++}`);
          return {
            ...{ name: input.lesson, query: SUBMIT, variables: { input } },
            async isDone() {
              const { items } = await store.notes.list('all', { text: input.lesson }, 'CREATED_ASC', {
                limit: 9,
              });
              expect(items.length).toBeLessThanOrEqual(1);
              // Never without its vectors, and live at once.
              if (items[0] !== undefined) {
                expect(items[0]).toMatchObject({ version: 1, status: 'ACTIVE' });
                expect((await store.notes.getVectors('default', [items[0].id])).size).toBe(1);
              }
              return items.length === 1;
            },
          };
        },
      },
      {
        title: 'a repeated submission with another source',
        async begin() {
          const name = `again_${made++}`;
          const { id } = await submit(correction(name, { source: { kind: 'review', record: '1' } }));
          const input = correction(name, { source: { kind: 'review', record: '2' } });
          return {
            ...{ name: input.lesson, query: SUBMIT, variables: { input } },
            async isDone() {
              const note = (await get(id))!;
              expect(note.sources).toHaveLength(note.supportCount);
              expect(note.version).toBe(note.supportCount);
              return note.supportCount === 2;
            },
          };
        },
      },
      {
        title: 'an approval',
        async begin() {
          const input = correction(`approved_${made++}`, { impact: 'HIGH' });
          const { id, status } = await submit(input);
          expect(status).toBe('PENDING');
          return {
            ...{ name: input.lesson, query: REVIEW, variables: { id, decision: 'APPROVE' } },
            async isDone() {
              const note = (await get(id))!;
              expect([note.status, note.version, note.review === undefined]).toEqual(
                note.version === 1 ? ['PENDING', 1, false] : ['ACTIVE', 2, true],
              );
              return note.status === 'ACTIVE';
            },
          };
        },
      },
      {
        title: 'a decision that changes two notes',
        async begin() {
          const name = `pair_${made++}`;
          const older = await submit(correction(name));
          // The same lesson with another correction: a candidate for a merge.
          const input = correction(name, {
            correction: `write_${name}() closes its stream itself.`,
            impact: 'HIGH',
          });
          const newer = await submit(input);
          const candidate = (await get(newer.id))!.mergeCandidate?.noteId;
          expect([newer.status, candidate]).toEqual(['PENDING', older.id]);
          return {
            ...{ name: input.lesson, query: REVIEW, variables: { id: newer.id, decision: 'REPLACE' } },
            async isDone() {
              const [before, after] = [(await get(older.id))!, (await get(newer.id))!];
              // The older one first: where the kill came in between, the reviewed one waits and the decision is made again.
              if (before.status === 'DEPRECATED') expect(before.supersededBy).toBe(newer.id);
              if (after.status === 'ACTIVE') expect(before.status).toBe('DEPRECATED');
              else expect(after).toMatchObject({ status: 'PENDING', mergeCandidate: { noteId: older.id } });
              return after.status === 'ACTIVE';
            },
          };
        },
      },
    ];

    /** True where the victim died at the order's write; false where it answered before it came to it. */
    async function killedAt(order: KillOrder, begin: () => Promise<Deed>): Promise<boolean> {
      const deed = await begin();
      orders.give({ ...order, pid: victim.pid });
      const answer = await victim.query(deed.query, deed.variables).catch(() => undefined);
      orders.withdraw();
      if (answer !== undefined) {
        expect(answer.errors).toBeUndefined();
        expect(await deed.isDone()).toBe(true);
        return false;
      }
      await victim.gone;
      await expectWhole(store, [witness]);
      const done = await deed.isDone();
      if (order.commit !== undefined) expect(done).toBe(true);
      // Whoever had no answer asks again, here the other process. What was done is refused or nothing new.
      const again = await witness.query(deed.query, deed.variables);
      if (!done) expect(again.errors).toBeUndefined();
      expect(await deed.isDone()).toBe(true);
      victim = await startServer();
      await expectWhole(store, [witness, victim]);
      for (const server of [witness, victim]) {
        const { candidates } = (await server.query(FOUND, { query: deed.name })).data.retrieve;
        expect(candidates.length).toBeGreaterThan(0);
      }
      return true;
    }

    for (const { title: what, begin } of deeds) {
      it(`of ${what}, before any of its writes: all of it or nothing`, { timeout: 900_000 }, async () => {
        let write = 1;
        // Inside one transaction every moment is like the others.
        while (await killedAt({ write }, begin)) write += hasTransactions ? 3 : 1;
        // Note, event, link and change entry at least.
        expect(write).toBeGreaterThan(4);
      });
    }

    // Without transactions there is no such moment: the last write takes the mark away that the others are complete.
    if (hasTransactions)
      it('of a submission that is committed and not answered: it stands', { timeout: 300_000 }, async () => {
        expect(await killedAt({ commit: 1 }, deeds[0]!.begin)).toBe(true);
      });
  });
}
