import type { Instant, NoteId } from '../../domain/note.js';
import type { Receipt } from '../../domain/retrieval.js';
import type { ReceiptStore } from '../../ports/note-store.js';
import type { Row, SqliteDatabase } from './sqlite-database.js';
import { parseObject } from './sqlite-note-rows.js';

/** One is written a retrieval, so writes do not wait for the disk: a loss of power may take the last few. */
export class SqliteReceiptStore implements ReceiptStore {
  readonly #db: SqliteDatabase;

  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  put(receipt: Receipt): Promise<void> {
    const { id, namespace, createdAt } = receipt;
    const body = JSON.stringify(receipt);
    return this.#db.writeRelaxed(() => {
      this.#db.run('DELETE FROM receipts WHERE id = @id', { id });
      this.#db.run('INSERT INTO receipts (id, created_at, body) VALUES (@id, @createdAt, @body)', {
        id,
        createdAt,
        body,
      });
      for (const { noteId } of receipt.notes) {
        const sql = `INSERT OR IGNORE INTO receipt_notes (namespace, note_id, created_at, receipt_id)
          VALUES (@namespace, @noteId, @createdAt, @id)`;
        this.#db.run(sql, { namespace, noteId, createdAt, id });
      }
    });
  }

  async get(id: string): Promise<Receipt | undefined> {
    const row = await this.#db.read(() => this.#db.get('SELECT body FROM receipts WHERE id = @id', { id }));
    return row === undefined ? undefined : readReceipt(row);
  }

  async listByNote(namespace: string, noteId: NoteId, limit: number): Promise<readonly Receipt[]> {
    const sql = `SELECT r.body FROM receipt_notes m JOIN receipts r ON r.id = m.receipt_id
      WHERE m.namespace = @namespace AND m.note_id = @noteId ORDER BY m.created_at DESC, m.receipt_id DESC LIMIT @limit`;
    const rows = await this.#db.read(() => this.#db.all(sql, { namespace, noteId, limit }));
    return rows.flatMap((row) => readReceipt(row) ?? []);
  }

  async listByTime(
    namespace: string,
    { from, to }: { readonly from?: Instant | undefined; readonly to?: Instant | undefined },
    limit: number,
  ): Promise<readonly Receipt[]> {
    // Through the index over times; every note of a receipt has its row, so that one is enough.
    const sql = `SELECT r.body FROM receipts r
      WHERE r.created_at >= @from AND (@to IS NULL OR r.created_at < @to)
        AND EXISTS (SELECT 1 FROM receipt_notes m WHERE m.receipt_id = r.id AND m.namespace = @namespace)
      ORDER BY r.created_at DESC, r.id DESC LIMIT @limit`;
    const parameters = { namespace, from: from ?? '', to: to ?? null, limit };
    const rows = await this.#db.read(() => this.#db.all(sql, parameters));
    return rows.flatMap((row) => readReceipt(row) ?? []);
  }

  prune(before: Instant): Promise<number> {
    return this.#db.writeRelaxed(() =>
      this.#db.run('DELETE FROM receipts WHERE created_at < @before', { before }),
    );
  }
}

/** Receipts are this program's own output, written whole: what parses is taken as one. */
function readReceipt(row: Row): Receipt | undefined {
  return parseObject(row.body) as Receipt | undefined;
}
