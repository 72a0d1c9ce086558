import { chmod, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSqliteStore } from '../../../src/adapters/sqlite/create-sqlite-store.js';
import { entry, insertOne } from '../../contract/store/sample-notes.js';

describe('SQLite file', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'errata-file-'));
    file = path.join(folder, 'a', 'b', 'errata.db');
  });
  afterEach(() => rm(folder, { recursive: true }));
  const mode = async (name: string) => ((await stat(name)).mode & 0o777).toString(8);

  it('is readable by its owner only, with its folder and its log', async () => {
    const store = await createSqliteStore({ path: file });
    await insertOne(store.notes, 'a');
    expect(await mode(path.dirname(file))).toBe('700');
    for (const name of [file, `${file}-wal`, `${file}-shm`]) expect(await mode(name)).toBe('600');
    await store.close();
    await chmod(file, 0o644);
    await (await createSqliteStore({ path: file })).close();
    expect(await mode(file)).toBe('600');
  });

  it('keeps its content over a reopen and says what it is', async () => {
    const store = await createSqliteStore({ path: file });
    const note = await insertOne(store.notes, 'a');
    await store.close();
    const again = await createSqliteStore({ path: file });
    expect(await again.notes.get('acme', note.id)).toEqual(note);
    expect(again.description).toMatch(/^sqlite 3\./);
    await again.close();
  });

  it('refuses a write that does not fit and goes on serving', async () => {
    const store = await createSqliteStore({ path: file, maxSizeBytes: 400_000 });
    await insertOne(store.notes, 'fits');
    const large = store.notes.insert([entry('large', { wrongAnswer: 'x'.repeat(500_000) })]);
    await expect(large).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', cause: { code: 'SQLITE_FULL' } });
    expect(await store.notes.count('all', {})).toBe(1);
    expect(await store.notes.lastRevision()).toBe(1);
    await insertOne(store.notes, 'fits as well');
    expect(await store.audit.count('all', {})).toBe(2);
    await store.close();
  });

  it('waits for a lock, gives up with STORE_BUSY, and reads meanwhile', async () => {
    const store = await createSqliteStore({ path: file, busyTimeoutMs: 60 });
    await insertOne(store.notes, 'a');
    const other = new Database(file);
    other.exec('BEGIN IMMEDIATE');
    const refused = store.notes.insert([entry('b')]);
    expect(await store.notes.count('all', {})).toBe(1);
    await expect(refused).rejects.toMatchObject({ code: 'STORE_BUSY', cause: { code: 'SQLITE_BUSY' } });
    other.exec('ROLLBACK');
    await insertOne(store.notes, 'b');
    other.close();
    await store.close();
  });

  it.each([
    [
      'no database',
      async () => writeFile(file, 'not a database, but a text that is long enough '.repeat(50)),
    ],
    [
      "another program's database",
      async () => void new Database(file).exec('CREATE TABLE theirs (a)').close(),
    ],
    [
      'a newer schema',
      async () => {
        await (await createSqliteStore({ path: file })).close();
        const db = new Database(file);
        db.pragma('user_version = 99');
        db.close();
      },
    ],
  ])('refuses %s', async (_, prepare) => {
    await (await createSqliteStore({ path: path.join(path.dirname(file), 'other.db') })).close();
    await prepare();
    await expect(createSqliteStore({ path: file })).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  it('names a folder that cannot be made', async () => {
    await writeFile(path.join(folder, 'a'), 'a file where a folder should be');
    const opening = createSqliteStore({ path: file });
    await expect(opening).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await expect(opening).rejects.toThrow(file);
  });

  it('opens once for several clients that make it at the same time', async () => {
    const stores = await Promise.all(Array.from({ length: 6 }, () => createSqliteStore({ path: file })));
    await Promise.all(stores.map((store, i) => insertOne(store.notes, `note ${i}`)));
    expect(await stores[0]?.notes.count('all', {})).toBe(6);
    await Promise.all(stores.map((store) => store.close()));
  });
});
