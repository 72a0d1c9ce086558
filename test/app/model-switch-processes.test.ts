import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Job } from '../../src/domain/job.js';
import { goldenSetting } from '../../src/evaluation/golden-versions.js';
import { readServedModel } from '../../src/jobs/model-switch.js';
import type { Store } from '../../src/ports/note-store.js';
import { killLeftOver, type ServerProcess, startCommand, startServerProcess } from './dist-process.js';
import { TINY_MODEL } from './kill-orders.js';
import { BACKENDS, type OpenBackend } from './store-backends.js';
import { expectWhole } from './whole-store.js';

const NOTES = 60;
const THINGS = [
  'ledger',
  'parser',
  'socket',
  'cache',
  'index',
  'queue',
  'cursor',
  'lexer',
  'buffer',
  'mutex',
];
const FAULTS = [
  'rounds half up',
  'leaks its handle',
  'is called twice',
  'ignores the locale',
  'holds a lock',
  'drops a row',
];
const lessonOf = (index: number): string =>
  `The ${THINGS[index % 10]} of module ${index} never ${FAULTS[index % 6]}; look at version ${index * 3} first.`;
const correction = (lesson: string) => ({
  taskType: 'code-review',
  wrongAnswer: `Claimed the opposite: ${lesson}`,
  correction: lesson,
  lesson,
});
const SUBMIT =
  'mutation ($inputs: [CorrectionInput!]!) { submitCorrections(inputs: $inputs) { outcome note { id } } }';
const RETRIEVE = `query ($query: String!) { retrieve(input: { query: $query, threshold: 0 }) {
  embeddingModel candidates { note { lesson } } } }`;

