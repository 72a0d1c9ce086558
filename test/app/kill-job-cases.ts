import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { Job, JobKind } from '../../src/domain/job.js';
import type { FeedbackNote } from '../../src/domain/note.js';
import { heldModels } from '../../src/domain/served-model.js';
import { goldenSetting } from '../../src/evaluation/golden-versions.js';
import { readServedModel } from '../../src/jobs/model-switch.js';
import { withoutStoreFields } from '../../src/notes/change-note.js';
import type { NoteUpdate, Store } from '../../src/ports/note-store.js';
import type { ServerProcess } from './dist-process.js';
import { type KillOrder, TINY_MODEL } from './kill-orders.js';

/** What a case has to do with: the installation while its servers run. */
export interface Ground {
  readonly store: Store;
  readonly server: ServerProcess;
  /** Stored notes of the default namespace. */
  readonly notes: number;
  /** Stores fresh notes in a namespace of its own. */
  submit(namespace: string, count: number): Promise<readonly FeedbackNote[]>;
}

export interface Prepared {
  readonly namespace?: string;
  readonly options?: Job['options'];
  /** Whether the job did all of its work, and nothing of it twice. */
  check(ended: Job): Promise<void>;
}

export interface KillCase {
  readonly kind: JobKind;
  readonly title?: string;
  /** In the middle, and where all is done but not yet said. */
  readonly kills: readonly Omit<KillOrder, 'job'>[];
  prepare(ground: Ground): Promise<Prepared>;
}

/** A job embeds this many notes between two checkpoints: what a kill can make it do again. */
const BATCH = 128;
const STARTER = 'starter';
const DONE: Omit<KillOrder, 'job'> = { end: true };

const eventsOf = (store: Store, actor: string): Promise<number> => store.audit.count('all', { actor });
const modelOf = async (server: ServerProcess): Promise<string> =>
  (await server.query('{ stats { embeddingModel } }')).data.stats.embeddingModel;

function change(
  store: Store,
  note: FeedbackNote,
  update: Omit<NoteUpdate, 'note' | 'expectedVersion' | 'audit'>,
  set = {},
) {
  const at = new Date().toISOString();
  const audit = { at, actor: 'test', action: 'updated', changes: [] };
  const changed = { ...withoutStoreFields(note), ...set };
  return store.notes.update({ note: changed, expectedVersion: note.version, audit, ...update });
}

/** Judged queries and, for a calibration, some that nothing answers. */
async function saveGolden(
  store: Store,
  namespace: string,
  notes: readonly FeedbackNote[],
  none: number,
): Promise<void> {
  const judged = notes.map(({ id, lesson }, i) => ({
    ...{ id: `q${i}`, kind: 'paraphrase', query: `${lesson} Or not?`, expected: [{ key: id, grade: 3 }] },
  }));
  const unanswerable = Array.from({ length: none }, (_, i) => ({
    ...{ id: `n${i}`, kind: 'none', query: `Weather report ${i} for the coast`, expected: [] },
  }));
  const lines = [...judged, ...unanswerable].map((query) => JSON.stringify(query));
  await store.settings.put(goldenSetting(namespace), lines.join('\n'));
}

async function switching(
  ground: Ground,
  options: Job['options'],
  expected: { readonly to: string; readonly from: string },
): Promise<Prepared> {
  const { store } = ground;
  const before = await eventsOf(store, 'job:MODEL_SWITCH');
  return {
    options,
    async check(ended) {
      expect(ended.message).toBe(`switched from ${expected.from} to ${expected.to}`);
      expect((await eventsOf(store, 'job:MODEL_SWITCH')) - before).toBe(1);
      const served = await readServedModel(store);
      expect(served).toMatchObject({ name: expected.to, previous: { name: expected.from } });
      const { modelId = '' } = served ?? {};
      const without = await store.notes.scanWithoutModel(modelId, undefined, undefined, 1_000);
      expect(without.filter(({ lesson }) => lesson !== '[ERASED]')).toEqual([]);
      await expect.poll(() => modelOf(ground.server), { timeout: 120_000 }).toBe(modelId);
    },
  };
}

