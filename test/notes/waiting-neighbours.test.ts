import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FeedbackNote } from '../../src/domain/note.js';
import type { NoteStore } from '../../src/ports/note-store.js';
import type { CorrectionInput } from '../../src/ports/use-cases.js';
import { BOB } from '../doubles/review-acts.js';
import { STORE_BACKENDS, titleOf } from '../doubles/store-backends.js';
import { correction, openWritePath, REVIEWER, type WritePath } from '../doubles/write-path.js';

const namespace = 'team';
const text = 'Sequential awaits are right where every step depends on the one before it in schema migrations';
const lesson = (taskType: string, words: string, more: object = {}): CorrectionInput =>
  correction({ taskType, wrongAnswer: 'w', correction: 'c', lesson: words, ...more });
const high = (taskType: string, words: string, more: object = {}) =>
  lesson(taskType, words, { impact: 'HIGH', ...more });
const bobs = { source: { kind: 'review', author: 'bob' } };

type Write = readonly [NoteStore, 'insert' | 'update'];

function gate() {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((open) => {
    resolve = open;
  });
  return { promise, resolve: () => resolve() };
}

/** Holds the first such write of each store until all have come, and then lets them happen in the order given. */
function inOrder(writes: readonly Write[]): () => void {
  const arrived = writes.map(() => gate());
  const done = writes.map(() => gate());
  const undo = writes.map(([notes, method], index) => {
    const original = notes[method].bind(notes) as (entry: never) => Promise<never>;
    let first = true;
    Object.assign(notes, {
      [method]: async (entry: never) => {
        if (!first) return original(entry);
        first = false;
        arrived[index]!.resolve();
        await Promise.all(arrived.map(({ promise }) => promise));
        await done[index - 1]?.promise;
        return original(entry).finally(() => done[index]!.resolve());
      },
    });
    return () => Object.assign(notes, { [method]: original });
  });
  return () => {
    for (const back of undo) back();
  };
}

