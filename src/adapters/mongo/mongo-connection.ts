import {
  Binary,
  type Collection,
  type Db,
  type Document,
  MongoClient,
  type MongoClientOptions,
  MongoNetworkError,
} from 'mongodb';
import { ErrataError } from '../../domain/errors.js';
import { fromMongo } from './mongo-errors.js';

export interface MongoConnectionOptions {
  readonly uri: string;
  readonly database?: string | undefined;
  readonly serverSelectionTimeoutMs: number;
  /** Connections at most; 1 makes every command wait for the one before it. */
  readonly maxPoolSize?: number | undefined;
}

/** Every command goes through `run`, which refuses after close and translates errors. */
export class MongoConnection {
  readonly #client: MongoClient;
  readonly #db: Db;
  /** `host:port,…` without user and password: for messages. */
  readonly servers: string;
  readonly serverDescription: string;
  /** One command at a time: change streams, which occupy a connection, cannot run. */
  readonly isSerial: boolean;
  /** Over documents, which FerretDB 1 refuses. */
  readonly knowsElemMatch: boolean;
  #closed = false;

  private constructor(client: MongoClient, database: string | undefined, server: Document) {
    this.#client = client;
    this.#db = database === undefined ? client.db() : client.db(database);
    this.servers = serverNames(client);
    this.isSerial = client.options.maxPoolSize === 1;
    this.knowsElemMatch = !isFerretDb1(server);
    this.serverDescription = describeServer(server);
  }

  static async open(options: MongoConnectionOptions): Promise<MongoConnection> {
    const client = createClient(options);
    try {
      await client.connect();
      const server = await client.db('admin').command({ buildInfo: 1 });
      // FerretDB 1 loses concurrent updates: right only where one connection of one process writes.
      if (isFerretDb1(server) && client.options.maxPoolSize !== 1) {
        await client.close();
        return await MongoConnection.open({ ...options, maxPoolSize: 1 });
      }
      return new MongoConnection(client, options.database, server);
    } catch (error) {
      await client.close();
      throw fromMongo(error, serverNames(client));
    }
  }

  collection<T extends Document>(name: string): Collection<T> {
    return this.#db.collection<T>(name);
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    this.checkOpen();
    try {
      return await work();
    } catch (error) {
      this.checkOpen();
      throw fromMongo(error, this.servers);
    }
  }

  async ping(): Promise<void> {
    await this.run(() => this.#db.command({ ping: 1 }));
  }

  checkOpen(): void {
    if (this.#closed)
      throw new ErrataError(
        'CLOSED',
        `Expected an open store at ${this.servers}, received a call after close`,
      );
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#client.close();
  }
}

/**
 * Whether the server takes BSON vectors (binary subtype 9). One that does not ends the connection over a query with one,
 * so that a client of its own asks, once: a pool that loses a connection waits half a second before the next try.
 */
export async function acceptsVectorSubtype(options: MongoConnectionOptions): Promise<boolean> {
  const client = createClient({ ...options, maxPoolSize: 1 }, { retryReads: false });
  try {
    await client.connect();
    const vector = Binary.fromFloat32Array(new Float32Array([1]));
    await client.db(options.database).collection('settings').findOne({ probe: vector });
    return true;
  } catch (error) {
    if (error instanceof MongoNetworkError) return false;
    throw fromMongo(error, serverNames(client));
  } finally {
    await client.close();
  }
}

function createClient(options: MongoConnectionOptions, more: MongoClientOptions = {}): MongoClient {
  const { uri, serverSelectionTimeoutMs, maxPoolSize } = options;
  try {
    return new MongoClient(uri, {
      appName: 'errata',
      serverSelectionTimeoutMS: serverSelectionTimeoutMs,
      connectTimeoutMS: serverSelectionTimeoutMs,
      // An acknowledged note is on the disks of a majority, and what is read back is the primary's word.
      writeConcern: { w: 'majority', journal: true },
      readPreference: 'primary',
      ignoreUndefined: true,
      ...(maxPoolSize === undefined ? {} : { maxPoolSize }),
      ...more,
    });
  } catch {
    // Without the cause: its message quotes the URI.
    const message =
      'Expected a MongoDB URI such as mongodb://user:password@host:27017/errata, received one that cannot be parsed: check that special characters of the password are percent-encoded';
    throw new ErrataError('INVALID_CONFIG', message);
  }
}

function serverNames(client: MongoClient): string {
  const { srvHost, hosts } = client.options;
  return srvHost ?? hosts.map((host) => host.toString()).join(',');
}

function ferretDbVersion(server: Document): string | undefined {
  const version: unknown = server.ferretdb?.version ?? server.ferretdbVersion;
  return typeof version === 'string' ? version.replace(/^v/, '') : undefined;
}

function isFerretDb1(server: Document): boolean {
  return ferretDbVersion(server)?.startsWith('1.') ?? false;
}

function describeServer(server: Document): string {
  const ferretDb = ferretDbVersion(server);
  return ferretDb === undefined
    ? `mongodb ${server.version}`
    : `mongodb ${server.version} (FerretDB ${ferretDb})`;
}
