import type { Command } from 'commander';
import { LIMITS } from '../../domain/limits.js';
import type { FieldChange, NoteEffect } from '../../ports/use-cases.js';
import { type CliContext, defineCommand, firstArgument, wholeNumber } from '../define-command.js';
import { noteDetails } from '../note-view.js';
import { CLI_CALLER, type Session } from '../session.js';
import { printable, wrap } from '../text-layout.js';

interface VersionsOptions {
  readonly namespace: string;
  readonly limit: number;
}

interface RestoreOptions {
  readonly namespace: string;
  readonly reason: string;
  readonly to: number;
}

export const changeLine = ({ field, before, after }: FieldChange): string =>
  printable(`${field}: ${before ?? 'none'} → ${after ?? 'none'}`);

async function versions(session: Session, args: readonly string[], options: VersionsOptions): Promise<void> {
  const { notes } = (await session.open('store')).useCases;
  const found = await notes.versions(options.namespace, firstArgument(args, 'id'), options.limit);
  await session.answer(found, () =>
    found.flatMap(({ note, action, actor, reason, changes }) => [
      `${session.style.bold(String(note.version))}  ${note.updatedAt}  ${action ?? 'unknown'} by ${printable(actor ?? 'unknown')}`,
      ...(reason === undefined ? [] : wrap(printable(reason), session.width, '  ')),
      ...changes.flatMap((change) => wrap(changeLine(change), session.width, '  ')),
    ]),
  );
}

async function restoreVersion(
  session: Session,
  args: readonly string[],
  { namespace, reason, to }: RestoreOptions,
): Promise<void> {
  const { commands } = (await session.open('everything')).useCases;
  const note = await commands.restoreVersion(CLI_CALLER, namespace, firstArgument(args, 'id'), to, reason);
  await session.answer(note, () => noteDetails(note, session));
}

const percent = (value: number): string => `${(value * 100).toFixed(1)}%`;

function effectLine(name: string, { served, withheld, effect }: NoteEffect): string {
  const of = ({ count, total }: { count: number; total: number }): string => `${count} of ${total}`;
  const change = `${effect.difference < 0 ? '' : '+'}${percent(effect.difference)}`;
  return `${name}  ${change} (${percent(effect.low)} … ${percent(effect.high)}): right ${of(served)} served, ${of(withheld)} withheld`;
}

async function effects(session: Session, _args: readonly string[], options: VersionsOptions): Promise<void> {
  const { notes } = (await session.open('store')).useCases;
  const report = await notes.effects(options.namespace, options.limit);
  await session.answer(report, () => [
    effectLine('all notes', report.all),
    ...report.notes.map((note) => effectLine(note.noteId, note)),
  ]);
}

/** Below `errata notes`. */
export function addNoteHistory(notes: Command, context: CliContext): void {
  defineCommand(
    notes
      .command('versions')
      .description('a note as it was, with what each version changed')
      .argument('<id>', 'the whole id')
      .option('-n, --namespace <name>', 'namespace', 'default')
      .option('--limit <n>', 'versions at most', wholeNumber(1, LIMITS.pageSize), 20),
    context,
    versions,
  );
  defineCommand(
    notes
      .command('effects')
      .description('what notes do to the share of right checks, where withholding is on')
      .option('-n, --namespace <name>', 'namespace', 'default')
      .option('--limit <n>', 'notes at most', wholeNumber(1, LIMITS.pageSize), 20),
    context,
    effects,
  );
  defineCommand(
    notes
      .command('restore-version')
      .description('give a note the attributes, impact and dates of an earlier version')
      .argument('<id>', 'the whole id')
      .requiredOption('--to <version>', 'its number', wholeNumber(1, Number.MAX_SAFE_INTEGER))
      .requiredOption('--reason <text>', 'why; kept in the history')
      .option('-n, --namespace <name>', 'namespace', 'default'),
    context,
    restoreVersion,
  );
}
