import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { ImportedRow, ImportReport, ImportRequest } from '../cli/cli-deps.js';
import { ErrataError } from '../domain/errors.js';
import {
  createImporter,
  IMPORT_FORMATS,
  type ImportFormat,
  type RowReport,
} from '../notes/import/import-file.js';
import { systemClock } from '../ports/clock.js';
import type { NoteCommands } from '../ports/use-cases.js';
import { COMMAND_LINE } from './command-line-caller.js';

/** Files are read whole: parsing must see the end of a file before the first row is stored. */
const MAX_FILE_BYTES = 512 * 1_024 * 1_024;

/** Imports one file as the command line asks for it. Errors: the importer's; `INPUT_TOO_LARGE` over 512 MiB. */
export async function importFile(commands: NoteCommands, request: ImportRequest): Promise<ImportReport> {
  const bytes = await readFile(request.file);
  if (bytes.byteLength > MAX_FILE_BYTES) {
    throw new ErrataError(
      'INPUT_TOO_LARGE',
      `Expected at most ${MAX_FILE_BYTES} bytes for a file, received ${bytes.byteLength}`,
    );
  }
  const importer = createImporter({ commands, clock: systemClock });
  const run = importer.importFile(COMMAND_LINE, {
    fileName: path.basename(request.file),
    bytes,
    format: checkFormat(request.format),
    encoding: request.encoding,
    namespace: request.namespace,
    taskType: request.taskType,
    signal: request.signal,
  });
  const rows: ImportedRow[] = [];
  for (;;) {
    const step = await run.next();
    if (step.done === true) {
      const { format, encoding } = step.value;
      return { file: request.file, format, encoding, rows };
    }
    rows.push(...step.value.rows.map(toImportedRow));
    request.onProgress?.({ done: step.value.done, total: step.value.total });
  }
}

function checkFormat(format: string | undefined): ImportFormat | undefined {
  if (format === undefined) return undefined;
  const known = IMPORT_FORMATS.find((name) => name === format);
  if (known === undefined) {
    throw new ErrataError(
      'INVALID_INPUT',
      `Expected one of ${IMPORT_FORMATS.join(', ')} for format, received another`,
    );
  }
  return known;
}

function toImportedRow({ row, outcome, noteId, demoted, findings }: RowReport): ImportedRow {
  const [first] = findings;
  return {
    row,
    outcome,
    noteId,
    ...(demoted.length > 0 && { demoted }),
    reason: first === undefined ? undefined : `${first.field}: ${first.reason}`,
  };
}
