import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FeedbackNote, IMPACTS, NOTE_STATUSES } from '../../../src/domain/note.js';
import type { NamespaceScope, NoteFilter, NoteOrder, PageRequest } from '../../../src/ports/note-store.js';
import { type StoreTraits, useFixture } from './fixture.js';
import { naiveCount, naiveKeyset, naivePage } from './naive-list.js';
import { at, entry, insertOne, noteId } from './sample-notes.js';

const ORDERS: readonly NoteOrder[] = ['CREATED_DESC', 'CREATED_ASC', 'UPDATED_DESC', 'RISK_DESC'];
const NAMESPACES = ['acme', 'umbra', 'zeta'];
const TASK_TYPES = ['code-review', 'moderation'];
const WORDS = ['Netty', 'ΟΔΟΣ', 'Straße', '100%_sure', 'İstanbul', 'a*b(c)'];

// Few values and few instants: ties and filters that match some come up often.
const noteParts = fc
  .record({
    namespace: fc.constantFrom(...NAMESPACES),
    taskType: fc.constantFrom(...TASK_TYPES),
    status: fc.constantFrom(...NOTE_STATUSES),
    impact: fc.constantFrom(...IMPACTS),
    createdAt: fc.integer({ min: 0, max: 5 }).map(at),
    updatedAt: fc.integer({ min: 0, max: 5 }).map(at),
    attributes: fc.dictionary(fc.constantFrom('repo', 'rule'), fc.constantFrom('x', 'y'), { maxKeys: 2 }),
    lesson: fc.constantFrom(...WORDS),
    correction: fc.constantFrom(...WORDS),
    sources: fc.array(
      fc
        .constantFrom('ada', 'bob', undefined)
        .map((author) => ({ kind: 'review', run: 'r1', ...(author && { author }) })),
      { maxLength: 3 },
    ),
    anchors: fc.constantFrom(
      undefined,
      [{ kind: 'FILE' as const, ref: 'a.ts', state: '1' }],
      [{ kind: 'RULE' as const, ref: 'CWE-89', state: '2', changedTo: '3' }],
    ),
    review: fc.option(
      fc
        .record({
          ...{ assignee: fc.constantFrom('ada', 'bob'), opened: fc.integer({ min: 0, max: 5 }) },
          due: fc.integer({ min: 0, max: 5 }),
        })
        .map(({ assignee, opened, due }) => ({
          ...{ cause: 'impact' as const, openedAt: at(opened), dueAt: at(due), required: 1, byOthers: false },
          ...{ submittedBy: 'eve', assignee, approvals: [], escalations: 0 },
        })),
      { nil: undefined },
    ),
  })
  .map(({ anchors, review, ...rest }) => ({
    ...rest,
    ...(anchors && { anchors }),
    ...(review && { review }),
  }));
const filters: fc.Arbitrary<NoteFilter> = fc.record(
  {
    taskTypes: fc.subarray(TASK_TYPES),
    statuses: fc.subarray([...NOTE_STATUSES]),
    impact: fc.constantFrom(...IMPACTS),
    author: fc.constantFrom('ada', 'bob', 'eve'),
    source: fc.constantFrom({ author: 'ada', run: 'r1' }, { run: 'r1' }, { author: 'bob', run: 'r2' }),
    text: fc.constantFrom('NETTY', 'οδος', 'STRASSE', '0%_', '%', 'istanbul', '*B(', 'missing'),
    attributes: fc.dictionary(fc.constantFrom('repo', 'rule'), fc.constantFrom('x', 'y'), { maxKeys: 2 }),
    anchor: fc.constantFrom({ kind: 'FILE' as const, ref: 'a.ts' }, { kind: 'RULE' as const, ref: 'CWE-89' }),
    assignee: fc.constantFrom('ada', 'eve'),
    dueBefore: fc.integer({ min: 0, max: 6 }).map(at),
    createdFrom: fc.integer({ min: 0, max: 5 }).map(at),
    createdTo: fc.integer({ min: 0, max: 6 }).map(at),
  },
  { requiredKeys: [] },
);
const queries = fc.record({
  scope: fc.oneof(fc.constant<NamespaceScope>('all'), fc.subarray(NAMESPACES)),
  // Half of the queries filter nothing, so that long lists are paged through as well.
  filter: fc.oneof(fc.constant<NoteFilter>({}), filters),
  order: fc.constantFrom(...ORDERS),
  limit: fc.integer({ min: 1, max: 30 }),
  after: fc.option(fc.nat(), { nil: undefined }),
  before: fc.option(fc.nat(), { nil: undefined }),
  backwards: fc.boolean(),
});