for (const { title, skip, open } of BACKENDS) {
  describe.skipIf(skip !== undefined)(
    `changing between two real models, of two API processes over ${title}`,
    () => {
      let folder: string;
      let backend: OpenBackend;
      let servers: ServerProcess[];
      let store: Store;
      let golden = '';
      let running = true;
      const models = new Set<string>();
      const failures: unknown[] = [];
      let answers = 0;
      let loads: Promise<void>[] = [];

      async function load(server: ServerProcess, mark: string): Promise<void> {
        for (let i = 0; running; i += 1) {
          const lesson = lessonOf((i * 7) % NOTES);
          const answer = await server
            .query(RETRIEVE, { query: lesson })
            .catch((error: unknown) => ({ data: undefined, errors: [error] }));
          const { embeddingModel = '', candidates = [] } = answer.data?.retrieve ?? {};
          models.add(embeddingModel);
          // Its own words find a note with any model's vectors, unless two models' are mixed.
          const found = candidates.some(({ note }: { note: { lesson: string } }) => note.lesson === lesson);
          if (answer.errors !== undefined || !found) failures.push([mark, i, answer]);
          answers += 1;
          if (i % 9 !== 0) continue;
          const fresh = correction(
            `While changing, ${mark} wrote number ${i} about ${THINGS[i % 10]}_${mark}_${i}().`,
          );
          const stored = await server.query(SUBMIT, { inputs: [fresh] });
          if (stored.errors !== undefined) failures.push([mark, i, stored]);
        }
      }
      async function change(options: Readonly<Record<string, string>>): Promise<Job> {
        const before = answers;
        const { data } = await servers[1]!.query(
          'mutation ($o: [AttributeInput!]) { startJob(kind: MODEL_SWITCH, options: $o) { id } }',
          { o: Object.entries(options).map(([key, value]) => ({ key, value })) },
        );
        const job = () => store.jobs.get(data.startJob.id);
        await expect
          .poll(async () => (await job())?.finishedAt, { timeout: 600_000, interval: 100 })
          .toBeDefined();
        expect(answers).toBeGreaterThan(before);
        return (await job())!;
      }
      /** Every process answers with the model, by its own word. */
      async function expectServed(name: string): Promise<void> {
        const { modelId } = (await readServedModel(store)) ?? {};
        expect((await readServedModel(store))?.name).toBe(name);
        for (const server of servers) {
          const served = async () =>
            (await server.query('{ stats { embeddingModel } }')).data.stats.embeddingModel;
          await expect.poll(served, { timeout: 120_000, interval: 100 }).toBe(modelId);
        }
      }

      beforeAll(async () => {
        folder = mkdtempSync(join(tmpdir(), 'errata-two-models-'));
        backend = await open(folder);
        const env = { ...backend.env, ERRATA_EMBEDDER: 'starter', ERRATA_SWEEP_MINUTES: '0' };
        servers = [await startServerProcess(folder, env), await startServerProcess(folder, env)];
        store = await backend.connect();
        const inputs = Array.from({ length: NOTES }, (_, index) => correction(lessonOf(index)));
        const { data } = await servers[0]!.query(SUBMIT, { inputs });
        const results: { outcome: string; note: { id: string } }[] = data.submitCorrections;
        expect(results.map(({ outcome }) => outcome)).toEqual(inputs.map(() => 'CREATED'));
        golden = results
          .map(({ note }, index) =>
            JSON.stringify({
              ...{ id: `q${index}`, kind: 'paraphrase', expected: [{ key: note.id, grade: 3 }] },
              query: `does the ${THINGS[index % 10]} in module ${index} ${FAULTS[index % 6]}?`,
            }),
          )
          .join('\n');
        // A process hears of another one's notes within seconds.
        for (const server of servers) {
          const indexed = async () => {
            const { data } = await server.query('{ stats { indexedVectors } }');
            expect(data.stats.indexedVectors).toBe(NOTES);
          };
          await vi.waitFor(indexed, { timeout: 60_000, interval: 100 });
        }
        loads = servers.map((server, index) => load(server, `p${index}`));
      }, 600_000);
      afterAll(async () => {
        running = false;
        await Promise.all(loads);
        await killLeftOver();
        await store?.close();
        await backend?.close();
        rmSync(folder, { recursive: true, force: true });
      });

      it('is refused without a golden set, and where the other model does worse', {
        timeout: 900_000,
      }, async () => {
        expect((await change({ model: TINY_MODEL })).message).toMatch(
          /^MODEL_REFUSED: Expected a saved golden set/u,
        );
        await store.settings.put(goldenSetting('default'), golden);
        const refused = await change({ model: TINY_MODEL });
        expect(refused).toMatchObject({ state: 'FAILED' });
        expect(refused.message).toMatch(
          /^MODEL_REFUSED: .* to lose surely less than 0\.02 of MRR, received MRR [01]\.\d+ → 0\.\d+, difference −.* over 60 queries; give force/u,
        );
        expect(await readServedModel(store)).toBeUndefined();
        expect([...models].filter((id) => !id.startsWith('starter@'))).toEqual([]);
      });

      it('is done where it is forced, and taken back, with no query that failed', {
        timeout: 900_000,
      }, async () => {
        const forced = await change({ model: TINY_MODEL, force: 'true' });
        expect(forced).toMatchObject({
          state: 'SUCCEEDED',
          message: `switched from starter to ${TINY_MODEL}`,
        });
        await expectServed(TINY_MODEL);
        const back = await change({ rollback: 'true' });
        expect(back).toMatchObject({ state: 'SUCCEEDED', message: `switched from ${TINY_MODEL} to starter` });
        await expectServed('starter');
        running = false;
        await Promise.all(loads);
        expect(failures).toEqual([]);
        expect([...models].map((id) => id.split('@')[0]).sort()).toEqual(['starter', 'tiny-bert-cls']);
        const served = await readServedModel(store);
        expect(await store.notes.scanWithoutModel(served?.modelId ?? '', undefined, undefined, 9)).toEqual(
          [],
        );
        await expectWhole(store, servers);
      });
    },
  );
}

describe.skipIf(BACKENDS[0]?.skip !== undefined)('a model that was configured as a directory', () => {
  it('is found again by a way back', { timeout: 900_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'errata-directory-model-'));
    try {
      const env = { ERRATA_EMBEDDER: TINY_MODEL, ERRATA_SWEEP_MINUTES: '0' };
      for (const [argv, message] of [
        [['models', 'switch', 'starter', '--force'], `switched from ${TINY_MODEL} to starter`],
        [['models', 'rollback'], `switched from starter to ${TINY_MODEL}`],
      ] as const) {
        const { code, stdout, stderr } = await startCommand(folder, [...argv, '--json'], env).ended;
        expect(code, stderr).toBe(0);
        expect(JSON.parse(stdout)).toMatchObject({ state: 'SUCCEEDED', message });
      }
    } finally {
      await killLeftOver();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
