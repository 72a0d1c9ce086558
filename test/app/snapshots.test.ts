import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { NativeVectorIndex } from '../../src/adapters/native/native-vector-index.js';
import { SnapshotFiles } from '../../src/adapters/native/snapshot-files.js';
import { createSqliteStore } from '../../src/adapters/sqlite/create-sqlite-store.js';
import { type App, createApp } from '../../src/app/create-app.js';
import type { Engines } from '../../src/app/installation.js';
import { silentLogger } from '../../src/ports/logger.js';
import type { Store } from '../../src/ports/note-store.js';
import type { CorrectionInput } from '../../src/ports/use-cases.js';
import { wordEngines } from '../doubles/word-app.js';
import { ADMIN } from './real-app.js';

const correction = (topic: string): CorrectionInput => ({
  taskType: 'code-review',
  wrongAnswer: `Reported the ${topic} call as unsafe.`,
  correction: `The ${topic} call is guarded by its only caller.`,
  lesson: `The ${topic} call needs no guard of its own.`,
});

/** Where the first section of a kind begins (schema/snapshot-v1.md). */
function sectionOffset(bytes: Buffer, kind: number): number {
  const table = Number(bytes.readBigUInt64LE(24));
  const entries = Number(bytes.readBigUInt64LE(32)) / 32;
  for (let i = 0; i < entries; i += 1) {
    if (bytes.readUInt32LE(table + i * 32) === kind) return Number(bytes.readBigUInt64LE(table + i * 32 + 8));
  }
  throw new Error(`Expected a section of kind ${kind}`);
}