/** Order, filters, pages. */
export function describeLists(traits: StoreTraits): void {
  describe('lists', () => {
    const fixture = useFixture(traits);
    const notes = () => fixture().store.notes;

    it('answers every query as a plain array does', { timeout: 120_000 }, async () => {
      const parts = fc.sample(noteParts, { numRuns: 80, seed: 20_260_131 });
      const outcomes = await notes().insert(parts.map((more, i) => entry(`note ${i}`, more)));
      const all = outcomes.flatMap(({ note }) => note ?? []);
      expect(all).toHaveLength(80);
      await fc.assert(
        fc.asyncProperty(queries, async ({ scope, order, limit, after, before, backwards, ...query }) => {
          const { filter } = query;
          const position = (pick: number | undefined) =>
            pick === undefined ? undefined : naiveKeyset(all[pick % all.length]!, order);
          const page: PageRequest = { limit, after: position(after), before: position(before), backwards };
          expect(await notes().list(scope, filter, order, page)).toEqual(
            naivePage(all, scope, filter, order, page),
          );
          expect(await notes().count(scope, filter)).toBe(naiveCount(all, scope, filter));
        }),
        { numRuns: 200 },
      );
    });

    it.each(ORDERS)('pages through %s in both directions while notes are added', async (order) => {
      const labels = Array.from({ length: 23 }, (_, i) => `note ${i}`);
      const parts = fc.sample(noteParts, { numRuns: labels.length, seed: 7 });
      await notes().insert(labels.map((label, i) => entry(label, { ...parts[i], namespace: 'acme' })));
      const original = new Set(labels.map(noteId));
      for (const backwards of [false, true]) {
        const seen: string[] = [];
        let position: Partial<PageRequest> = {};
        for (let i = 0; ; i += 1) {
          const page = await notes().list(['acme'], {}, order, { limit: 4, backwards, ...position });
          const ids = page.items.map((note) => note.id);
          seen.push(...(backwards ? ids.reverse() : ids));
          const edge = backwards ? page.keysets[0] : page.keysets.at(-1);
          if (!(backwards ? page.hasPrevious : page.hasNext) || edge === undefined) break;
          position = backwards ? { before: edge } : { after: edge };
          await insertOne(notes(), `added ${order} ${backwards} ${i}`, {
            createdAt: at(i % 6),
            updatedAt: at(i % 6),
          });
        }
        expect(new Set(seen).size).toBe(seen.length);
        expect(new Set(seen.filter((id) => original.has(id)))).toEqual(original);
      }
    });

    it('keeps scopes apart and treats an empty one as nothing', async () => {
      await notes().insert([entry('a'), entry('b', { namespace: 'umbra' })]);
      const ids = async (scope: NamespaceScope) =>
        (await notes().list(scope, {}, 'CREATED_ASC', { limit: 9 })).items.map(
          (note: FeedbackNote) => note.id,
        );
      expect(await ids(['acme'])).toEqual([noteId('a')]);
      expect(await ids(['umbra', 'umbra'])).toEqual([noteId('b')]);
      expect(await ids([])).toEqual([]);
      expect(await notes().count([], {})).toBe(0);
      expect(await notes().count(['nobody'], {})).toBe(0);
      expect(await ids('all')).toEqual(['a', 'b'].map(noteId).sort());
    });

    it('counts by status within the scope', async () => {
      await notes().insert([
        entry('a'),
        entry('b', { status: 'PENDING' }),
        entry('c', { status: 'QUARANTINED', taskType: 'moderation' }),
        entry('d', { status: 'DEPRECATED', namespace: 'umbra' }),
        entry('e'),
      ]);
      const acme = [
        { namespace: 'acme', taskType: 'code-review', active: 2, pending: 1, deprecated: 0, quarantined: 0 },
        { namespace: 'acme', taskType: 'moderation', active: 0, pending: 0, deprecated: 0, quarantined: 1 },
      ];
      const umbra = {
        namespace: 'umbra',
        taskType: 'code-review',
        active: 0,
        pending: 0,
        deprecated: 1,
        quarantined: 0,
      };
      expect(await notes().statusCounts(['acme'])).toEqual(acme);
      expect(await notes().statusCounts('all')).toEqual([...acme, umbra]);
      expect(await notes().statusCounts([])).toEqual([]);
    });

    it('refuses positions of another shape and limits below 1', async () => {
      const bad: PageRequest['after'][] = [[], ['x'], [at(0), 1], [0, at(0), 'id'], [at(0), 'id', 'more']];
      for (const after of bad) {
        const page = notes().list('all', {}, 'CREATED_ASC', { limit: 1, after });
        await expect(page).rejects.toMatchObject({ code: 'INVALID_CURSOR' });
      }
      const page = notes().list('all', {}, 'CREATED_ASC', { limit: 0 });
      await expect(page).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    });
  });
}
