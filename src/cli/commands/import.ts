import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { ErrataError } from '../../domain/errors.js';
import { IMPORT_FORMATS, type ImportFormat } from '../../notes/import/import-file.js';
import type { ImportReport } from '../cli-deps.js';
import { type CliContext, defineCommand, oneOf } from '../define-command.js';
import { EXIT_CODES } from '../exit-codes.js';
import { existingFile } from '../read-input.js';
import type { Session } from '../session.js';
import { printable, truncate } from '../text-layout.js';

interface ImportOptions {
  readonly namespace: string;
  readonly format?: ImportFormat;
  readonly encoding?: string;
  readonly taskType?: string;
  readonly report?: string;
}

/** Refused rows that the human output names; the report file and `--json` name all. */
const SHOWN_REFUSALS = 20;

function outcomeCounts(report: ImportReport): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { outcome } of report.rows) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

function reportLines(report: ImportReport, session: Session): string[] {
  const { style, width } = session;
  const refused = report.rows.filter((row) => row.outcome === 'REFUSED');
  const counts = Object.entries(outcomeCounts(report)).map(([outcome, count]) => `${count} ${outcome}`);
  const lines = [
    `${style.bold(path.basename(report.file))} (${report.format}, ${report.encoding}): ${report.rows.length} ${report.rows.length === 1 ? 'row' : 'rows'}`,
    `  ${counts.length === 0 ? 'nothing to import' : counts.join(', ')}`,
  ];
  for (const { row, line, reason } of refused.slice(0, SHOWN_REFUSALS)) {
    const place = line === undefined ? `row ${row}` : `row ${row}, line ${line}`;
    lines.push(truncate(`  ${place}: ${printable(reason ?? 'refused')}`, width));
  }
  if (refused.length > SHOWN_REFUSALS) {
    lines.push(`  and ${refused.length - SHOWN_REFUSALS} more; --report FILE lists every row`);
  }
  const demoted = new Set(report.rows.flatMap(({ demoted: ids = [] }) => ids)).size;
  if (demoted > 0) {
    lines.push(
      `  ${demoted} ${demoted === 1 ? 'note waits' : 'notes wait'} for review: what they depend on changed (errata queue list)`,
    );
  }
  if (report.ignored !== undefined && report.ignored.length > 0) {
    lines.push(truncate(`  not read: ${printable(report.ignored.join(', '))}`, width));
  }
  return lines;
}

async function importFiles(session: Session, args: readonly string[], options: ImportOptions): Promise<void> {
  // Every name is checked before the first row is written.
  const files = await Promise.all(args.map((name) => existingFile(name, session.terminal.cwd)));
  const { importFile } = await session.open('everything');
  const reports: ImportReport[] = [];
  for (const file of files) {
    const display = session.progress(`import ${path.basename(file)}`);
    try {
      reports.push(
        await importFile({
          file,
          namespace: options.namespace,
          format: options.format,
          encoding: options.encoding,
          taskType: options.taskType,
          onProgress: (progress) => display.update(progress),
          signal: session.signal,
        }),
      );
    } finally {
      display.stop();
    }
  }
  const document = { files: reports.map((report) => ({ ...report, counts: outcomeCounts(report) })) };
  if (options.report !== undefined) await writeReport(options.report, document, session);
  await session.answer(document, () => reports.flatMap((report) => reportLines(report, session)));
  if (reports.some(({ rows }) => rows.some(({ outcome }) => outcome === 'REFUSED'))) {
    session.finish(EXIT_CODES.findings);
  }
}

async function writeReport(name: string, document: unknown, session: Session): Promise<void> {
  try {
    await writeFile(path.resolve(session.terminal.cwd, name), `${JSON.stringify(document, undefined, 2)}\n`);
  } catch (cause) {
    throw new ErrataError(
      'INVALID_FILE',
      'Expected a file that can be written for --report, received another',
      {
        cause,
      },
    );
  }
}

export function addImport(program: Command, context: CliContext): void {
  const command = program
    .command('import')
    .description('import corrections; a repeat of the same file adds nothing')
    .argument('<files...>', 'JSONL, CSV or OWASP Dependency-Check suppression XML')
    .option('-n, --namespace <name>', 'namespace', 'default')
    .option(
      '--format <name>',
      `${IMPORT_FORMATS.join(', ')} (default: by the file's name)`,
      oneOf(IMPORT_FORMATS),
    )
    .option('--encoding <name>', 'such as utf-8, utf-16le, windows-1252 (default: detected, or refused)')
    .option('-t, --task-type <name>', 'for rows that name none')
    .option('--report <file>', 'write what became of every row, as JSON');
  defineCommand(command, context, importFiles);
}