/** Every kind that needs no key. `MODEL_SWITCH` and `VECTOR_DROP` stand in the order in which each finds what it needs. */
export const KILL_CASES: readonly KillCase[] = [
  {
    kind: 'BACKFILL',
    kills: [{ write: 120 }, DONE],
    async prepare(ground) {
      const { store, submit } = ground;
      const namespace = `backfill-${randomUUID().slice(0, 8)}`;
      for (const note of await submit(namespace, 40)) await change(store, note, { vectors: null });
      const before = await eventsOf(store, 'job:BACKFILL');
      return {
        namespace,
        async check({ message, done }) {
          // Counted at each checkpoint: what the killed process had written since the last one is done, but not counted.
          expect(done).toBeGreaterThan(20);
          expect(done).toBeLessThanOrEqual(40);
          expect(message).toBe(`${done} notes embedded with ${await modelOf(ground.server)}`);
          // Those that had vectors at the kill were left alone.
          expect((await eventsOf(store, 'job:BACKFILL')) - before).toBe(40);
          const versions = await store.notes.versions(undefined, 1_000_000);
          const ids = versions.filter((one) => one.namespace === namespace).map(({ id }) => id);
          expect((await store.notes.getVectors(namespace, ids)).size).toBe(40);
        },
      };
    },
  },
  {
    kind: 'REEMBED',
    kills: [{ write: 960 }, DONE],
    async prepare({ store, notes }) {
      const before = await eventsOf(store, 'job:REEMBED');
      return {
        namespace: 'default',
        async check({ message, done }) {
          // From the cursor on: at most one batch was done again, and none was left out.
          expect(done).toBe(notes);
          expect(message).toMatch(new RegExp(`^${notes} notes embedded with starter@`, 'u'));
          const events = (await eventsOf(store, 'job:REEMBED')) - before;
          expect(events).toBeGreaterThanOrEqual(notes);
          expect(events).toBeLessThanOrEqual(notes + BATCH);
        },
      };
    },
  },
  {
    kind: 'STALENESS_SWEEP',
    kills: [{ write: 80 }, DONE],
    async prepare({ store, submit }) {
      const namespace = `sweep-${randomUUID().slice(0, 8)}`;
      const expiresAt = '2020-01-01T00:00:00.000Z';
      const reviewAfter = expiresAt;
      for (const [i, note] of (await submit(namespace, 30)).entries())
        await change(store, note, {}, i % 2 === 0 ? { expiresAt } : { reviewAfter });
      const before = await eventsOf(store, 'job:STALENESS_SWEEP');
      return {
        namespace,
        async check({ message }) {
          const [, expired, due] =
            /^(?:29|30) notes seen: (\d+) expired, (\d+) due for review, 0 escalated, 0 given up$/u.exec(
              message ?? '',
            ) ?? [];
          // Where a write is not one transaction, the event of the note that the kill met is added seconds later, and is not counted.
          const counted = Number(expired) + Number(due);
          expect(counted, message).toBeLessThanOrEqual(30);
          expect(counted, message).toBeGreaterThanOrEqual(29);
          const events = async () => (await eventsOf(store, 'job:STALENESS_SWEEP')) - before;
          await expect.poll(events, { timeout: 60_000, interval: 200 }).toBe(30);
          const count = (status: 'DEPRECATED' | 'PENDING') =>
            store.notes.count([namespace], { statuses: [status] });
          expect([await count('DEPRECATED'), await count('PENDING')]).toEqual([15, 15]);
        },
      };
    },
  },
  {
    kind: 'COMPACTION',
    kills: [{ write: 2 }, DONE],
    async prepare({ store, server }) {
      const asked = await server.query('{ retrieve(input: { query: "read_1" }) { id } }');
      const receipt = (await store.receipts.get(asked.data.retrieve.id))!;
      const old = Array.from({ length: 20 }, () => ({
        ...receipt,
        id: randomUUID(),
        createdAt: '2020-01-01T00:00:00.000Z',
      }));
      for (const one of old) await store.receipts.put(one);
      return {
        async check({ message }) {
          expect(message).toMatch(/receipts freed$/u);
          for (const { id } of old) expect(await store.receipts.get(id)).toBeUndefined();
          expect(await store.receipts.get(receipt.id)).toEqual(receipt);
        },
      };
    },
  },
  {
    kind: 'EVALUATION',
    kills: [{ write: 9 }, DONE],
    async prepare({ store, submit }) {
      const namespace = `evaluated-${randomUUID().slice(0, 8)}`;
      await saveGolden(store, namespace, await submit(namespace, 16), 0);
      return {
        namespace,
        async check({ message, id }) {
          expect(message).toMatch(/over 16 queries$/u);
          const runs = await store.settings.get(`evaluation-runs:${namespace}`);
          expect(JSON.parse(runs ?? '[]')).toMatchObject([{ id, queries: 16 }]);
        },
      };
    },
  },
  {
    kind: 'CALIBRATION',
    kills: [{ write: 3 }, DONE],
    async prepare({ store, submit }) {
      const namespace = `calibrated-${randomUUID().slice(0, 8)}`;
      await saveGolden(store, namespace, await submit(namespace, 4), 40);
      return {
        namespace,
        async check({ message }) {
          expect(message).toMatch(/threshold .* pass/u);
          const { items } = await store.audit.list([namespace], { actor: 'job:CALIBRATION' }, { limit: 9 });
          expect(items.map(({ action }) => action)).toEqual(['calibrated']);
        },
      };
    },
  },
  {
    kind: 'ERASURE',
    kills: [{ write: 40 }, DONE],
    async prepare({ store, submit }) {
      const namespace = `erased-${randomUUID().slice(0, 8)}`;
      const notes = await submit(namespace, 12);
      return {
        namespace,
        options: { ids: notes.map(({ id }) => id).join(' '), reason: 'asked for' },
        async check({ message, done }) {
          expect([message, done]).toEqual(['12 notes erased', 12]);
          const left = await store.notes.getMany(
            namespace,
            notes.map(({ id }) => id),
          );
          expect(left.map(({ lesson, version }) => [lesson, version])).toEqual(
            notes.map(() => ['[ERASED]', 2]),
          );
          expect(
            (
              await store.notes.getVectors(
                namespace,
                notes.map(({ id }) => id),
              )
            ).size,
          ).toBe(0);
        },
      };
    },
  },
  {
    kind: 'MODEL_SWITCH',
    title: 'MODEL_SWITCH, to a second model',
    kills: [{ write: 40 }],
    prepare: (ground) =>
      switching(ground, { model: TINY_MODEL, force: 'true' }, { from: STARTER, to: TINY_MODEL }),
  },
  {
    // Behind the switch itself: done once more it would be taken back.
    kind: 'MODEL_SWITCH',
    title: 'MODEL_SWITCH, back to the model before',
    kills: [{ setting: 'served-model' }],
    prepare: (ground) => switching(ground, { rollback: 'true' }, { from: TINY_MODEL, to: STARTER }),
  },
  {
    kind: 'VECTOR_DROP',
    kills: [{ setting: 'served-model' }],
    async prepare({ store }) {
      const served = (await readServedModel(store))!;
      const [held] = heldModels(served);
      return {
        options: { model: TINY_MODEL },
        async check({ message }) {
          const total = await store.notes.count('all', {});
          expect(held?.name).toBe(TINY_MODEL);
          expect(message).toMatch(/^vectors of \d+ notes dropped$/u);
          const without = await store.notes.scanWithoutModel(
            held?.modelId ?? '',
            undefined,
            undefined,
            total + 1,
          );
          const erased = await store.notes.count('all', { text: '[ERASED]' });
          expect(without.length).toBeGreaterThanOrEqual(total - erased);
          expect(heldModels((await readServedModel(store))!)).toEqual([]);
          const events = await store.audit.list('all', { actor: 'job:VECTOR_DROP' }, { limit: 9 });
          expect(events.items.map(({ action }) => action)).toEqual(['vectors-dropped']);
        },
      };
    },
  },
];
