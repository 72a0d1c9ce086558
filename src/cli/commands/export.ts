import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { ErrataError } from '../../domain/errors.js';
import { type CliContext, defineCommand } from '../define-command.js';
import type { Session } from '../session.js';
import { write } from '../terminal.js';
import { addFilterOptions, type FilterOptions, filterOf, scopeOf } from './note-filter.js';

interface ExportOptions extends FilterOptions {
  readonly out?: string;
}

async function exportNotes(
  session: Session,
  _args: readonly string[],
  options: ExportOptions,
): Promise<void> {
  if (session.json && options.out === undefined) {
    throw new ErrataError('INVALID_INPUT', 'Expected --out FILE together with --json, received none');
  }
  const opened = await session.open('store');
  const lines = opened.exportNotes({
    scope: scopeOf(options),
    filter: filterOf(options),
    signal: session.signal,
  });
  if (options.out === undefined) {
    for await (const line of lines) await write(session.terminal.stdout, line);
    return;
  }
  const file = path.resolve(session.terminal.cwd, options.out);
  const notes = await writeFile(file, lines);
  await session.answer({ file, notes }, () => [`${notes} notes written to ${options.out}`]);
}

async function writeFile(file: string, lines: AsyncIterable<string>): Promise<number> {
  const stream = createWriteStream(file);
  let notes = 0;
  try {
    await once(stream, 'open');
  } catch (cause) {
    throw new ErrataError('INVALID_FILE', 'Expected a file that can be written for --out, received another', {
      cause,
    });
  }
  try {
    for await (const line of lines) {
      await write(stream, line);
      notes += 1;
    }
  } finally {
    stream.end();
  }
  await once(stream, 'close');
  return notes;
}

export function addExport(program: Command, context: CliContext): void {
  const command = program
    .command('export')
    .description('write notes as JSONL that "import" reads back, on standard output or to a file');
  addFilterOptions(command).option('-o, --out <file>', 'write to a file');
  defineCommand(command, context, exportNotes);
}
