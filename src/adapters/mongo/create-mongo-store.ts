import type { Cipher } from '../../ports/cipher.js';
import type { Store } from '../../ports/note-store.js';
import { checkEncryption, storeSealing } from '../records/check-encryption.js';
import { type AuditLinkDocument, MongoAuditChain } from './mongo-audit-chain.js';
import { type AuditIntentDocument, MongoAuditIntents } from './mongo-audit-intents.js';
import { MongoAuditLog } from './mongo-audit-log.js';
import { type ChangeDocument, MongoChangeLog } from './mongo-change-log.js';
import { acceptsVectorSubtype, MongoConnection } from './mongo-connection.js';
import type { AuditDocument, NoteDocument, VectorSubtype } from './mongo-documents.js';
import { MongoDoorbell } from './mongo-doorbell.js';
import { createIndexes } from './mongo-indexes.js';
import { type JobDocument, MongoJobStore } from './mongo-job-store.js';
import { type KeyDocument, MongoKeyStore } from './mongo-key-store.js';
import { migrateDocuments } from './mongo-migrations.js';
import { MongoNoteStore } from './mongo-note-store.js';
import { MongoReceiptStore, type ReceiptDocument } from './mongo-receipt-store.js';
import { MongoSettingStore, type SettingDocument } from './mongo-setting-store.js';
import { MongoTrialStore, type TrialDocument } from './mongo-trial-store.js';
import { MongoVersionKeeper, MongoVersionStore, type VersionDocument } from './mongo-version-store.js';
import { WriteCompletion } from './mongo-write-completion.js';

export interface MongoStoreOptions {
  /** `mongodb://` or `mongodb+srv://`; never printed. */
  readonly uri: string;
  /** Default: the URI's, else `test` as the driver says. */
  readonly database?: string | undefined;
  /** Encoding of vectors: 9 is what Atlas Vector Search indexes, 0 plain bytes. Default: 9 where the server takes it. */
  readonly vectorSubtype?: VectorSubtype | undefined;
  /** How long a call waits for a usable server before `STORE_UNAVAILABLE`. Default 5,000. */
  readonly serverSelectionTimeoutMs?: number | undefined;
  /** Connections at most. Default: the driver's 100, and 1 on FerretDB 1, whose updates are not atomic. */
  readonly maxPoolSize?: number | undefined;
  /** How long an audit event may wait for its link in the chain before another process makes it. Default 5,000. */
  readonly auditLeaseMs?: number | undefined;
  /** Seals texts and vectors. Default: none, they are stored as they are. */
  readonly cipher?: Cipher | undefined;
}

const SERVER_SELECTION_TIMEOUT_MS = 5_000;

/**
 * Opens the store of a team: any number of processes may share it (on FerretDB 1, one).
 *
 * Errors: `ENCRYPTION_KEY_*`; `INVALID_CONFIG` for a URI that cannot be parsed, `STORE_UNAVAILABLE` with what to check.
 */
export async function createMongoStore(options: MongoStoreOptions): Promise<Store> {
  const { uri, database, maxPoolSize, serverSelectionTimeoutMs = SERVER_SELECTION_TIMEOUT_MS } = options;
  const target = { uri, database, maxPoolSize, serverSelectionTimeoutMs };
  const connection = await MongoConnection.open(target);
  try {
    await connection.run(() => createIndexes(connection));
    const vectorSubtype = options.vectorSubtype ?? ((await acceptsVectorSubtype(target)) ? 9 : 0);
    const settings = new MongoSettingStore(connection, connection.collection<SettingDocument>('settings'));
    await checkEncryption(settings, options.cipher);
    const notes = connection.collection<NoteDocument>('notes');
    await connection.run(() => migrateDocuments(notes, settings));
    const { cipher, auditLeaseMs } = options;
    return await assemble(connection, { vectorSubtype, settings, cipher, auditLeaseMs });
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function assemble(
  connection: MongoConnection,
  parts: {
    readonly vectorSubtype: VectorSubtype;
    readonly settings: MongoSettingStore;
    readonly cipher: Cipher | undefined;
    readonly auditLeaseMs: number | undefined;
  },
): Promise<Store> {
  const { vectorSubtype, settings, cipher, auditLeaseMs } = parts;
  const notes = connection.collection<NoteDocument>('notes');
  const audit = connection.collection<AuditDocument>('audit');
  const chain = new MongoAuditChain(connection.collection<AuditLinkDocument>('auditChain'));
  const intents = new MongoAuditIntents(
    connection.collection<AuditIntentDocument>('auditIntents'),
    auditLeaseMs,
  );
  const log = new MongoAuditLog(connection, { events: audit, chain, intents, notes });
  await log.adopt();
  await log.complete();
  const entries = connection.collection<ChangeDocument>('changes');
  const changes = new MongoChangeLog(entries);
  const doorbell = new MongoDoorbell(entries, !connection.isSerial, () => changes.last());
  const versions = connection.collection<VersionDocument>('versions');
  const keeper = new MongoVersionKeeper(notes, versions);
  const completion = new WriteCompletion({ notes, audit, chain, changes, keeper });
  return {
    description: `${connection.serverDescription}${cipher === undefined ? '' : ', encrypted'}`,
    notes: new MongoNoteStore({
      connection,
      notes,
      changes,
      completion,
      log,
      keeper,
      doorbell,
      vectorSubtype,
      cipher,
    }),
    audit: log,
    versions: new MongoVersionStore(connection, notes, versions, cipher),
    receipts: new MongoReceiptStore(connection, connection.collection<ReceiptDocument>('receipts')),
    trials: new MongoTrialStore(connection, connection.collection<TrialDocument>('trials')),
    jobs: new MongoJobStore(connection, connection.collection<JobDocument>('jobs')),
    keys: new MongoKeyStore(connection, connection.collection<KeyDocument>('keys')),
    settings,
    sealing: storeSealing(settings, cipher),
    ping: () => connection.ping(),
    close: async () => {
      await doorbell.close();
      await connection.close();
    },
  };
}
