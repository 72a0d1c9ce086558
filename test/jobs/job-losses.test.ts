import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMongoStore } from '../../src/adapters/mongo/create-mongo-store.js';
import { createSqliteStore } from '../../src/adapters/sqlite/create-sqlite-store.js';
import { JOB_KINDS, type Job } from '../../src/domain/job.js';
import type { JobHandler } from '../../src/jobs/job-handler.js';
import { JobRunner, MAX_LOSSES } from '../../src/jobs/job-runner.js';
import { silentLogger } from '../../src/ports/logger.js';
import type { Store } from '../../src/ports/note-store.js';
import { compileSources } from '../contract/store/compile-sources.js';
import { steppingClock } from '../doubles/write-path.js';
import { type Peer, peerAvailable, startMongoJavaServer } from '../peers/start-peer.js';

const script = fileURLToPath(new URL('./dying-runner.mjs', import.meta.url));

interface Opened {
  readonly store: Store;
  /** Module below the sources, its function that opens a store, and the function's options. */
  readonly open: readonly [string, string, object];
  close(): Promise<void>;
}
const backends: readonly {
  readonly name: string;
  readonly skip: string | undefined;
  open(folder: string): Promise<Opened>;
}[] = [
  {
    name: 'SQLite',
    skip: undefined,
    open: async (folder) => {
      const options = { path: join(folder, 'errata.db') };
      return {
        store: await createSqliteStore(options),
        open: ['adapters/sqlite/create-sqlite-store.js', 'createSqliteStore', options],
        close: async () => undefined,
      };
    },
  },
  {
    name: 'MongoDB (mongo-java-server)',
    skip: await peerAvailable('mongo-java-server'),
    open: async () => {
      const peer: Peer = await startMongoJavaServer();
      const options = { uri: `${peer.uri}/errata` };
      return {
        store: await createMongoStore(options),
        open: ['adapters/mongo/create-mongo-store.js', 'createMongoStore', options],
        close: () => peer.stop(),
      };
    },
  },
];

const job = (id: string, more: Partial<Job> = {}): Job => ({
  ...{ id, kind: 'BACKFILL', options: {}, state: 'QUEUED', done: 0 },
  ...{ createdAt: '2026-01-01T00:00:00.000Z', cancelRequested: false, fence: 0 },
  ...more,
});

for (const { name, skip, open } of backends) {
  const title = skip === undefined ? name : `${name} (skipped: ${skip})`;
  describe.skipIf(skip !== undefined)(`jobs that take their process down, over ${title}`, () => {
    let folder: string;
    let sources: string;
    let opened: Opened;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'errata-losses-'));
      sources = await compileSources();
      opened = await open(folder);
    }, 60_000);
    afterAll(async () => {
      await opened?.store.close();
      await opened?.close();
      rmSync(folder, { recursive: true, force: true });
      rmSync(sources, { recursive: true, force: true });
    });

    /** Starts one process after the other until one outlives the job; gives how many were killed. */
    async function runToEnd(id: string): Promise<number> {
      for (let killed = 0; killed < 20; killed += 1) {
        const [module, opener, options] = opened.open;
        const args = [script, sources, module, opener, JSON.stringify(options), id];
        const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] });
        const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
        if (code === 0) return killed;
        expect(signal).toBe('SIGKILL');
      }
      throw new Error('Expected the job to end, received 20 killed processes');
    }

    it('end as failed after three, with the reason', { timeout: 60_000 }, async () => {
      await opened.store.jobs.put(job('deadly', { options: { mode: 'die' } }));
      expect(await runToEnd('deadly')).toBe(MAX_LOSSES);
      expect(await opened.store.jobs.get('deadly')).toMatchObject({
        state: 'FAILED',
        message: expect.stringMatching(/^JOB_GIVEN_UP: .* received 3 that were lost without progress$/u),
        fence: MAX_LOSSES + 1,
      });
    });

    it('go on as long as each process brings them further', { timeout: 60_000 }, async () => {
      await opened.store.jobs.put(job('hard', { options: { mode: 'progress' } }));
      expect(await runToEnd('hard')).toBe(5);
      expect(await opened.store.jobs.get('hard')).toMatchObject({
        state: 'SUCCEEDED',
        message: 'did 5 steps',
      });
    });

    const ends: string[] = [];
    const runner = (handler: JobHandler): JobRunner => {
      const clock = steppingClock('2026-01-01T01:00:00.000Z');
      return new JobRunner({
        ...{ jobs: opened.store.jobs, clock, logger: silentLogger, leaseMs: 60_000 },
        handlers: Object.fromEntries(JOB_KINDS.map((kind) => [kind, handler])) as Record<
          Job['kind'],
          JobHandler
        >,
        watchers: [{ jobEnded: ({ state, code }) => void ends.push(`${state} ${code}`.trim()) }],
      });
    };
    const never: JobHandler = async () => {
      throw new Error('Expected no run');
    };
    const ended = (id: string) => expect.poll(async () => (await opened.store.jobs.get(id))?.finishedAt);

    it('are cancelled at once while they wait for another process, and never run again', async () => {
      const lost = { state: 'RUNNING', leaseOwner: 'gone', leaseUntil: '2026-01-01T00:00:05.000Z' } as const;
      await opened.store.jobs.put(job('waiting', { ...lost, fence: 1 }));
      expect(await opened.store.jobs.requestCancel('waiting', '2026-01-01T00:00:06.000Z')).toBe(true);
      expect(await opened.store.jobs.get('waiting')).toMatchObject({ state: 'CANCELLED' });
      // Asked while its process lived, found after that died.
      await opened.store.jobs.put(job('asked', { ...lost, fence: 1 }));
      expect(await opened.store.jobs.requestCancel('asked', '2026-01-01T00:00:04.000Z')).toBe(true);
      const taker = runner(never);
      taker.ring();
      await ended('asked').toBeDefined();
      expect(await opened.store.jobs.get('asked')).toMatchObject({ state: 'CANCELLED', losses: 1 });
      await taker.close();
    });

    it('are not lost by a process that closes in order', async () => {
      await opened.store.jobs.put(job('long'));
      for (let round = 1; round <= MAX_LOSSES + 2; round += 1) {
        const first = runner(async ({ signal, checkpoint }) => {
          await once(signal, 'abort');
          await checkpoint({});
          return '';
        });
        first.ring();
        await expect.poll(async () => (await opened.store.jobs.get('long'))?.fence).toBe(round);
        await first.close();
        expect(await opened.store.jobs.get('long')).toMatchObject({ state: 'QUEUED' });
      }
      const last = runner(async () => 'done');
      last.ring();
      await ended('long').toBeDefined();
      await last.close();
      expect((await opened.store.jobs.get('long'))?.state).toBe('SUCCEEDED');
      expect(ends.at(-1)).toBe('SUCCEEDED');
    });

    it('tell watchers why they failed', async () => {
      const fatal = { state: 'RUNNING', leaseOwner: 'gone', leaseUntil: '2026-01-01T00:00:05.000Z' } as const;
      await opened.store.jobs.put(job('counted', { ...fatal, fence: 3, losses: MAX_LOSSES - 1 }));
      const taker = runner(never);
      taker.ring();
      await ended('counted').toBeDefined();
      await taker.close();
      expect(ends.at(-1)).toBe('FAILED JOB_GIVEN_UP');
    });
  });
}
