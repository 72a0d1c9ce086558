import { type ApiKeyRecord, ROLES } from '../../domain/api-key.js';
import { ErrataError } from '../../domain/errors.js';
import type { Instant } from '../../domain/note.js';
import type { KeyStore } from '../../ports/note-store.js';
import type { Row, SqliteDatabase } from './sqlite-database.js';
import { isDuplicate } from './sqlite-errors.js';

const COLUMNS =
  'name, key_hash AS keyHash, roles, namespaces, created_at AS createdAt, revoked_at AS revokedAt';

export class SqliteKeyStore implements KeyStore {
  readonly #db: SqliteDatabase;

  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  async create(key: ApiKeyRecord): Promise<void> {
    const sql = `INSERT INTO api_keys (name, key_hash, roles, namespaces, created_at, revoked_at)
      VALUES (@name, @keyHash, @roles, @namespaces, @createdAt, @revokedAt)`;
    const parameters = {
      name: key.name,
      keyHash: key.keyHash,
      roles: JSON.stringify(key.roles),
      namespaces: key.namespaces === undefined ? null : JSON.stringify(key.namespaces),
      createdAt: key.createdAt,
      revokedAt: key.revokedAt ?? null,
    };
    const made = await this.#db.write(() => {
      try {
        return this.#db.run(sql, parameters) > 0;
      } catch (error) {
        if (isDuplicate(error)) return false;
        throw error;
      }
    });
    if (!made)
      throw new ErrataError('KEY_EXISTS', `Expected an unused name for the key, received ${key.name}`);
  }

  async findByHash(keyHash: string): Promise<ApiKeyRecord | undefined> {
    const sql = `SELECT ${COLUMNS} FROM api_keys WHERE key_hash = @keyHash AND revoked_at IS NULL`;
    const row = await this.#db.read(() => this.#db.get(sql, { keyHash }));
    return row === undefined ? undefined : keyFromRow(row);
  }

  async list(): Promise<readonly ApiKeyRecord[]> {
    const sql = `SELECT ${COLUMNS} FROM api_keys ORDER BY created_at, name, key_hash`;
    return (await this.#db.read(() => this.#db.all(sql))).map(keyFromRow);
  }

  async revoke(name: string, at: Instant): Promise<boolean> {
    const sql = 'UPDATE api_keys SET revoked_at = @at WHERE name = @name AND revoked_at IS NULL';
    return (await this.#db.write(() => this.#db.run(sql, { name, at }))) > 0;
  }
}

/** Grants are read narrowly: an unknown role is none, and damaged JSON fails the look-up rather than widening it. */
function keyFromRow(row: Row): ApiKeyRecord {
  const roles: unknown = JSON.parse(String(row.roles));
  const namespaces: unknown = row.namespaces === null ? undefined : JSON.parse(String(row.namespaces));
  return {
    name: String(row.name),
    keyHash: String(row.keyHash),
    roles: ROLES.filter((role) => Array.isArray(roles) && roles.includes(role)),
    ...(namespaces === undefined ? {} : { namespaces: namespaces as string[] }),
    createdAt: String(row.createdAt),
    ...(row.revokedAt === null ? {} : { revokedAt: String(row.revokedAt) }),
  };
}
