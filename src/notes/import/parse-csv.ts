import { parse } from 'csv-parse/sync';
import { ErrataError } from '../../domain/errors.js';
import type { CorrectionInput } from '../../ports/use-cases.js';
import { fieldOfHeading } from './csv-headings.js';
import type { DecodedText } from './decode-text.js';
import { type ImportDefaults, type ImportRow, type ParsedFile, refusedRow } from './import-row.js';

/** Commas by RFC 4180; semicolons where the comma is the decimal mark; tabs and bars from databases. */
const DELIMITERS = [',', ';', '\t', '|'] as const;
const REQUIRED = ['taskType', 'wrongAnswer', 'correction', 'lesson'] as const;

interface CsvRecord {
  readonly record: readonly string[];
  readonly info: { readonly lines: number };
}

/**
 * RFC 4180 with a heading line: CRLF, LF or CR, quoted delimiters, quotes and line breaks; the delimiter is the one that
 * splits the headings into most parts. Headings are matched without regard to case, spaces, dashes and underscores; see
 * `csv-headings.ts`. A record with another number of fields than headings is refused on its own. Linear.
 *
 * Errors: `INVALID_FILE` with line and byte offset for a quote that is never closed or closed within a field, and for
 * missing headings.
 */
export function parseCsv(decoded: DecodedText, fileName: string, defaults: ImportDefaults): ParsedFile {
  const { text } = decoded;
  const records = readRecords(decoded, fileName, findDelimiter(text));
  const [heading, ...body] = records;
  const columns = (heading?.record ?? []).map((name) => fieldOfHeading(name));
  const present = new Set(columns);
  const missing = REQUIRED.filter(
    (field) => !present.has(field) && !(field === 'taskType' && defaults.taskType !== undefined),
  );
  if (missing.length > 0) {
    throw new ErrataError(
      'INVALID_FILE',
      `Expected headings for ${missing.join(', ')} in ${fileName}, received none for ${missing.length === 1 ? 'it' : 'them'}`,
      { details: { file: fileName, line: 1 } },
    );
  }
  const ignored = (heading?.record ?? []).filter((_, index) => columns[index] === undefined);
  let line = 1 + (heading?.info.lines ?? 0);
  const rows = body.map(({ record, info }, index): ImportRow => {
    const start = line;
    line = info.lines + 1;
    return record.length === columns.length
      ? { row: index + 1, line: start, inputs: [toInput(columns, record, defaults)] }
      : refusedRow(
          index + 1,
          start,
          'record',
          `Expected ${columns.length} fields in the record on line ${start}, received ${record.length}`,
        );
  });
  return { rows, ignored };
}

function readRecords(decoded: DecodedText, fileName: string, delimiter: string): readonly CsvRecord[] {
  try {
    return parse(decoded.text, {
      delimiter,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
      record_delimiter: ['\r\n', '\n', '\r'],
      max_record_size: 1_000_000,
    }) as unknown as readonly CsvRecord[];
  } catch (error) {
    const index = brokenQuote(decoded.text, delimiter);
    const line = decoded.text.slice(0, index).split(/\r\n|[\n\r]/u).length;
    const offset = decoded.byteOffset(index);
    throw new ErrataError(
      'INVALID_FILE',
      `Expected every quote to be closed before a delimiter or line end in ${fileName}, received one on line ${line} (byte ${offset}) that is not`,
      { cause: error, details: { file: fileName, line, byteOffset: offset } },
    );
  }
}

/** Where the quoting goes wrong: the first field whose quote is not closed properly. Linear; on the error path only. */
function brokenQuote(text: string, delimiter: string): number {
  let index = 0;
  while (index < text.length) {
    if (text[index] === '"') {
      const open = index;
      index += 1;
      while (index < text.length && !(text[index] === '"' && text[index + 1] !== '"')) {
        index += text[index] === '"' ? 2 : 1;
      }
      const next = text[index + 1];
      if (
        index >= text.length ||
        (next !== undefined && next !== delimiter && next !== '\n' && next !== '\r')
      ) {
        return open;
      }
      index += 1;
    }
    while (index < text.length && text[index] !== delimiter && text[index] !== '\n' && text[index] !== '\r') {
      if (text[index] === '"') {
        return index;
      }
      index += 1;
    }
    index += 1;
  }
  return text.length;
}

/** Counts delimiters outside quotes on the first line. */
function findDelimiter(text: string): string {
  const counts = new Map<string, number>(DELIMITERS.map((delimiter) => [delimiter, 0]));
  let quoted = false;
  for (const character of text) {
    if (character === '"') {
      quoted = !quoted;
    } else if (!quoted && (character === '\n' || character === '\r')) {
      break;
    } else if (!quoted && counts.has(character)) {
      counts.set(character, (counts.get(character) ?? 0) + 1);
    }
  }
  return [...counts].reduce((best, entry) => (entry[1] > best[1] ? entry : best))[0];
}

/** Empty fields count as not given; the write path validates the rest. */
function toInput(
  columns: readonly (string | undefined)[],
  record: readonly string[],
  defaults: ImportDefaults,
): CorrectionInput {
  const input: Record<string, unknown> = { ...defaults };
  const source: Record<string, string> = {};
  const anchor: Record<string, string> = {};
  const attributes: [string, string][] = [];
  for (const [index, value] of record.entries()) {
    const field = columns[index];
    if (field === undefined || value.trim() === '') {
      continue;
    }
    if (field.startsWith('source.')) {
      source[field.slice('source.'.length)] = value;
    } else if (field.startsWith('anchor.')) {
      const part = field.slice('anchor.'.length);
      anchor[part] = part === 'kind' ? value.trim().toUpperCase() : value;
    } else if (field.startsWith('attributes.')) {
      attributes.push([field.slice('attributes.'.length), value]);
    } else {
      input[field] = field === 'impact' ? value.trim().toUpperCase() : value;
    }
  }
  return {
    ...input,
    ...(attributes.length > 0 ? { attributes: Object.fromEntries(attributes) } : {}),
    ...(Object.keys(source).length > 0 ? { source: { kind: 'import', ...source } } : {}),
    ...(Object.keys(anchor).length > 0 ? { anchors: [anchor] } : {}),
    // An empty required field is refused by its own name rather than as a wrong type.
    wrongAnswer: input.wrongAnswer ?? '',
    correction: input.correction ?? '',
    lesson: input.lesson ?? '',
  } as unknown as CorrectionInput;
}
