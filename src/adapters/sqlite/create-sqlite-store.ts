import type { Cipher } from '../../ports/cipher.js';
import type { Store } from '../../ports/note-store.js';
import { checkEncryption, storeSealing } from '../records/check-encryption.js';
import { openSqliteDatabase } from './open-sqlite-database.js';
import { SqliteAuditLog } from './sqlite-audit-log.js';
import { SqliteJobStore } from './sqlite-job-store.js';
import { SqliteKeyStore } from './sqlite-key-store.js';
import { offerSearchedText } from './sqlite-note-queries.js';
import { SqliteNoteStore } from './sqlite-note-store.js';
import { SqliteReceiptStore } from './sqlite-receipt-store.js';
import { SqliteSettingStore } from './sqlite-setting-store.js';
import { SqliteTrialStore } from './sqlite-trial-store.js';
import { SqliteVersionStore } from './sqlite-version-store.js';

export interface SqliteStoreOptions {
  /** The database file; it and its folder are made where absent, readable by their owner only. */
  readonly path: string;
  /** How long a call waits for another process's write before `STORE_BUSY`. Default 5,000. */
  readonly busyTimeoutMs?: number | undefined;
  /** Largest size of the file; a write beyond it fails with `STORE_UNAVAILABLE`. Default: the disk. */
  readonly maxSizeBytes?: number | undefined;
  /** Seals texts and vectors. Default: none, they are stored as they are. */
  readonly cipher?: Cipher | undefined;
}

/** Processes that share the file write one after another; 5 s is hundreds of the longest writes (bulk inserts). */
const BUSY_TIMEOUT_MS = 5_000;

/**
 * Opens the embedded store. Any number of processes of one machine may open the same file.
 *
 * Errors: `ENCRYPTION_KEY_*`; `STORE_UNAVAILABLE` where the file cannot be used, belongs to another program or to a newer Errata.
 */
export async function createSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  const { path, busyTimeoutMs = BUSY_TIMEOUT_MS, maxSizeBytes, cipher } = options;
  const db = await openSqliteDatabase({ path, busyTimeoutMs, maxSizeBytes });
  const version = await db.read(() => String(db.get('SELECT sqlite_version() AS version')?.version));
  const settings = new SqliteSettingStore(db);
  try {
    await checkEncryption(settings, cipher);
    await offerSearchedText(db, cipher);
  } catch (error) {
    db.close();
    throw error;
  }
  const notes = new SqliteNoteStore(db, { cipher });
  const audit = new SqliteAuditLog(db);
  await audit.adopt();
  return {
    description: `sqlite ${version}${cipher === undefined ? '' : ', encrypted'}`,
    notes,
    audit,
    versions: new SqliteVersionStore(db, cipher),
    receipts: new SqliteReceiptStore(db),
    trials: new SqliteTrialStore(db),
    jobs: new SqliteJobStore(db),
    keys: new SqliteKeyStore(db),
    settings,
    sealing: storeSealing(settings, cipher),
    ping: () => db.read(() => void db.get('SELECT 1 AS alive')),
    close: async () => {
      notes.close();
      db.close();
    },
  };
}
