import type { Finding } from '../../domain/note.js';
import type { CorrectionInput } from '../../ports/use-cases.js';

/** One record of a file, ready to be submitted, or the reason why it cannot be. */
export interface ImportRow {
  /** Number of the record in its file, from 1; headings do not count. */
  readonly row: number;
  /** Line of the file that the record begins on, from 1. */
  readonly line: number;
  /** Unchecked; several where one record stands for several sources of one note. */
  readonly inputs: readonly CorrectionInput[];
  /** Set where nothing of the record is submitted: `SKIPPED` by rule, `REFUSED` as unreadable. */
  readonly rejected?: { readonly outcome: 'SKIPPED' | 'REFUSED'; readonly finding: Finding } | undefined;
}

/** What a file gave. */
export interface ParsedFile {
  readonly rows: readonly ImportRow[];
  /** Columns or keys that no field was found for. */
  readonly ignored: readonly string[];
}

/** What is filled in where a record does not say. */
export interface ImportDefaults {
  readonly namespace?: string | undefined;
  readonly taskType?: string | undefined;
}

/** A record that cannot be read. */
export function refusedRow(row: number, line: number, field: string, reason: string): ImportRow {
  return {
    row,
    line,
    inputs: [],
    rejected: { outcome: 'REFUSED', finding: { rule: 'import.row', field, reason } },
  };
}
