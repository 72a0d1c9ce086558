import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { importFile } from '../../src/app/import-file.js';
import type { Job } from '../../src/domain/job.js';
import { reembedHandler } from '../../src/jobs/embed-stored-notes.js';
import { JobRunner } from '../../src/jobs/job-runner.js';
import { type Clock, systemClock } from '../../src/ports/clock.js';
import { silentLogger } from '../../src/ports/logger.js';
import type { JobStore } from '../../src/ports/note-store.js';
import { modelForTests } from '../models/installed-model.js';
import { isBuilt, killLeftOver, seeded, startCommand, startServerProcess } from './dist-process.js';
import { ADMIN, openRealApp, type RealApp } from './real-app.js';
import { countStoredNotes, readStoredRows } from './stored-rows.js';

const { missing } = await modelForTests();
if (!isBuilt) console.warn('Crash tests are skipped: dist is not built (npm test builds it)');
const skip = missing !== undefined || !isBuilt;

const SUBMIT = `mutation ($input: CorrectionInput!) {
  submitCorrection(input: $input) { outcome note { id version } }
}`;
const DEPRECATE = 'mutation ($ids: [ID!]!) { deprecateNotes(ids: $ids, reason: "wrong") { id status } }';
const RETRIEVE = `query ($query: String!) {
  retrieve(input: { query: $query }) { candidates { note { id } } notes { note { id } } }
}`;

/** Every one names another identifier, so that none is a near duplicate of another. */
function correction(name: string) {
  return {
    taskType: 'code-review',
    wrongAnswer: `Said that read_${name}() leaks its buffer.`,
    correction: `read_${name}() hands the buffer to its caller, who frees it.`,
    lesson: `The buffer that read_${name}() returns belongs to the caller; do not report a leak inside it.`,
  };
}

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'errata-crash-'));
});
afterEach(async () => {
  await killLeftOver();
  rmSync(folder, { recursive: true, force: true });
});

async function withApp<T>(work: (real: RealApp) => Promise<T>): Promise<T> {
  const real = await openRealApp({ folder });
  try {
    return await work(real);
  } finally {
    await real.close();
  }
}

/** Note, vectors, audit event and change entry stand and fall together. */
function expectConsistentRows(): void {
  const rows = readStoredRows(folder);
  expect(rows).toMatchObject({
    integrity: 'ok',
    withoutVectors: 0,
    withoutCreatedEvent: 0,
    withoutChange: 0,
    orphanEvents: 0,
    orphanChanges: 0,
    noteEvents: rows.versions,
    lastRevision: rows.revisions,
  });
}

