import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SqliteDatabase } from '../../../src/adapters/sqlite/sqlite-database.js';

describe('SqliteDatabase', () => {
  let folder: string;
  let db: SqliteDatabase;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'errata-database-'));
    db = new SqliteDatabase({ path: path.join(folder, 'a.db'), busyTimeoutMs: 1_000 });
    await db.attempt((raw) => raw.exec('CREATE TABLE t (n INTEGER NOT NULL) STRICT'));
  });
  afterEach(async () => {
    db.close();
    await rm(folder, { recursive: true });
  });
  const held = () => db.all('SELECT n FROM t ORDER BY n').map(({ n }) => n);
  const add = (n: unknown, fails = false) => {
    db.run('INSERT INTO t (n) VALUES (@n)', { n });
    if (fails) throw new RangeError('no');
    return n;
  };

  it.each(['write', 'writeRelaxed'] as const)(
    'undoes only what failed of several calls of %s in one turn',
    async (how) => {
      const settled = await Promise.allSettled([
        db[how](() => add(1)),
        db[how](() => add(2, true)),
        db[how](() => add(null)),
        db[how](() => add(3)),
      ]);
      expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
      expect(settled[1]).toMatchObject({ reason: expect.any(RangeError) });
      expect(held()).toEqual([1, 3]);
      await expect(db[how](() => add(4, true))).rejects.toThrow(RangeError);
      expect(await db[how](() => add(5))).toBe(5);
      expect(held()).toEqual([1, 3, 5]);
    },
  );

  it('keeps both kinds apart, and refuses what waits while it is closed', async () => {
    await Promise.all([db.write(() => add(1)), db.writeRelaxed(() => add(2)), db.write(() => add(3))]);
    expect(held()).toEqual([1, 2, 3]);
    const late = [db.write(() => add(4)), db.writeRelaxed(() => add(5))];
    db.close();
    for (const one of await Promise.allSettled(late))
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'CLOSED' } });
  });
});
