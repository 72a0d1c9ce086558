import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSqliteStore } from '../../src/adapters/sqlite/create-sqlite-store.js';
import { keptRuns } from '../../src/evaluation/kept-runs.js';
import type { Store } from '../../src/ports/note-store.js';

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'errata-kept-runs-'));
  store = await createSqliteStore({ path: join(folder, 'errata.db') });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const run = (id: string, value = 0) => ({ id, namespace: 'team', value });

describe('kept runs', () => {
  it('lists the newest of its namespace first and drops the oldest with its text', async () => {
    const kept = keptRuns<ReturnType<typeof run>>(store.settings, 'runs', 2);
    for (const id of ['a', 'b', 'c']) await kept.add(run(id));
    expect((await kept.list('team', 9)).map(({ id }) => id)).toEqual(['c', 'b']);
    expect(await kept.list('other', 9)).toEqual([]);
    expect(await kept.find('team', 'a')).toBeUndefined();
  });

  it('replaces a run of the same id', async () => {
    const kept = keptRuns<ReturnType<typeof run>>(store.settings, 'runs', 2);
    for (const one of [run('a', 1), run('b'), run('a', 2)]) await kept.add(one);
    expect(await kept.list('team', 9)).toEqual([run('a', 2), run('b')]);
  });

  it('finds only what it lists, also where a process was killed within an addition', async () => {
    const { settings } = store;
    const killed = { ...bound(settings), put: () => Promise.reject(new Error('killed')) };
    await expect(keptRuns(killed, 'runs', 2).add(run('a'))).rejects.toThrow('killed');
    const kept = keptRuns<ReturnType<typeof run>>(settings, 'runs', 2);
    expect(await kept.find('team', 'a')).toBeUndefined();
    expect(await kept.list('team', 9)).toEqual([]);
    await kept.add(run('a'));
    expect(await kept.list('team', 9)).toEqual([run('a')]);
  });
});

function bound(settings: Store['settings']) {
  const { get, put, remove, replace } = settings;
  return {
    get: get.bind(settings),
    put: put.bind(settings),
    remove: remove.bind(settings),
    replace: replace.bind(settings),
  };
}
