import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSqliteStore } from '../../../src/adapters/sqlite/create-sqlite-store.js';
import { expectConsistent } from '../../contract/store/check-consistency.js';
import { compileSources } from '../../contract/store/compile-sources.js';
import { runWriter, seededIntegers } from '../../contract/store/writer-process.js';
import { createSqliteFixture } from './sqlite-fixture.js';

const SEED = 20_260_131;
const ROUNDS = 6;

describe('SQLite store and other processes', () => {
  let sources: string;
  beforeAll(async () => {
    sources = await compileSources();
  });
  afterAll(() => rm(sources, { recursive: true }));
  const open = (file: string) =>
    ['adapters/sqlite/create-sqlite-store.js', 'createSqliteStore', { path: file }] as const;

  it(`loses no acknowledged write when its writer is killed (seed ${SEED})`, async () => {
    const fixture = await createSqliteFixture();
    await fixture.store.close();
    const random = seededIntegers(SEED, 400);
    const acknowledged = new Map<string, number>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const killAfter = random();
      const written = await runWriter({
        sources,
        open: open(fixture.file),
        prefix: `round ${round}`,
        count: 10_000,
        killAfter,
      });
      expect(written.size).toBeGreaterThan(0);
      for (const [id, version] of written) acknowledged.set(id, version);
      const store = await createSqliteStore({ path: fixture.file });
      await expectConsistent(store, acknowledged);
      await store.close();
    }
    await fixture.dispose();
  });

  it('shares a file between processes that write at once, and hears of their writes', async () => {
    const fixture = await createSqliteFixture();
    const heard: number[] = [];
    const stop = await fixture.store.notes.watch(() => heard.push(Date.now()));
    const writers = ['p', 'q', 'r'].map((prefix) =>
      runWriter({ sources, open: open(fixture.file), prefix, count: 150 }),
    );
    const written = await Promise.all(writers);
    expect(written.map((notes) => notes.size)).toEqual([150, 150, 150]);
    await expectConsistent(fixture.store, new Map(written.flatMap((notes) => [...notes])));
    expect(await fixture.store.notes.lastRevision()).toBe(3 * 200);
    expect(heard.length).toBeGreaterThan(0);
    await stop();
    await fixture.dispose();
  });
});
