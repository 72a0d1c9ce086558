import type { AuditEvent } from '../../domain/audit.js';
import { type AuditLink, nextLink, sealed } from '../../domain/audit-chain.js';
import { readAuditLink } from '../records/audit-record.js';
import type { Row, SqliteDatabase } from './sqlite-database.js';

const COLUMNS = 'number, events, previous, hash';

/** Inside a write: nobody else can take the number. */
export function sealEvents(db: SqliteDatabase, events: readonly AuditEvent[]): void {
  const { number, events: list, previous, hash } = nextLink(lastLink(db), events.map(sealed));
  db.run(
    'INSERT INTO audit_chain (number, events, previous, hash) VALUES (@number, @list, @previous, @hash)',
    {
      number,
      list: JSON.stringify(list),
      previous,
      hash,
    },
  );
}

export function lastLink(db: SqliteDatabase): AuditLink | undefined {
  const row = db.get(`SELECT ${COLUMNS} FROM audit_chain ORDER BY number DESC LIMIT 1`);
  return row === undefined ? undefined : readLink(row);
}

export function readLinks(db: SqliteDatabase, number: number, limit: number): readonly AuditLink[] {
  const sql = `SELECT ${COLUMNS} FROM audit_chain WHERE number > @number ORDER BY number LIMIT @limit`;
  return db.all(sql, { number, limit }).map(readLink);
}

function readLink(row: Row): AuditLink {
  return readAuditLink({ ...row, events: String(row.events) });
}