describe.skipIf(skip)('kill -9 (needs dist and all-MiniLM-L6-v2)', () => {
  it('loses no acknowledged note and keeps rows and index whole', { timeout: 240_000 }, async () => {
    const seed = Number(process.env.ERRATA_TEST_SEED ?? Date.now() % 1_000_000);
    const random = seeded(seed);
    const acknowledged = new Map<string, number>();
    const deprecated = new Set<string>();
    for (let round = 0; round < 4; round += 1) {
      const server = await startServerProcess(folder);
      let killed: Promise<void> | undefined;
      let answers = 0;
      const killAfter = 1 + Math.floor(random() * 60);
      const writer = async (name: string): Promise<void> => {
        for (let index = 0; killed === undefined; index += 1) {
          const input = correction(`${name}_${index}`);
          // Broken off by the kill: nothing was acknowledged.
          const answer = await server.query(SUBMIT, { input }).catch(() => undefined);
          if (answer === undefined) return;
          expect(answer.errors).toBeUndefined();
          const { outcome, note } = answer.data.submitCorrection;
          expect(outcome, `seed ${seed}`).toBe('CREATED');
          acknowledged.set(note.id, note.version);
          answers += 1;
          if (answers === killAfter) {
            // Somewhere inside the writes that are under way, not at the answer that was counted.
            await pause(random() * 15);
            killed = server.kill();
          }
          if (index % 5 === 4) {
            const done = await server.query(DEPRECATE, { ids: [note.id] }).catch(() => undefined);
            if (done === undefined) return;
            expect(done.errors).toBeUndefined();
            deprecated.add(note.id);
          }
        }
      };
      await Promise.all(Array.from({ length: 6 }, (_, index) => writer(`r${round}_w${index}`)));
      await killed;
      expect(answers, `seed ${seed}`).toBeGreaterThanOrEqual(killAfter);

      await withApp(async ({ store, engines, app }) => {
        const ids = [...acknowledged.keys()];
        const found = await app.useCases.notes.getMany('default', ids);
        expect(found.length, `seed ${seed}, round ${round}`).toBe(ids.length);
        for (const note of found) {
          if (deprecated.has(note.id)) expect(note.status).toBe('DEPRECATED');
          expect(note.embeddingModel).toBe(engines.embedder.model.id);
        }
        const active = await store.notes.count('all', { statuses: ['ACTIVE'] });
        expect(engines.vectorIndex.count()).toBe(active);
        expect(engines.lexicalIndex.count()).toBe(active);
        expect(store.notes.corruptRecords()).toBe(0);
      });
      expectConsistentRows();
    }
    expect(acknowledged.size, `seed ${seed}`).toBeGreaterThan(4);
  });

  it('never serves a deprecation again that was acknowledged', { timeout: 120_000 }, async () => {
    const first = await startServerProcess(folder);
    const ids: string[] = [];
    for (const name of ['header', 'footer', 'body']) {
      ids.push((await first.query(SUBMIT, { input: correction(name) })).data.submitCorrection.note.id);
    }
    const query = 'Does read_header() leak the buffer that it returns?';
    expect((await first.query(RETRIEVE, { query })).data.retrieve.notes[0].note.id).toBe(ids[0]);
    await first.query(DEPRECATE, { ids: [ids[0]] });
    await first.kill();

    const second = await startServerProcess(folder);
    try {
      const { candidates, notes } = (await second.query(RETRIEVE, { query })).data.retrieve;
      const served = [...candidates, ...notes].map(({ note }: { note: { id: string } }) => note.id);
      expect(served).not.toContain(ids[0]);
      expect(served).toContain(ids[1]);
    } finally {
      await second.kill();
    }
  });

  it('lets an import that was killed go on: every row once, stored ones not embedded', {
    timeout: 180_000,
  }, async () => {
    const rows = 640;
    const file = join(folder, 'rows.jsonl');
    const lines = Array.from({ length: rows }, (_, index) => JSON.stringify(correction(`row_${index}`)));
    writeFileSync(file, `${lines.join('\n')}\n`);
    const command = startCommand(folder, ['import', '--json', file]);
    // The first batches only: the kill has to come in the middle.
    await expect.poll(() => countStoredNotes(folder), { timeout: 60_000, interval: 5 }).toBeGreaterThan(0);
    await command.kill();
    const { code } = await command.ended;
    expect(code).toBeNull();
    expectConsistentRows();
    const stored = countStoredNotes(folder);
    expect(stored).toBeGreaterThan(0);
    expect(stored).toBeLessThan(rows);

    await withApp(async ({ app, engines, store }) => {
      const before = engines.embedder.stats().embeddedTexts;
      const request = {
        file,
        namespace: 'default',
        format: undefined,
        encoding: undefined,
        taskType: undefined,
      };
      const report = await importFile(app.useCases.commands, request as Parameters<typeof importFile>[1]);
      expect(report.rows).toHaveLength(rows);
      expect(report.rows.filter(({ outcome }) => outcome === 'CREATED')).toHaveLength(rows - stored);
      expect(report.rows.filter(({ outcome }) => outcome === 'UNCHANGED')).toHaveLength(stored);
      // Two texts a note, lesson and situation, for the missing ones only.
      expect(engines.embedder.stats().embeddedTexts - before).toBe(2 * (rows - stored));
      expect(await store.notes.count('all', {})).toBe(rows);
      expect(engines.vectorIndex.count()).toBe(rows);
    });
    const again = await startCommand(folder, ['import', '--json', file]).ended;
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout).files[0].counts).toEqual({ UNCHANGED: rows });
    expect(readStoredRows(folder)).toMatchObject({ notes: rows, active: rows, versions: rows });
    expectConsistentRows();
  });

  it('lets a job of a killed process go on from its cursor', { timeout: 180_000 }, async () => {
    const notes = 300;
    await withApp(async ({ app }) => {
      const inputs = Array.from({ length: notes }, (_, index) => correction(`job_${index}`));
      await app.useCases.commands.submitMany(ADMIN, inputs);
    });
    const server = await startServerProcess(folder);
    const started = await server.query('mutation { startJob(kind: REEMBED) { id } }');
    const { id } = started.data.startJob;
    await expect
      .poll(
        async () => (await server.query('query ($id: ID!) { job(id: $id) { done } }', { id })).data.job.done,
        {
          timeout: 60_000,
          interval: 5,
        },
      )
      .toBeGreaterThan(0);
    await server.kill();

    await withApp(async ({ app, store, engines }) => {
      const left = await store.jobs.get(id);
      expect(left).toMatchObject({ state: 'RUNNING', fence: 1 });
      expect(left?.cursor).toBeDefined();
      const deps = {
        notes: store.notes,
        embedder: engines.embedder,
        catchUp: () => app.retrieveDeps.follower.catchUp(),
      };
      // Before the lease has run out nobody may take it.
      const leaseEndMs = Date.parse(left?.leaseUntil ?? '');
      const early = jobRunner(store.jobs, startingAt(leaseEndMs - 60_000), deps);
      early.ring();
      await early.close();
      expect((await store.jobs.get(id))?.fence).toBe(1);

      const later = startingAt(leaseEndMs);
      const before = engines.embedder.stats().embeddedTexts;
      const runner = jobRunner(store.jobs, later, deps);
      runner.ring();
      await expect.poll(async () => (await store.jobs.get(id))?.state, { timeout: 60_000 }).toBe('SUCCEEDED');
      await runner.close();
      expect(await store.jobs.get(id)).toMatchObject({ done: notes, fence: 2 });
      expect(engines.embedder.stats().embeddedTexts - before).toBe(2 * (notes - (left?.done ?? 0)));
      expect(engines.vectorIndex.count()).toBe(notes);
    });
    expectConsistentRows();
  });

  it('fences off a runner that was thought dead', { timeout: 120_000 }, async () => {
    await withApp(async ({ app, store, engines }) => {
      const inputs = Array.from({ length: 200 }, (_, index) => correction(`fence_${index}`));
      await app.useCases.commands.submitMany(ADMIN, inputs);
      const deps = {
        notes: store.notes,
        embedder: engines.embedder,
        catchUp: () => app.retrieveDeps.follower.catchUp(),
      };
      const job = await app.useCases.jobs.start(ADMIN, 'REEMBED', undefined, {});
      // The first runner stops dead in its first checkpoint, heartbeats included, as a suspended process would.
      let wake: () => void = () => undefined;
      const asleep = new Promise<void>((resolve) => {
        wake = resolve;
      });
      const seen: { fence: number; held: boolean; patch: Partial<Job> }[] = [];
      const sleepy = overriding(store.jobs, async (jobId, fence, patch) => {
        await asleep;
        const held = await store.jobs.update(jobId, fence, patch);
        seen.push({ fence, held, patch });
        return held;
      });
      const first = jobRunner(sleepy, systemClock, deps);
      first.ring();
      await expect.poll(async () => (await store.jobs.get(job.id))?.fence).toBe(1);

      const second = jobRunner(store.jobs, startingAt(systemClock.nowMs() + 60_000), deps);
      second.ring();
      await expect
        .poll(async () => (await store.jobs.get(job.id))?.state, { timeout: 30_000 })
        .toBe('SUCCEEDED');
      const ended = await store.jobs.get(job.id);
      expect(ended?.fence).toBe(2);
      wake();
      await first.close();
      await second.close();
      expect(seen.length).toBeGreaterThan(0);
      expect(seen.filter(({ held }) => held)).toEqual([]);
      expect(await store.jobs.get(job.id)).toEqual(ended);
      expect(engines.vectorIndex.count()).toBe(200);
    });
    expectConsistentRows();
  });
});

