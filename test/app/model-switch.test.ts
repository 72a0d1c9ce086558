import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createMongoStore } from '../../src/adapters/mongo/create-mongo-store.js';
import { createSqliteStore } from '../../src/adapters/sqlite/create-sqlite-store.js';
import type { Job, JobKind } from '../../src/domain/job.js';
import { goldenSetting } from '../../src/evaluation/golden-versions.js';
import { modelSwitchHandler, readServedModel } from '../../src/jobs/model-switch.js';
import type { Embedder, Embedding } from '../../src/ports/embedder.js';
import type { Store } from '../../src/ports/note-store.js';
import { openWordApp, type WordApp, wordEngines } from '../doubles/word-app.js';
import { WordEmbedder } from '../doubles/word-embedder.js';
import { ADMIN, correction } from '../doubles/write-path.js';
import { type Peer, peerAvailable, startMongoJavaServer } from '../peers/start-peer.js';

/** Knows nothing: every text has a direction of its own. */
class NoiseEmbedder extends WordEmbedder {
  override async embed(
    texts: readonly string[],
    options: Parameters<WordEmbedder['embed']>[1],
  ): Promise<readonly Embedding[]> {
    const marked = texts.map((text) => `${options.kind}${Buffer.from(text).toString('hex')}`);
    return super.embed(marked, options);
  }
}

const openEngines = async (name: string) => {
  const embedder = name === 'noise' ? new NoiseEmbedder(name) : new WordEmbedder(name);
  return wordEngines(embedder);
};

const NOTES = 150;
const lessonOf = (index: number): string =>
  `Rule ${index * 7919} of module m${index} wants guard g${index * 31}`;
const inputs = Array.from({ length: NOTES }, (_, index) => {
  const lesson = lessonOf(index);
  return correction({
    lesson,
    wrongAnswer: `m${index} is unguarded`,
    correction: `m${index} has g${index * 31}`,
  });
});

interface Backend {
  readonly name: string;
  readonly skip: string | undefined;
  open(folder: string): Promise<{ connect(): Promise<Store>; close(): Promise<void> }>;
}
const backends: readonly Backend[] = [
  {
    name: 'SQLite',
    skip: undefined,
    open: async (folder) => ({
      connect: () => createSqliteStore({ path: join(folder, 'errata.sqlite') }),
      close: async () => undefined,
    }),
  },
  {
    name: 'MongoDB (mongo-java-server)',
    skip: await peerAvailable('mongo-java-server'),
    open: async () => {
      const peer: Peer = await startMongoJavaServer();
      return { connect: () => createMongoStore({ uri: `${peer.uri}/errata` }), close: () => peer.stop() };
    },
  },
];

