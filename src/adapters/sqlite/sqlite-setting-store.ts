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

  async putIfAbsent(name: string, json: string): Promise<string> {
    const sql = 'INSERT INTO settings (name, json) VALUES (@name, @json) ON CONFLICT (name) DO NOTHING';
    await this.#db.write(() => this.#db.run(sql, { name, json }));
    return (await this.get(name)) ?? json;
  }
}
