import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FeedbackNote } from '../../src/domain/note.js';
import type { Store } from '../../src/ports/note-store.js';
import {
  killLeftOver,
  type ProcessEnvironment,
  type ServerProcess,
  startServerProcess,
} from './dist-process.js';
import { type Ground, KILL_CASES, type KillCase } from './kill-job-cases.js';
import { type KillOrders, killOrders } from './kill-orders.js';
import { BACKENDS, type OpenBackend } from './store-backends.js';
import { expectWhole } from './whole-store.js';

const NOTES = 160;
const SUBMIT =
  'mutation ($inputs: [CorrectionInput!]!) { submitCorrections(inputs: $inputs) { outcome note { id } } }';
const START = `mutation ($kind: JobKind!, $namespace: String, $options: [AttributeInput!]) {
  startJob(kind: $kind, namespace: $namespace, options: $options) { id } }`;

/** Every one names another identifier, so that none is a near duplicate of another. */
const correction = (namespace: string, name: string) => ({
  namespace,
  taskType: 'code-review',
  wrongAnswer: `Said that read_${name}() leaks.`,
  correction: `read_${name}() is freed by its caller.`,
  lesson: `What read_${name}() returns belongs to the caller.`,
});

for (const { title, skip, open } of BACKENDS) {
  describe.skipIf(skip !== undefined)(`kill -9 in the middle of a job over ${title}`, () => {
    let folder: string;
    let backend: OpenBackend;
    let orders: KillOrders;
    let store: Store;
    let servers: ServerProcess[] = [];
    let made = 0;
    let started = 0;
    const env = (): ProcessEnvironment => ({
      ...backend.env,
      ...orders.env,
      ERRATA_EMBEDDER: 'starter',
      ERRATA_JOB_LEASE_MS: '1000',
      ERRATA_SWEEP_MINUTES: '0',
    });
    const startServer = async (): Promise<void> => {
      servers.push(await startServerProcess(folder, env(), join(folder, `server-${started++}.log`)));
    };
    async function submit(namespace: string, count: number): Promise<readonly FeedbackNote[]> {
      const inputs = Array.from({ length: count }, () => correction(namespace, `${namespace}_${made++}`));
      const { data, errors } = await servers[0]!.query(SUBMIT, { inputs });
      expect(errors).toBeUndefined();
      const results: { outcome: string; note: { id: string } }[] = data.submitCorrections;
      expect(results.map(({ outcome }) => outcome)).toEqual(inputs.map(() => 'CREATED'));
      return store.notes.getMany(
        namespace,
        results.map(({ note }) => note.id),
      );
    }

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'errata-kill-jobs-'));
      backend = await open(folder);
      orders = killOrders(folder);
      await startServer();
      store = await backend.connect();
      await submit('default', NOTES);
    }, 600_000);
    afterAll(async () => {
      await killLeftOver();
      await store?.close();
      await backend?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    /** Starts the job, waits until a server has killed itself in it, and until another one has ended it. */
    async function runKilled(
      { kind, prepare }: KillCase,
      kill: KillCase['kills'][number],
      successor: 'running' | 'started afterwards',
    ): Promise<void> {
      if (successor === 'running') while (servers.length < 2) await startServer();
      else for (const server of servers.splice(1)) await server.kill();
      const ground: Ground = {
        store,
        notes: NOTES,
        submit,
        get server() {
          return servers[0]!;
        },
      };
      const { namespace, options = {}, check } = await prepare(ground);
      orders.give({ job: kind, ...kill });
      const asked = Object.entries(options).map(([key, value]) => ({ key, value }));
      // The kill may come before the answer does.
      const asking = await servers[0]!
        .query(START, { kind, namespace, options: asked })
        .catch(() => undefined);
      expect(asking?.errors).toBeUndefined();
      const [newest] = await store.jobs.list('all', 1);
      expect(newest?.kind).toBe(kind);
      const id = newest!.id;
      const dead = await Promise.race([
        ...servers.map(async (server) => {
          await server.gone;
          return server;
        }),
        // A job that ended without having come to its kill.
        expect.poll(async () => (await store.jobs.get(id))?.finishedAt, { timeout: 300_000 }).toBeDefined(),
      ]);
      expect(dead, JSON.stringify(await store.jobs.get(id))).toBeDefined();
      const left = await store.jobs.get(id);
      servers = servers.filter((server) => server !== dead);
      if (servers.length === 0) await startServer();
      await expect
        .poll(async () => (await store.jobs.get(id))?.state, { timeout: 300_000, interval: 100 })
        .not.toBe('RUNNING');
      orders.withdraw();
      const ended = (await store.jobs.get(id))!;
      const log = readFileSync(join(folder, `server-${started - 1}.log`), 'utf8');
      expect(ended, log).toMatchObject({ state: 'SUCCEEDED', fence: 2 });
      expect(ended.leaseOwner).not.toBe(left?.leaseOwner);
      await check(ended);
      await expectWhole(store, servers);
    }

    for (const [index, one] of KILL_CASES.entries()) {
      for (const [at, kill] of one.kills.entries()) {
        const successor = (index + at) % 2 === 0 ? 'running' : 'started afterwards';
        const name = `${one.title ?? one.kind}: ${JSON.stringify(kill)}, taken over by a process ${successor}`;
        it(name, { timeout: 900_000 }, () => runKilled(one, kill, successor));
      }
    }
  });
}
