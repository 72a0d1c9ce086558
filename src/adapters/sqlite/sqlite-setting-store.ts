import type { SettingStore } from '../../ports/note-store.js';
import type { SqliteDatabase } from './sqlite-database.js';

export class SqliteSettingStore implements SettingStore {
  readonly #db: SqliteDatabase;

  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  async get(name: string): Promise<string | undefined> {
    const sql = 'SELECT json FROM settings WHERE name = @name';
    const row = await this.#db.read(() => this.#db.get(sql, { name }));
    return row === undefined ? undefined : String(row.json);
  }

  async put(name: string, json: string): Promise<void> {
    const sql = 'INSERT OR REPLACE INTO settings (name, json) VALUES (@name, @json)';
    await this.#db.write(() => this.#db.run(sql, { name, json }));
  }

  async replace(name: string, expected: string | undefined, json: string): Promise<boolean> {
    const sql =
      expected === undefined
        ? 'INSERT INTO settings (name, json) VALUES (@name, @json) ON CONFLICT (name) DO NOTHING'
        : 'UPDATE settings SET json = @json WHERE name = @name AND json = @expected';
    const values = expected === undefined ? { name, json } : { name, json, expected };
    return (await this.#db.write(() => this.#db.run(sql, values))) > 0;
  }

  async list(prefix: string): Promise<ReadonlyMap<string, string>> {
    const sql = 'SELECT name, json FROM settings WHERE substr(name, 1, @length) = @prefix ORDER BY name';
    const rows = await this.#db.read(() => this.#db.all(sql, { prefix, length: prefix.length }));
    return new Map(rows.map(({ name, json }) => [String(name), String(json)]));
  }

  async remove(name: string): Promise<boolean> {
    return (
      (await this.#db.write(() => this.#db.run('DELETE FROM settings WHERE name = @name', { name }))) > 0
    );
  }

  async putIfAbsent(name: string, json: string): Promise<string> {
    const sql = 'INSERT INTO settings (name, json) VALUES (@name, @json) ON CONFLICT (name) DO NOTHING';
    await this.#db.write(() => this.#db.run(sql, { name, json }));
    return (await this.get(name)) ?? json;
  }
}