for (const backend of STORE_BACKENDS) {
  describe.skipIf(backend.skip !== undefined)(`notes that wait, over ${titleOf(backend)}`, () => {
    let folder: string;
    let close: () => Promise<void>;
    /** Two write paths on one database: separate locks and separate indexes, as two processes have them. */
    let paths: readonly [WritePath, WritePath];
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'errata-waiting-'));
      const opened = await backend.open(folder);
      close = opened.close;
      paths = [
        await openWritePath({ store: await opened.connect(), path: folder }),
        await openWritePath({ store: await opened.connect(), path: folder }),
      ];
    }, 60_000);
    afterAll(async () => {
      for (const path of paths ?? []) await path.close();
      await close?.();
      rmSync(folder, { recursive: true, force: true });
    });

    const notes = (which: 0 | 1) => paths[which].store.notes;
    const submit = (which: 0 | 1, input: CorrectionInput) => paths[which].commands.submit(REVIEWER, input);
    const decide = (which: 0 | 1, id: string, decision: 'APPROVE' | 'MERGE', edit?: CorrectionInput) =>
      paths[which].commands.review(BOB, { namespace, id, decision, edit });
    const inService = async (taskType: string): Promise<readonly FeedbackNote[]> => {
      const filter = { taskTypes: [taskType], statuses: ['ACTIVE' as const, 'PENDING' as const] };
      return (await notes(0).list([namespace], filter, 'CREATED_ASC', { limit: 10 })).items;
    };
    const proposals = async (taskType: string) =>
      (await inService(taskType)).filter(({ mergeCandidate }) => mergeCandidate !== undefined);
    async function atOnce<T>(writes: readonly Write[], work: readonly (() => Promise<T>)[]): Promise<T[]> {
      const release = inOrder(writes);
      try {
        return await Promise.all(work.map((start) => start()));
      } finally {
        release();
      }
    }

    it('are shown beside each other where they say the same or the opposite, and only then', async () => {
      for (const [taskType, other] of [
        ['wait/same', `${text} then`],
        ['wait/words', text.replace('right', 'correct').replace('every', 'each')],
        ['wait/opposite', `${text} never`],
      ] as const) {
        const { note: first } = await submit(
          0,
          high(taskType, `${text}${taskType.endsWith('opposite') ? ' always' : ''}`),
        );
        const second = await submit(1, high(taskType, other, bobs));
        expect(second).toMatchObject({
          outcome: 'MERGE_PROPOSED',
          note: { status: 'PENDING', mergeCandidate: { noteId: first!.id, waiting: true } },
        });
        expect((await proposals(taskType)).map(({ id }) => id)).toEqual([second.note!.id]);
      }
      await submit(0, high('wait/facts', `${text} within 30 days`));
      const facts = await submit(0, high('wait/facts', `${text} within 60 days`));
      expect(facts.outcome).toBe('NEEDS_REVIEW');
      const batch = [high('wait/batch', text), high('wait/batch', `${text} then`)];
      const results = await paths[0].commands.submitMany(REVIEWER, batch);
      expect(results.map(({ outcome }) => outcome)).toEqual(['NEEDS_REVIEW', 'MERGE_PROPOSED']);
    });

    it('can be merged into one that waits, which waits on with both sources', async () => {
      const { note: first } = await submit(0, high('wait/merge', text));
      const { note: second } = await submit(0, high('wait/merge', `${text} then`, bobs));
      expect(await decide(0, second!.id, 'MERGE')).toMatchObject({
        status: 'DEPRECATED',
        supersededBy: first!.id,
      });
      expect(await inService('wait/merge')).toMatchObject([
        { id: first!.id, status: 'PENDING', supportCount: 2 },
      ]);
    });

    it('are shown once more where the other one is live by now', async () => {
      const { note: first } = await submit(0, high('wait/live', text));
      const { note: second } = await submit(0, high('wait/live', `${text} then`, bobs));
      await decide(0, first!.id, 'APPROVE');
      const shown = await decide(0, second!.id, 'APPROVE');
      expect(shown.status).toBe('PENDING');
      expect(shown.mergeCandidate).toEqual({ noteId: first!.id, similarity: expect.any(Number) });
    });

    it('end as one proposal where two processes submit them at once', async () => {
      for (const [taskType, a, b] of [
        ['race/same', text, `${text} then`],
        ['race/opposite', `${text} always`, `${text} never`],
      ] as const) {
        const results = await atOnce(
          [
            [notes(0), 'insert'],
            [notes(1), 'insert'],
          ],
          [() => submit(0, high(taskType, a)), () => submit(1, high(taskType, b, bobs))],
        );
        expect(results.map(({ outcome }) => outcome)).toEqual(['NEEDS_REVIEW', 'MERGE_PROPOSED']);
        const [earlier, later] = results.map(({ note }) => note!.id);
        expect(await proposals(taskType)).toMatchObject([{ id: later, mergeCandidate: { noteId: earlier } }]);
      }
    });

    it('end as one proposal where two processes edit them into the same at once', async () => {
      const taskType = 'race/edits';
      const { note: a } = await submit(0, high(taskType, 'Close every file handle before renaming'));
      const { note: b } = await submit(0, high(taskType, 'Prefer integers of cents for all money'));
      const edited = await atOnce(
        [
          [notes(0), 'insert'],
          [notes(1), 'insert'],
        ],
        [
          () => decide(0, a!.id, 'APPROVE', high(taskType, text)),
          () => decide(1, b!.id, 'APPROVE', high(taskType, `${text} then`)),
        ],
      );
      expect(edited.map(({ status }) => status)).toEqual(['ACTIVE', 'ACTIVE']);
      expect(await proposals(taskType)).toMatchObject([
        { id: edited[1]!.id, mergeCandidate: { noteId: edited[0]!.id } },
      ]);
    });

    it('end as one note or one proposal where one process approves in bulk and another submits', async () => {
      const approve = async (which: 0 | 1, id: string) => {
        const request = { namespace, ids: [id], decision: 'APPROVE' as const };
        return (await paths[which].review.decideMany(BOB, request))[0]!;
      };
      const approvedFirst = (await submit(0, high('bulk/first', text))).note!;
      const [, duplicate] = await atOnce<object>(
        [
          [notes(0), 'update'],
          [notes(1), 'insert'],
        ],
        [() => approve(0, approvedFirst.id), () => submit(1, lesson('bulk/first', `${text} then`, bobs))],
      );
      expect(duplicate).toMatchObject({ outcome: 'DUPLICATE', duplicateOf: { id: approvedFirst.id } });
      expect(await inService('bulk/first')).toMatchObject([{ status: 'ACTIVE', supportCount: 2 }]);

      const approvedLast = (await submit(0, high('bulk/last', text))).note!;
      const [submitted, approved] = await atOnce<object>(
        [
          [notes(1), 'insert'],
          [notes(0), 'update'],
        ],
        [() => submit(1, lesson('bulk/last', `${text} then`, bobs)), () => approve(0, approvedLast.id)],
      );
      expect(submitted).toMatchObject({ outcome: 'CREATED' });
      expect(approved).toMatchObject({ note: { id: approvedLast.id, status: 'ACTIVE' } });
      expect(await proposals('bulk/last')).toMatchObject([{ id: approvedLast.id }]);

      const reversed = (await submit(0, high('bulk/turned', `${text} always`))).note!;
      const [, turned] = await atOnce<object>(
        [
          [notes(1), 'insert'],
          [notes(0), 'update'],
        ],
        [() => submit(1, lesson('bulk/turned', `${text} never`)), () => approve(0, reversed.id)],
      );
      // A reversal that nobody has seen waits for another word.
      expect(turned).toMatchObject({ note: { status: 'PENDING', review: { cause: 'contradiction' } } });
    });

    it('end as one proposal where two processes approve two of them at once', async () => {
      const taskType = 'bulk/both';
      const a = (await submit(0, high(taskType, text))).note!;
      const b = (await submit(1, high(taskType, `${text} then`, bobs))).note!;
      const both = await atOnce(
        [
          [notes(0), 'update'],
          [notes(1), 'update'],
        ],
        [() => decide(0, a.id, 'APPROVE'), () => decide(1, b.id, 'APPROVE')],
      );
      expect(both.map(({ status }) => status)).toEqual(['ACTIVE', 'ACTIVE']);
      expect(await proposals(taskType)).toMatchObject([{ id: b.id, mergeCandidate: { noteId: a.id } }]);
    });
  });
}