describe('snapshots of an app', () => {
  let folder: string;
  let opened: { app: App; engines: Engines; store: Store };
  const snapshot = (): string => path.join(folder, 'vectors.snapshot');

  async function open(indexOptions: { lateBytes?: number } = {}): Promise<typeof opened> {
    const store = await createSqliteStore({ path: path.join(folder, 'errata.sqlite') });
    const engines = wordEngines(undefined, indexOptions);
    const index = engines.vectorIndex;
    if (!(index instanceof NativeVectorIndex)) throw new Error('Expected the native index');
    const snapshots = new SnapshotFiles({ index, path: snapshot(), modelId: engines.embedder.model.id });
    const app = await createApp({
      store,
      engines: { ...engines, snapshots },
      logger: silentLogger,
      runJobs: false,
      writeSnapshots: true,
    });
    opened = { app, engines, store };
    return opened;
  }
  async function close(): Promise<void> {
    await opened.app.close();
    await opened.engines.close();
    await opened.store.close();
  }
  const submit = (topic: string) => opened.app.useCases.commands.submit(ADMIN, correction(topic));
  const found = async (topic: string): Promise<string | undefined> => {
    const { candidates } = await opened.app.useCases.retrieval.retrieve(ADMIN, {
      query: `Is the ${topic} call safe?`,
    });
    return candidates[0]?.note.lesson;
  };

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'errata-app-snapshot-'));
    await open();
    for (const topic of ['memcpy', 'strcpy', 'eval']) await submit(topic);
  });
  afterEach(async () => {
    await close();
    rmSync(folder, { recursive: true });
  });

  it('are written at the end, taken at the start, and what came since is caught up with', async () => {
    expect(opened.app.snapshotState()?.refused?.refusal).toBe('ABSENT');
    await close();
    expect(existsSync(snapshot())).toBe(true);
    const old = readFileSync(snapshot());

    await open();
    expect(opened.app.snapshotState()?.restored?.notes).toBe(3);
    const { note } = await submit('system');
    const [eval_] = await opened.store.notes
      .scanActive(undefined, 10)
      .then((all) => all.filter((stored) => stored.note.lesson.includes('eval')));
    await opened.app.useCases.commands.deprecate(ADMIN, 'default', [eval_?.note.id ?? ''], 'no longer true');
    await close();

    // The process was killed before it wrote its own: the old file is what the next start finds.
    writeFileSync(snapshot(), old);
    await open();
    expect(opened.app.snapshotState()?.restored?.notes).toBe(3);
    const { vectorIndex } = opened.engines;
    expect(vectorIndex.count()).toBe(3);
    expect(vectorIndex.versionOf('default', eval_?.note.id ?? '')).toBeUndefined();
    expect(vectorIndex.versionOf('default', note?.id ?? '')).toBe(1);
    expect(await found('system')).toContain('system');
  });

  it('hold no byte of an erased vector, whichever process wrote them', async () => {
    await close();
    await open();
    const [memcpy] = (await opened.store.notes.scanActive(undefined, 10)).filter(({ note }) =>
      note.lesson.includes('memcpy'),
    );
    const { lesson } = memcpy?.vectors ?? { lesson: new Float32Array() };
    const bytes = Buffer.from(lesson.buffer, lesson.byteOffset, lesson.byteLength);
    expect(bytes.length).toBeGreaterThan(0);
    expect(readFileSync(snapshot()).includes(bytes)).toBe(true);
    // Another process with a file of its own, which learns of the erasure from the store.
    const other = path.join(folder, 'other.snapshot');
    copyFileSync(snapshot(), other);
    const store = await createSqliteStore({ path: path.join(folder, 'errata.sqlite') });
    const engines = wordEngines();
    const index = engines.vectorIndex as NativeVectorIndex;
    const snapshots = new SnapshotFiles({ index, path: other, modelId: engines.embedder.model.id });
    const app = await createApp({
      ...{ store, engines: { ...engines, snapshots }, logger: silentLogger, runJobs: false },
      writeSnapshots: true,
    });
    expect(app.snapshotState()?.restored?.notes).toBe(3);
    await opened.app.useCases.commands.erase(ADMIN, 'default', memcpy?.note.id ?? '', 'law');
    expect(existsSync(snapshot())).toBe(false);
    await vi.waitFor(() => expect(existsSync(other)).toBe(false), { timeout: 10_000 });
    await app.close();
    await engines.close();
    await store.close();
    await close();
    for (const file of [snapshot(), other]) expect(readFileSync(file).includes(bytes)).toBe(false);
    await open();
    expect(opened.app.snapshotState()?.restored?.notes).toBe(2);
  });

  it('that are broken are refused, and the store fills the index', async () => {
    await close();
    const bytes = readFileSync(snapshot());
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    writeFileSync(snapshot(), bytes);
    await open();
    expect(opened.app.snapshotState()?.refused?.refusal).toBe('CORRUPT');
    expect(opened.engines.vectorIndex.count()).toBe(3);
    expect(await found('memcpy')).toContain('memcpy');
    await close();
    await open();
    expect(opened.app.snapshotState()?.restored?.notes).toBe(3);
  });

  it('that are found broken while they are in use give no wrong answer, and the store fills the index', async () => {
    await close();
    const bytes = readFileSync(snapshot());
    const rows = sectionOffset(bytes, 2);
    bytes[rows] = (bytes[rows] ?? 0) ^ 1;
    writeFileSync(snapshot(), bytes);
    await open({ lateBytes: 1 });
    await vi.waitFor(() => expect(opened.app.snapshotState()?.refused?.refusal).toBe('CORRUPT'));
    await vi.waitFor(() => expect(opened.engines.vectorIndex.count()).toBe(3));
    await vi.waitFor(async () => expect(await found('memcpy')).toContain('memcpy'));
    await close();
    await open({ lateBytes: 1 });
    expect(opened.app.snapshotState()?.restored?.notes).toBe(3);
    expect(await found('strcpy')).toContain('strcpy');
  });

  it('of a store that was put back to an earlier state are refused', async () => {
    await close();
    copyFileSync(path.join(folder, 'errata.sqlite'), path.join(folder, 'backup'));
    await open();
    await submit('gets');
    await close();
    copyFileSync(path.join(folder, 'backup'), path.join(folder, 'errata.sqlite'));
    await open();
    expect(opened.app.snapshotState()?.refused?.refusal).toBe('AHEAD_OF_STORE');
    expect(opened.engines.vectorIndex.count()).toBe(3);
    // The same, where the store has grown past the snapshot's revision by other notes.
    await close();
    rmSync(snapshot());
    await open();
    await submit('sprintf');
    await submit('scanf');
    await close();
    const ahead = readFileSync(snapshot());
    copyFileSync(path.join(folder, 'backup'), path.join(folder, 'errata.sqlite'));
    rmSync(snapshot());
    await open();
    for (const topic of ['fork', 'exec', 'popen']) await submit(topic);
    await close();
    writeFileSync(snapshot(), ahead);
    await open();
    expect(opened.engines.vectorIndex.count()).toBe(6);
    expect(await found('popen')).toContain('popen');
    expect(await found('scanf')).not.toContain('scanf');
  });
});