for (const { name, skip, open } of backends) {
  const title = skip === undefined ? name : `${name} (skipped: ${skip})`;
  describe.skipIf(skip !== undefined)(`changing the model of two processes over ${title}`, () => {
    let folder: string;
    let backend: Awaited<ReturnType<Backend['open']>>;
    let apps: readonly [WordApp, WordApp];
    let stores: readonly [Store, Store];
    const served = async (app: WordApp) => (await app.app.useCases.stats('all')).embeddingModel;
    const runJob = async (options: Record<string, string>, kind: JobKind = 'MODEL_SWITCH'): Promise<Job> => {
      const { jobs } = apps[0].app.useCases;
      const { id } = await jobs.start(ADMIN, kind, undefined, options);
      let last: Job | undefined;
      for await (const job of jobs.progress(id)) last = job;
      for (const { app } of apps) await app.followModel();
      return last!;
    };
    /** Every note is the nearest one to its own lesson, in both processes: impossible with vectors of two models. */
    const expectAllFound = async (indices: readonly number[]): Promise<void> => {
      for (const { app } of apps) {
        for (const index of indices) {
          const answer = await app.useCases.retrieval.retrieve(ADMIN, {
            namespace: 'team',
            query: lessonOf(index),
          });
          expect(answer.candidates[0]?.note.lesson).toBe(lessonOf(index));
          expect(answer.candidates[0]?.vectorScore).toBeGreaterThan(0.8);
        }
      }
    };

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'errata-switch-'));
      backend = await open(folder);
      stores = [await backend.connect(), await backend.connect()];
      const settings = { modelSettleMs: 200 };
      apps = [
        await openWordApp({ store: stores[0], runJobs: true, openEngines, settings }),
        await openWordApp({ store: stores[1], openEngines, settings }),
      ];
      const results = await apps[0].app.useCases.commands.submitMany(ADMIN, inputs);
      expect(results.map(({ outcome }) => outcome)).toEqual(inputs.map(() => 'CREATED'));
      // The second process hears of the notes a moment later.
      for (const { app } of apps) await app.retrieveDeps.follower.catchUp();
      const golden = results.slice(0, 40).map(({ note }, index) =>
        JSON.stringify({
          id: `q${index}`,
          kind: 'paraphrase',
          query: `module m${index} guard g${index * 31}`,
          expected: [{ key: note!.id, grade: 3 }],
        }),
      );
      await stores[0].settings.put(goldenSetting('team'), golden.join('\n'));
    }, 60_000);
    afterAll(async () => {
      for (const app of [...(apps ?? [])].reverse()) await app.close();
      for (const store of stores ?? []) await store.close();
      await backend?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    it('embeds, compares and changes over while both answer and write, without an error', {
      timeout: 60_000,
    }, async () => {
      let running = true;
      const models = new Set<string>();
      const failures: unknown[] = [];
      const written: string[] = [];
      const load = async ({ app }: WordApp, mark: string): Promise<void> => {
        for (let i = 0; running; i += 1) {
          try {
            const lesson = lessonOf((i * 13) % NOTES);
            const answer = await app.useCases.retrieval.retrieve(ADMIN, { namespace: 'team', query: lesson });
            models.add(answer.embeddingModel);
            if (answer.candidates[0]?.note.lesson !== lesson)
              failures.push(`${mark} ${i} found another note`);
            if (i % 5 === 0) {
              const fresh = `While changing ${mark}${i} wants x${i}${mark}`;
              const { note } = await app.useCases.commands.submit(ADMIN, correction({ lesson: fresh }));
              written.push(note!.id);
            }
          } catch (error) {
            failures.push(error);
          }
        }
      };
      const loads = [load(apps[0], 'a'), load(apps[1], 'b')];
      const job = await runJob({ model: 'words-b' });
      // On a busy machine the job may end while every loop still waits for an answer of before.
      await vi.waitFor(() => expect(models.size + failures.length).toBeGreaterThan(1), 20_000);
      running = false;
      await Promise.all(loads);
      expect(failures).toEqual([]);
      expect(job).toMatchObject({ state: 'SUCCEEDED' });
      expect(job.message).toMatch(
        /^switched from words to words-b: MRR \d\.\d{3} → \d\.\d{3}, difference .* over 40 queries$/u,
      );
      expect([...models].sort()).toEqual(['words-b@test', 'words@test']);
      expect(written.length).toBeGreaterThan(2);
      for (const app of apps) expect(await served(app)).toBe('words-b@test');
      expect(await readServedModel(stores[1])).toMatchObject({
        name: 'words-b',
        previous: { name: 'words', modelId: 'words@test' },
      });
      // What was written while the model changed is embedded by the new one, too.
      const active = await stores[0].notes.count('all', { statuses: ['ACTIVE'] });
      for (const { app } of apps) {
        await app.retrieveDeps.follower.catchUp();
        expect(app.retrieveDeps.vectorIndex.count()).toBe(active);
      }
      expect(await stores[0].notes.scanWithoutModel('words-b@test', undefined, undefined, 9)).toEqual([]);
      await expectAllFound([0, 41, 99, NOTES - 1]);
    });

    it('refuses a model that does worse, unless it is told to', { timeout: 60_000 }, async () => {
      const refused = await runJob({ model: 'noise' });
      expect(refused).toMatchObject({ state: 'FAILED' });
      expect(refused.message).toMatch(
        /^MODEL_REFUSED: Expected noise to lose surely less than 0\.02 of MRR/u,
      );
      for (const app of apps) expect(await served(app)).toBe('words-b@test');
      await expectAllFound([3]);
      const forced = await runJob({ model: 'noise', force: 'true' });
      expect(forced).toMatchObject({ state: 'SUCCEEDED', message: 'switched from words-b to noise' });
      for (const app of apps) expect(await served(app)).toBe('noise@test');
    });

    it('goes back to the model before, with what was written since', { timeout: 60_000 }, async () => {
      const lesson = 'Written with noise wants y77';
      const { note } = await apps[1].app.useCases.commands.submit(ADMIN, correction({ lesson }));
      expect(note?.embeddingModel).toBe('noise@test');
      expect(await runJob({ rollback: 'true' })).toMatchObject({ state: 'SUCCEEDED' });
      for (const { app } of apps) {
        expect((await app.useCases.stats('all')).embeddingModel).toBe('words-b@test');
        const answer = await app.useCases.retrieval.retrieve(ADMIN, { namespace: 'team', query: lesson });
        expect(answer.candidates[0]).toMatchObject({
          note: { id: note!.id },
          vectorScore: expect.any(Number),
        });
      }
      await expectAllFound([7, 140]);
      const events = await stores[0].audit.list('all', { actor: 'job:MODEL_SWITCH' }, { limit: 9 });
      expect(events.items.map(({ action }) => action)).toEqual(Array(3).fill('model-switched'));
    });

    it('drops the vectors of a model that nobody wants back, and never those in use', {
      timeout: 60_000,
    }, async () => {
      for (const model of ['words-b', 'words-b@test', 'unknown', '']) {
        expect((await runJob({ model }, 'VECTOR_DROP')).message).toMatch(/^INVALID_INPUT/u);
      }
      const total = await stores[0].notes.count('all', {});
      // Two models are behind: the first one, and the one that was forced.
      expect(await runJob({ model: 'words' }, 'VECTOR_DROP')).toMatchObject({ state: 'SUCCEEDED' });
      expect(await runJob({ model: 'noise' }, 'VECTOR_DROP')).toMatchObject({
        state: 'SUCCEEDED',
        message: `vectors of ${total} notes dropped`,
      });
      for (const gone of ['words@test', 'noise@test']) {
        expect(await stores[1].notes.scanWithoutModel(gone, undefined, undefined, 500)).toHaveLength(total);
      }
      await expectAllFound([2, 77]);
      expect((await runJob({ rollback: 'true' })).message).toMatch(
        /^INVALID_INPUT: Expected a model to go back to/u,
      );
      const { items } = await stores[0].audit.list('all', { actor: 'job:VECTOR_DROP' }, { limit: 9 });
      expect(items.map(({ action, changes }) => [action, changes])).toEqual([
        ['vectors-dropped', ['model: noise@test']],
        ['vectors-dropped', ['model: words@test']],
      ]);
    });

    it('goes on where a run was killed, without embedding again', { timeout: 60_000 }, async () => {
      const job: Job = {
        id: 'x',
        kind: 'MODEL_SWITCH',
        options: { model: 'words-c', force: 'true' },
        state: 'RUNNING',
        done: 0,
        createdAt: '2026-01-01T00:00:00.000Z',
        cancelRequested: false,
        fence: 1,
      };
      const shadows: Embedder[] = [];
      const deps = {
        store: stores[0],
        clock: apps[0].app.retrieveDeps.clock,
        serving: () => ({
          modelId: 'words-b@test',
          name: 'words-b',
          retrieval: apps[0].app.useCases.retrieval,
        }),
        openShadow: async (model: string) => {
          const engines = await openEngines(model);
          shadows.push(engines.embedder);
          return {
            embedder: engines.embedder,
            openIndex: async () => apps[0].app.useCases.retrieval,
            closeIndex: async () => undefined,
            close: () => engines.close(),
          };
        },
        settleMs: 1,
      };
      const signal = new AbortController().signal;
      const killed = modelSwitchHandler(deps)({
        job,
        signal,
        checkpoint: async () => Promise.reject(new Error('killed')),
      });
      await expect(killed).rejects.toThrow('killed');
      const first = shadows.at(-1)!.stats().embeddedTexts;
      expect(first).toBe(2 * 128);
      expect((await readServedModel(stores[0]))?.name).toBe('words-b');
      await modelSwitchHandler(deps)({ job, signal, checkpoint: async () => undefined });
      const total = await stores[0].notes.count('all', {});
      expect(shadows.at(-1)!.stats().embeddedTexts).toBe(2 * total - first);
      expect((await readServedModel(stores[0]))?.name).toBe('words-c');
    });

    it('wants a name, a model to go back to, and a golden set', async () => {
      for (const options of [{}, { model: '' }, { model: 'words', epsilon: '2' }] as Record<
        string,
        string
      >[]) {
        expect((await runJob(options)).message).toMatch(/^INVALID_INPUT/u);
      }
      await stores[0].settings.remove(goldenSetting('team'));
      expect((await runJob({ model: 'words' })).message).toMatch(
        /^MODEL_REFUSED: Expected a saved golden set/u,
      );
    });
  });
}
