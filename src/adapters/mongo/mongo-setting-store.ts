import type { Collection } from 'mongodb';
import type { SettingStore } from '../../ports/note-store.js';
import type { MongoConnection } from './mongo-connection.js';
import { isDuplicate } from './mongo-errors.js';

export interface SettingDocument {
  readonly _id: string;
  readonly json: string;
}

export class MongoSettingStore implements SettingStore {
  readonly #connection: MongoConnection;
  readonly #settings: Collection<SettingDocument>;

  constructor(connection: MongoConnection, settings: Collection<SettingDocument>) {
    this.#connection = connection;
    this.#settings = settings;
  }

  async get(name: string): Promise<string | undefined> {
    const document = await this.#connection.run(() => this.#settings.findOne({ _id: name }));
    return document?.json;
  }

  async put(name: string, json: string): Promise<void> {
    await this.#connection.run(() => this.#settings.replaceOne({ _id: name }, { json }, { upsert: true }));
  }

  async replace(name: string, expected: string | undefined, json: string): Promise<boolean> {
    if (expected === undefined) return this.#insert(name, json);
    const { matchedCount } = await this.#connection.run(() =>
      this.#settings.updateOne({ _id: name, json: expected }, { $set: { json } }),
    );
    return matchedCount > 0;
  }

  async list(prefix: string): Promise<ReadonlyMap<string, string>> {
    // A range instead of a pattern: names are ASCII, and every server compares strings.
    const range = { $gte: prefix, $lt: `${prefix}\uffff` };
    const documents = await this.#connection.run(() =>
      this.#settings.find({ _id: range }).sort({ _id: 1 }).toArray(),
    );
    return new Map(documents.map(({ _id, json }) => [_id, json]));
  }

  async remove(name: string): Promise<boolean> {
    const result = await this.#connection.run(() => this.#settings.deleteOne({ _id: name }));
    return result.deletedCount > 0;
  }

  async putIfAbsent(name: string, json: string): Promise<string> {
    await this.#insert(name, json);
    return (await this.get(name)) ?? json;
  }

  /** False where there is a value already. */
  #insert(name: string, json: string): Promise<boolean> {
    return this.#connection.run(async () => {
      try {
        await this.#settings.insertOne({ _id: name, json });
        return true;
      } catch (error) {
        if (!isDuplicate(error)) throw error;
        return false;
      }
    });
  }
}
