import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Database from 'better-sqlite3';
import { createSqliteStore } from '../../../src/adapters/sqlite/create-sqlite-store.js';
import type { Cipher } from '../../../src/ports/cipher.js';
import type { Store } from '../../../src/ports/note-store.js';
import type { StoreFixture } from '../../contract/store/fixture.js';

/** Runs a statement as another program with access to the file would. */
export function runSql(file: string, sql: string, ...parameters: unknown[]): void {
  const db = new Database(file);
  db.prepare(sql).run(...parameters);
  db.close();
}

export async function createSqliteFixture(
  sealing?: Cipher,
): Promise<StoreFixture & { readonly file: string }> {
  const folder = await mkdtemp(path.join(tmpdir(), 'errata-sqlite-'));
  const file = path.join(folder, 'data', 'errata.db');
  const opened: Store[] = [];
  const connect = async (cipher = sealing): Promise<Store> => {
    const store = await createSqliteStore({ path: file, cipher });
    opened.push(store);
    return store;
  };
  return {
    file,
    store: await connect(),
    connect,
    damage: async (id) => runSql(file, `UPDATE notes SET rest = '{"attributes":' WHERE id = ?`, id),
    forge: {
      renameActor: async (id, actor) => runSql(file, 'UPDATE audit SET actor = ? WHERE id = ?', actor, id),
      dropEvent: async (id) => runSql(file, 'DELETE FROM audit WHERE id = ?', id),
      dropLink: async (number) => runSql(file, 'DELETE FROM audit_chain WHERE number = ?', number),
      dropChain: async () => runSql(file, 'DELETE FROM audit_chain'),
      addEvent: async (id) =>
        runSql(
          file,
          "INSERT INTO audit (id, at, version, actor, action, changes) VALUES (?, '2026-01-01T00:00:00.000Z', 0, 'x', 'created', '[]')",
          id,
        ),
    },
    raw: async () => {
      const names = await readdir(path.dirname(file));
      return Buffer.concat(
        await Promise.all(names.map((name) => readFile(path.join(path.dirname(file), name)))),
      );
    },
    dispose: async () => {
      await Promise.all(opened.map((store) => store.close()));
      await rm(folder, { recursive: true });
    },
  };
}
