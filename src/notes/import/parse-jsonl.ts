import type { NoteSource } from '../../domain/note.js';
import { attributesFromPairs } from '../../domain/validate-correction.js';
import type { CorrectionInput } from '../../ports/use-cases.js';
import type { DecodedText } from './decode-text.js';
import { type ImportDefaults, type ImportRow, type ParsedFile, refusedRow } from './import-row.js';

/** Keys that are read; `sources` and `status` are those of exported notes. */
const KNOWN = new Set([
  'namespace',
  'taskType',
  'wrongAnswer',
  'correction',
  'lesson',
  'attributes',
  'impact',
  'source',
  'sources',
  'status',
  'createdAt',
  'expiresAt',
  'reviewAfter',
  'anchors',
]);

/**
 * One JSON object a line, with the fields of a correction; empty lines are passed over. Exported notes are read too: each
 * of their sources is submitted, and deprecated ones are skipped, so that an export does not bring back what was withdrawn.
 * A line that is no object is refused on its own. Linear.
 */
export function parseJsonl({ text }: DecodedText, defaults: ImportDefaults): ParsedFile {
  const ignored = new Set<string>();
  const rows: ImportRow[] = [];
  for (const [index, line] of text.split(/\r\n|[\n\r]/u).entries()) {
    if (line.trim() !== '') {
      rows.push(readLine(line, rows.length + 1, index + 1, defaults, ignored));
    }
  }
  return { rows, ignored: [...ignored] };
}

function readLine(
  line: string,
  row: number,
  lineNumber: number,
  defaults: ImportDefaults,
  ignored: Set<string>,
): ImportRow {
  let record: unknown;
  try {
    record = JSON.parse(line);
  } catch {
    // The parser's own message quotes the text.
    return refusedRow(
      row,
      lineNumber,
      'line',
      `Expected a JSON object on line ${lineNumber}, received invalid JSON`,
    );
  }
  if (typeof record !== 'object' || record === null || Array.isArray(record)) {
    return refusedRow(
      row,
      lineNumber,
      'line',
      `Expected a JSON object on line ${lineNumber}, received another value`,
    );
  }
  const given: Record<string, unknown> = { ...defaults, ...record };
  for (const key of Object.keys(record).filter((name) => !KNOWN.has(name))) {
    ignored.add(key);
  }
  if (given.status === 'DEPRECATED') {
    const reason = 'The note was deprecated where it was exported';
    return {
      row,
      line: lineNumber,
      inputs: [],
      rejected: { outcome: 'SKIPPED', finding: { rule: 'import.deprecated', field: 'status', reason } },
    };
  }
  try {
    return { row, line: lineNumber, inputs: toInputs(given) };
  } catch {
    return refusedRow(
      row,
      lineNumber,
      'attributes',
      'Expected distinct attribute keys and text values, received others',
    );
  }
}

/** Unchecked on purpose: the write path validates. */
function toInputs(given: Record<string, unknown>): readonly CorrectionInput[] {
  const { sources, status: _status, attributes, ...rest } = given;
  const base = { ...rest, ...(attributes === undefined ? {} : { attributes: toMap(attributes) }) };
  const known = Object.fromEntries(Object.entries(base).filter(([key]) => KNOWN.has(key)));
  const all: readonly unknown[] = Array.isArray(sources) && sources.length > 0 ? sources : [given.source];
  return all.map((source) => ({ ...known, source: source as NoteSource }) as unknown as CorrectionInput);
}

function toMap(attributes: unknown): unknown {
  return Array.isArray(attributes) ? attributesFromPairs(attributes) : attributes;
}
