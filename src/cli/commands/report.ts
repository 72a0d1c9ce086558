import type { Command } from 'commander';
import { GUARD_REPORTS } from '../cli-deps.js';
import { type CliContext, defineCommand, firstArgument, oneOf } from '../define-command.js';
import { existingFile } from '../read-input.js';
import type { Session } from '../session.js';

interface ReportOptions {
  readonly set?: string;
}

async function report(session: Session, args: readonly string[], options: ReportOptions): Promise<void> {
  const set = options.set === undefined ? undefined : await existingFile(options.set, session.terminal.cwd);
  const made = await session.deps.guardReport({
    config: session.config,
    report: oneOf(GUARD_REPORTS)(firstArgument(args, 'report')),
    set,
    signal: session.signal,
  });
  await session.answer({ report: made.report }, () => made.text.split('\n'));
}

export function addReport(program: Command, context: CliContext): void {
  const command = program
    .command('report')
    .description('measure a guard on labelled texts, with 95% intervals')
    .argument('<report>', GUARD_REPORTS.join(', '))
    .option('--set <file>', "JSONL of labelled texts (default: the project's own)");
  defineCommand(command, context, report);
}
