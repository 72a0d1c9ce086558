import { createHash } from 'node:crypto';
import type { Caller } from '../../domain/api-key.js';
import { ErrataError } from '../../domain/errors.js';
import type { Finding, NoteId } from '../../domain/note.js';
import type { Clock } from '../../ports/clock.js';
import type { CorrectionInput, NoteCommands, SubmitOutcome, SubmitResult } from '../../ports/use-cases.js';
import { type DecodedText, decodeText } from './decode-text.js';
import type { ImportDefaults, ImportRow, ParsedFile } from './import-row.js';
import { parseCsv } from './parse-csv.js';
import { parseJsonl } from './parse-jsonl.js';
import { declaredXmlEncoding, parseSuppressionXml } from './parse-suppression-xml.js';

export const IMPORT_FORMATS = ['jsonl', 'csv', 'suppression-xml'] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

export interface ImportRequest extends ImportDefaults {
  /** Base name: it stands in messages and, as `source.record`, in notes without a source of their own. */
  readonly fileName: string;
  readonly bytes: Uint8Array;
  /** None: by the file name's ending. */
  readonly format?: ImportFormat | undefined;
  readonly encoding?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RowReport {
  readonly row: number;
  readonly line: number;
  /** SKIPPED: left out by rule, such as a deprecated note of an export. UNCHANGED: stored already, nothing new. */
  readonly outcome: SubmitOutcome | 'SKIPPED' | 'UNCHANGED';
  /** The note that stands for the row: its own, or the one it is a duplicate of. */
  readonly noteId?: NoteId | undefined;
  /** Notes that left retrieval, since the row names something they depend on in another state. */
  readonly demoted: readonly NoteId[];
  readonly findings: readonly Finding[];
}

export interface ImportProgress {
  readonly done: number;
  readonly total: number;
  /** The rows since the last progress. */
  readonly rows: readonly RowReport[];
}

export interface ImportSummary {
  readonly format: ImportFormat;
  /** As declared or detected. */
  readonly encoding: string;
  readonly rows: number;
  readonly outcomes: Readonly<Partial<Record<RowReport['outcome'], number>>>;
  readonly ignored: readonly string[];
  readonly elapsedMs: number;
}

export interface Importer {
  /**
   * Reads the whole file first, then stores it batch by batch, yielding after each; returns the summary. A row that is
   * refused stops nothing. Killed or stopped, the next run of the same file passes over what is stored without embedding it.
   *
   * Errors: `INVALID_FILE`, `UNSUPPORTED_ENCODING`, `INVALID_INPUT` before anything is stored; `ABORTED` between batches;
   * store and model errors.
   */
  importFile(caller: Caller, request: ImportRequest): AsyncGenerator<ImportProgress, ImportSummary, void>;
}

/** 128 corrections make one embedder call of 256 texts. */
const BATCH_SIZE = 128;

export function createImporter({ commands, clock }: { commands: NoteCommands; clock: Clock }): Importer {
  return {
    async *importFile(importer, request) {
      const caller: Caller = { ...importer, origin: { ...importer.origin, via: 'IMPORT' } };
      const startMs = clock.nowMs();
      const { rows, ignored, format, encoding } = parseFile(request);
      const run = importRun(request.bytes);
      const outcomes: Partial<Record<RowReport['outcome'], number>> = {};
      for (let from = 0; from < rows.length; from += BATCH_SIZE) {
        if (request.signal?.aborted === true) {
          throw new ErrataError(
            'ABORTED',
            'Expected the import to run to its end, received a request to stop',
          );
        }
        const batch = rows.slice(from, from + BATCH_SIZE);
        const reports = await storeBatch(commands, caller, batch, { record: request.fileName, run });
        for (const { outcome } of reports) {
          outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        }
        yield { done: from + batch.length, total: rows.length, rows: reports };
      }
      return { format, encoding, rows: rows.length, outcomes, ignored, elapsedMs: clock.nowMs() - startMs };
    },
  };
}

/** Reads a file into rows without storing anything. Pure. Errors: `INVALID_FILE`, `UNSUPPORTED_ENCODING`, `INVALID_INPUT`. */
export function parseFile(request: ImportRequest): ParsedFile & Pick<ImportSummary, 'format' | 'encoding'> {
  const { fileName, bytes } = request;
  const defaults: ImportDefaults = {
    ...(request.namespace === undefined ? {} : { namespace: request.namespace }),
    ...(request.taskType === undefined ? {} : { taskType: request.taskType }),
  };
  const format = request.format ?? formatOf(fileName);
  const encoding =
    request.encoding ?? (format === 'suppression-xml' ? declaredXmlEncoding(bytes) : undefined);
  const decoded = decodeText({ fileName, bytes, encoding });
  return { ...parseRows(format, decoded, fileName, defaults), format, encoding: decoded.encoding };
}

function parseRows(
  format: ImportFormat,
  decoded: DecodedText,
  fileName: string,
  defaults: ImportDefaults,
): ParsedFile {
  switch (format) {
    case 'jsonl':
      return parseJsonl(decoded, defaults);
    case 'csv':
      return parseCsv(decoded, fileName, defaults);
    case 'suppression-xml':
      return parseSuppressionXml(decoded, fileName, defaults);
  }
}

function formatOf(fileName: string): ImportFormat {
  const ending = /\.([a-z0-9]+)$/iu.exec(fileName)?.[1]?.toLowerCase();
  switch (ending) {
    case 'jsonl':
    case 'ndjson':
      return 'jsonl';
    case 'csv':
    case 'tsv':
      return 'csv';
    case 'xml':
      return 'suppression-xml';
    default:
      throw new ErrataError(
        'INVALID_INPUT',
        `Expected a format (${IMPORT_FORMATS.join(', ')}) or an ending that tells it for ${fileName}, received neither`,
      );
  }
}

async function storeBatch(
  commands: NoteCommands,
  caller: Caller,
  rows: readonly ImportRow[],
  file: { readonly record: string; readonly run: string },
): Promise<readonly RowReport[]> {
  // The row number is left out of the source: a file that grew at its top must not look like new support for every row.
  const fallback = { kind: 'import', author: caller.name, ...file };
  const results: SubmitResult[] = [];
  const inputs = rows.flatMap((row) => row.inputs.map((input) => withSource(input, fallback)));
  for (let from = 0; from < inputs.length; from += BATCH_SIZE) {
    results.push(...(await commands.submitMany(caller, inputs.slice(from, from + BATCH_SIZE))));
  }
  const next = results.values();
  return rows.map(({ row, line, inputs: own, rejected }) => {
    if (rejected !== undefined) {
      return { row, line, outcome: rejected.outcome, demoted: [], findings: [rejected.finding] };
    }
    const mine = own.map(() => next.next().value as SubmitResult);
    const [first] = mine;
    return {
      row,
      line,
      outcome: outcomeOf(mine),
      noteId: (first?.note ?? first?.duplicateOf)?.id,
      demoted: mine.flatMap(({ demoted = [] }) => demoted),
      findings: first?.findings ?? [],
    };
  });
}

/** A record of several sources is unchanged only where none of them was new. */
function outcomeOf(results: readonly SubmitResult[]): RowReport['outcome'] {
  const changed = results.find(({ unchanged }) => unchanged !== true);
  if (changed !== undefined) return changed.outcome;
  return results.length === 0 ? 'SKIPPED' : 'UNCHANGED';
}

/** Names an import by its file's content: SHA-256, first 16 hex digits. What one import brought can be taken back as one. */
export function importRun(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex').slice(0, 16);
}

function withSource(
  input: CorrectionInput,
  fallback: { kind: string; author: string; record: string; run: string },
): CorrectionInput {
  const source = input.source ?? fallback;
  return { ...input, source: { ...source, run: fallback.run } };
}
