import type { Collection } from 'mongodb';
import { type ApiKeyRecord, ROLES } from '../../domain/api-key.js';
import { ErrataError } from '../../domain/errors.js';
import type { Instant } from '../../domain/note.js';
import type { KeyStore } from '../../ports/note-store.js';
import type { MongoConnection } from './mongo-connection.js';
import { isDuplicate } from './mongo-errors.js';

/** `revokedAt` is `null` while the key lives. */
export interface KeyDocument extends Omit<ApiKeyRecord, 'revokedAt'> {
  readonly _id: string;
  readonly revokedAt: Instant | null;
}

const liveId = (name: string): string => `key:${name}`;
const archivedId = (keyHash: string): string => `revoked:${keyHash}`;

/**
 * The newest key of a name has the id `key:NAME`, live or revoked: that makes live names unique without a partial index.
 * A revoked one moves away when its name is used again.
 */
export class MongoKeyStore implements KeyStore {
  readonly #connection: MongoConnection;
  readonly #keys: Collection<KeyDocument>;

  constructor(connection: MongoConnection, keys: Collection<KeyDocument>) {
    this.#connection = connection;
    this.#keys = keys;
  }

  async create(key: ApiKeyRecord): Promise<void> {
    const created = await this.#connection.run(() =>
      this.#create({ ...key, revokedAt: key.revokedAt ?? null }),
    );
    if (!created)
      throw new ErrataError('KEY_EXISTS', `Expected an unused name for the key, received ${key.name}`);
  }

  async findByHash(keyHash: string): Promise<ApiKeyRecord | undefined> {
    const document = await this.#connection.run(() => this.#keys.findOne({ keyHash, revokedAt: null }));
    return document === null ? undefined : keyFromDocument(document);
  }

  async list(): Promise<readonly ApiKeyRecord[]> {
    const documents = await this.#connection.run(() =>
      this.#keys.find().sort({ createdAt: 1, _id: 1 }).toArray(),
    );
    // A key that is being moved away is there twice.
    const byHash = new Map(documents.map((document) => [document.keyHash, keyFromDocument(document)]));
    return [...byHash.values()];
  }

  async revoke(name: string, at: Instant): Promise<boolean> {
    const filter = { _id: liveId(name), revokedAt: null };
    const result = await this.#connection.run(() =>
      this.#keys.updateOne(filter, { $set: { revokedAt: at } }),
    );
    return result.matchedCount > 0;
  }

  async #create(key: Omit<KeyDocument, '_id'>): Promise<boolean> {
    const _id = liveId(key.name);
    if (await this.#insert({ ...key, _id })) return true;
    const held = await this.#keys.findOne({ _id });
    if (held === null || held.revokedAt === null) return false;
    await this.#insert({ ...held, _id: archivedId(held.keyHash) });
    // Of several that want the name, one still finds the revoked key.
    const result = await this.#keys.replaceOne(
      { _id, keyHash: held.keyHash, revokedAt: held.revokedAt },
      key,
    );
    return result.matchedCount > 0;
  }

  async #insert(document: KeyDocument): Promise<boolean> {
    try {
      await this.#keys.insertOne(document);
      return true;
    } catch (error) {
      if (isDuplicate(error)) return false;
      throw error;
    }
  }
}

/** Grants are read narrowly: an unknown role is none. */
function keyFromDocument(document: KeyDocument): ApiKeyRecord {
  const { name, keyHash, roles, namespaces, createdAt, revokedAt } = document;
  return {
    name,
    keyHash,
    roles: ROLES.filter((role) => roles.includes(role)),
    ...(namespaces === undefined ? {} : { namespaces }),
    createdAt,
    ...(revokedAt === null ? {} : { revokedAt }),
  };
}
