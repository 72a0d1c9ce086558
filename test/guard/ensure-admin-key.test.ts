import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSqliteStore } from '../../src/adapters/sqlite/create-sqlite-store.js';
import { createKeyCommands, ensureAdminKey } from '../../src/guard/key-commands.js';
import { systemClock } from '../../src/ports/clock.js';
import type { Store } from '../../src/ports/note-store.js';

describe('ensureAdminKey', () => {
  let folder: string;
  let stores: Store[];
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'errata-keys-'));
    const path = join(folder, 'errata.sqlite');
    stores = [await createSqliteStore({ path }), await createSqliteStore({ path })];
  });
  afterEach(async () => {
    for (const store of stores) await store.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const depsOf = ({ keys, audit }: Store) => ({ keys, audit, clock: systemClock });

  it('gives one key where two processes start at once, and fails neither', async () => {
    const made = await Promise.all(stores.map((store) => ensureAdminKey(depsOf(store), undefined)));
    const [key, ...others] = made.filter((each) => each !== undefined);
    expect(others).toEqual([]);
    const { authenticate } = createKeyCommands(depsOf(stores[0]!));
    expect(await authenticate(key ?? '')).toMatchObject({ name: 'admin', roles: ['admin'] });
  });

  it('replaces a given key by another, and refuses to bring a revoked one back', async () => {
    const deps = depsOf(stores[0]!);
    const { authenticate } = createKeyCommands(deps);
    const [first, second] = ['the-first-admin-key-of-all', 'the-second-admin-key-of-all'] as const;
    for (const given of [first, second, second]) await ensureAdminKey(deps, given);
    expect(await authenticate(first)).toBeUndefined();
    await expect(ensureAdminKey(deps, first)).rejects.toMatchObject({ code: 'INVALID_CONFIG' });
    expect(await authenticate(second)).toMatchObject({ name: 'admin' });
  });

  it('stores a given key once where two processes start at once', async () => {
    const given = 'an-admin-key-that-both-were-given';
    await Promise.all(stores.map((store) => ensureAdminKey(depsOf(store), given)));
    const { authenticate } = createKeyCommands(depsOf(stores[1]!));
    expect(await authenticate(given)).toMatchObject({ name: 'admin', roles: ['admin'] });
  });
});