/** Runs as fast as the system's clock, from another instant on. */
function startingAt(startMs: number): Clock {
  const shiftMs = startMs - systemClock.nowMs();
  const nowMs = () => systemClock.nowMs() + shiftMs;
  return { nowMs, now: () => new Date(nowMs()).toISOString() };
}

function overriding(jobs: JobStore, update: JobStore['update']): JobStore {
  return {
    put: (job) => jobs.put(job),
    get: (id) => jobs.get(id),
    list: (scope, limit) => jobs.list(scope, limit),
    take: (owner, now, leaseUntil) => jobs.take(owner, now, leaseUntil),
    requestCancel: (id, now) => jobs.requestCancel(id, now),
    update,
  };
}

type EmbedDeps = Omit<Parameters<typeof reembedHandler>[0], 'clock'>;

/** Another process's runner that knows REEMBED. */
function jobRunner(jobs: JobStore, clock: Clock, deps: EmbedDeps): JobRunner {
  const unknown = async () => Promise.reject(new Error('Expected REEMBED, received another kind'));
  return new JobRunner({
    jobs,
    clock,
    logger: silentLogger,
    leaseMs: 3_000,
    handlers: {
      BACKFILL: unknown,
      REEMBED: reembedHandler({ ...deps, clock }),
      STALENESS_SWEEP: unknown,
      COMPACTION: unknown,
      EVALUATION: unknown,
      CALIBRATION: unknown,
      SWEEP: unknown,
      ANSWERS: unknown,
      ERASURE: unknown,
      KEY_ROTATION: unknown,
      MODEL_SWITCH: unknown,
      VECTOR_DROP: unknown,
    },
  });
}
