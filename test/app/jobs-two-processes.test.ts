import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMongoStore } from '../../src/adapters/mongo/create-mongo-store.js';
import { createSqliteStore } from '../../src/adapters/sqlite/create-sqlite-store.js';
import type { Store } from '../../src/ports/note-store.js';
import { modelForTests } from '../models/installed-model.js';
import { type Peer, peerAvailable, startMongoJavaServer } from '../peers/start-peer.js';
import {
  isBuilt,
  killLeftOver,
  type ProcessEnvironment,
  type ServerProcess,
  startCommand,
  startServerProcess,
} from './dist-process.js';

const { missing } = await modelForTests();
const noPeer = await peerAvailable('mongo-java-server');
const unbuilt = missing ?? (isBuilt ? undefined : 'dist is not built');

const NOTES = 200;
/** A job embeds this many notes between two checkpoints: what a kill can make it do again. */
const BATCH = 128;
const SUBMIT = `mutation ($inputs: [CorrectionInput!]!) { submitCorrections(inputs: $inputs) { outcome } }`;
const START = 'mutation { startJob(kind: REEMBED) { id } }';
const JOB = 'query ($id: ID!) { job(id: $id) { state done message } }';

/** Every one names another identifier, so that none is a near duplicate of another. */
const correction = (index: number) => ({
  taskType: 'code-review',
  wrongAnswer: `Said that read_${index}() leaks.`,
  correction: `read_${index}() is freed by its caller.`,
  lesson: `What read_${index}() returns belongs to the caller.`,
});

interface Backend {
  readonly name: string;
  readonly skip: string | undefined;
  open(folder: string): Promise<{
    readonly env: ProcessEnvironment;
    connect(): Promise<Store>;
    close(): Promise<void>;
  }>;
}

const backends: readonly Backend[] = [
  {
    name: 'SQLite',
    skip: unbuilt,
    open: async (folder) => ({
      env: {},
      connect: () => createSqliteStore({ path: join(folder, 'errata.sqlite') }),
      close: async () => undefined,
    }),
  },
  {
    name: 'MongoDB (mongo-java-server)',
    skip: unbuilt ?? noPeer,
    open: async () => {
      const peer: Peer = await startMongoJavaServer();
      const uri = `${peer.uri}/errata`;
      return {
        env: { MONGODB_URI: uri },
        connect: () => createMongoStore({ uri }),
        close: () => peer.stop(),
      };
    },
  },
];

for (const { name, skip, open } of backends) {
  const title = skip === undefined ? name : `${name} (skipped: ${skip})`;
  describe.skipIf(skip !== undefined)(`jobs of two API processes over ${title}`, () => {
    let folder: string;
    let backend: Awaited<ReturnType<Backend['open']>>;
    let servers: ServerProcess[];
    let store: Store;
    const env = (): ProcessEnvironment => ({ ...backend.env, ERRATA_JOB_LEASE_MS: '2000' });
    const jobOf = async (server: ServerProcess, id: string) => (await server.query(JOB, { id })).data.job;

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'errata-jobs-'));
      backend = await open(folder);
      servers = [await startServerProcess(folder, env()), await startServerProcess(folder, env())];
      store = await backend.connect();
      const inputs = Array.from({ length: NOTES }, (_, index) => correction(index));
      const answer = await servers[0]!.query(SUBMIT, { inputs });
      expect(answer.errors).toBeUndefined();
    }, 120_000);
    afterAll(async () => {
      await killLeftOver();
      await store?.close();
      await backend?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    it('end one at a time, cancelled from the other process', { timeout: 60_000 }, async () => {
      const [first, second] = servers as [ServerProcess, ServerProcess];
      const id = (await first.query(START)).data.startJob.id as string;
      const waiting = (await second.query(START)).data.startJob.id as string;
      await expect.poll(async () => (await jobOf(second, id)).state, { timeout: 20_000 }).toBe('RUNNING');
      const cancel = 'mutation ($id: ID!) { cancelJob(id: $id) { state } }';
      for (const job of [id, waiting]) await second.query(cancel, { id: job });
      for (const job of [id, waiting]) {
        await expect.poll(async () => (await jobOf(first, job)).state, { timeout: 30_000 }).toBe('CANCELLED');
      }
      expect((await jobOf(first, id)).done).toBeLessThan(NOTES);
    });

    it('are taken over when their process is killed, and shown to the end by a third', {
      timeout: 120_000,
    }, async () => {
      const [first, second] = servers as [ServerProcess, ServerProcess];
      const before = await store.audit.count('all', { actor: 'job:REEMBED' });
      const id = (await first.query(START)).data.startJob.id as string;
      const watching = startCommand(folder, ['jobs', 'watch', id, '--json'], env());
      await expect
        .poll(async () => (await jobOf(second, id)).done, { timeout: 60_000, interval: 10 })
        .toBeGreaterThan(0);
      const owner = (await store.jobs.get(id))?.leaseOwner;
      await first.kill();
      const left = await store.jobs.get(id);
      expect(left).toMatchObject({ state: 'RUNNING', fence: 1, leaseOwner: owner });
      const watched = await watching.ended;
      expect(watched.code).toBe(0);
      expect(JSON.parse(watched.stdout)).toMatchObject({ state: 'SUCCEEDED' });
      const ended = await store.jobs.get(id);
      expect(ended).toMatchObject({ state: 'SUCCEEDED', fence: 2 });
      expect(ended?.leaseOwner).not.toBe(owner);
      // From the cursor on: at most one batch was done again, and none was left out.
      const events = (await store.audit.count('all', { actor: 'job:REEMBED' })) - before;
      expect(events).toBeGreaterThanOrEqual(NOTES);
      expect(events).toBeLessThanOrEqual(NOTES + BATCH);
      expect((await jobOf(second, id)).state).toBe('SUCCEEDED');
    });
  });
}
