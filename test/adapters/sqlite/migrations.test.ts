import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSqliteStore } from '../../../src/adapters/sqlite/create-sqlite-store.js';
import { at, insertOne, sampleReview } from '../../contract/store/sample-notes.js';

describe('an SQLite file of an earlier version', () => {
  let folder: string;
  let file: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'errata-migrations-'));
    file = path.join(folder, 'errata.db');
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('is told when its notes entered the queue', async () => {
    const before = await createSqliteStore({ path: file });
    const late = await insertOne(before.notes, 'late', { ...sampleReview(at(9)), createdAt: at(1) });
    const early = await insertOne(before.notes, 'early', { ...sampleReview(at(5)), createdAt: at(2) });
    const live = await insertOne(before.notes, 'live', { createdAt: at(7) });
    const damaged = await insertOne(before.notes, 'damaged', { createdAt: at(3) });
    await before.close();
    const old = new Database(file);
    old.exec(
      'DROP INDEX notes_risk; ALTER TABLE notes DROP COLUMN opened_at; ALTER TABLE audit DROP COLUMN origin',
    );
    old.exec('CREATE INDEX notes_risk ON notes (namespace, risk, created_at, id, status, task_type)');
    old.prepare("UPDATE notes SET rest = '{' WHERE id = ?").run(damaged.id);
    old.pragma('user_version = 6');
    old.close();
    const after = await createSqliteStore({ path: file });
    const { items, keysets } = await after.notes.list('all', {}, 'RISK_DESC', { limit: 9 });
    expect(items.map(({ id }) => id)).toEqual([early.id, live.id, late.id]);
    expect(keysets.map(([, openedAt]) => openedAt)).toEqual([at(5), at(7), at(9)]);
    expect(after.notes.corruptRecords()).toBe(1);
    await after.close();
  });
});
