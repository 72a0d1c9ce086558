import type { Trial } from '../../domain/trial.js';
import type { TrialStore } from '../../ports/note-store.js';
import type { Row, SqliteDatabase } from './sqlite-database.js';

const COLUMNS = 'receipt_id AS receiptId, namespace, note_id AS noteId, withheld, at, correct';

export class SqliteTrialStore implements TrialStore {
  readonly #db: SqliteDatabase;

  constructor(db: SqliteDatabase) {
    this.#db = db;
  }

  async put({ receiptId, namespace, noteId, withheld, at }: Trial): Promise<void> {
    const sql = `INSERT OR IGNORE INTO trials (receipt_id, namespace, note_id, withheld, at)
      VALUES (@receiptId, @namespace, @noteId, @withheld, @at)`;
    const parameters = { receiptId, namespace, noteId, withheld: Number(withheld), at };
    await this.#db.writeRelaxed(() => this.#db.run(sql, parameters));
  }

  async settle(receiptId: string, correct: boolean): Promise<boolean> {
    const sql = 'UPDATE trials SET correct = @correct WHERE receipt_id = @receiptId AND correct IS NULL';
    return (await this.#db.write(() => this.#db.run(sql, { receiptId, correct: Number(correct) }))) > 0;
  }

  async settled(namespace: string, limit: number): Promise<readonly Trial[]> {
    const sql = `SELECT ${COLUMNS} FROM trials WHERE namespace = @namespace AND correct IS NOT NULL
      ORDER BY at DESC, receipt_id DESC LIMIT @limit`;
    return (await this.#db.read(() => this.#db.all(sql, { namespace, limit }))).map(toTrial);
  }
}

function toTrial(row: Row): Trial {
  return {
    receiptId: String(row.receiptId),
    namespace: String(row.namespace),
    noteId: String(row.noteId),
    withheld: row.withheld === 1,
    at: String(row.at),
    correct: row.correct === 1,
  };
}
