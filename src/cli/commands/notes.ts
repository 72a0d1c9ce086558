import type { Command } from 'commander';
import { z } from 'zod';
import type { CallOrigin } from '../../domain/audit.js';
import { ErrataError } from '../../domain/errors.js';
import { LIMITS } from '../../domain/limits.js';
import type { FeedbackNote } from '../../domain/note.js';
import type { Keyset, NoteOrder, Page } from '../../ports/note-store.js';
import type { UseCases } from '../../ports/use-cases.js';
import { type CliContext, defineCommand, firstArgument, oneOf, wholeNumber } from '../define-command.js';
import { noteDetails, noteLines, scoredLines } from '../note-view.js';
import type { Session } from '../session.js';
import { printable, wrap } from '../text-layout.js';
import { addFilterOptions, type FilterOptions, filterOf, instant, scopeOf } from './note-filter.js';
import { addNoteHistory, changeLine } from './note-history.js';

const ORDERS = [
  'CREATED_DESC',
  'CREATED_ASC',
  'UPDATED_DESC',
  'RISK_DESC',
] as const satisfies readonly NoteOrder[];

interface ListOptions extends FilterOptions {
  readonly order: NoteOrder;
  readonly limit: number;
  readonly after?: string;
}

interface OneNoteOptions {
  readonly namespace: string;
  readonly limit: number;
}

const keysetSchema = z.array(z.union([z.string(), z.number()])).min(1);

function encodeKeyset(keyset: Keyset): string {
  return Buffer.from(JSON.stringify(keyset)).toString('base64url');
}

function decodeKeyset(cursor: string): Keyset {
  try {
    return keysetSchema.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
  } catch (cause) {
    throw new ErrataError(
      'INVALID_CURSOR',
      'Expected a cursor that an earlier page gave for --after, received another',
      {
        cause,
      },
    );
  }
}

function nextCursor<T>(page: Page<T>): string | undefined {
  const last = page.keysets.at(-1);
  return page.hasNext && last !== undefined ? encodeKeyset(last) : undefined;
}

async function list(session: Session, _args: readonly string[], options: ListOptions): Promise<void> {
  const { notes } = (await session.open('store')).useCases;
  const after = options.after === undefined ? undefined : decodeKeyset(options.after);
  const [scope, filter] = [scopeOf(options), filterOf(options)];
  const page = await notes.list(scope, filter, options.order, { limit: options.limit, after });
  const totalCount = await notes.count(scope, filter);
  const next = nextCursor(page);
  await session.answer({ notes: page.items, totalCount, next }, () => [
    ...page.items.flatMap((note) => noteLines(note, session)),
    session.style.dim(`${page.items.length} of ${totalCount} notes`),
    ...(next === undefined ? [] : [session.style.dim(`more: --after ${next}`)]),
  ]);
}

async function existing(useCases: UseCases, namespace: string, id: string): Promise<FeedbackNote> {
  const note = await useCases.notes.get(namespace, id);
  if (note !== undefined) return note;
  throw new ErrataError(
    'NOTE_NOT_FOUND',
    `Expected the id of a note in the namespace ${JSON.stringify(namespace)}, received an unknown one`,
  );
}

async function show(session: Session, args: readonly string[], options: OneNoteOptions): Promise<void> {
  const { useCases } = await session.open('store');
  const note = await existing(useCases, options.namespace, firstArgument(args, 'id'));
  await session.answer(note, () => noteDetails(note, session));
}

async function similar(session: Session, args: readonly string[], options: OneNoteOptions): Promise<void> {
  const { useCases } = await session.open('everything');
  const { id } = await existing(useCases, options.namespace, firstArgument(args, 'id'));
  const found = await useCases.notes.similar(options.namespace, id, options.limit);
  await session.answer(found, () =>
    found.length === 0 ? ['No similar notes.'] : scoredLines(found, session),
  );
}

async function history(session: Session, args: readonly string[], options: OneNoteOptions): Promise<void> {
  const { useCases } = await session.open('store');
  const { id } = await existing(useCases, options.namespace, firstArgument(args, 'id'));
  const page = await useCases.notes.audit([options.namespace], { noteId: id }, { limit: options.limit });
  // The log itself holds no attribute's value, since an erasure could not take it out again: versions do.
  const versions = await useCases.notes.versions(options.namespace, id, options.limit);
  const valuesOf = new Map(
    versions.map(({ note, changes }) => [
      `${id}:${note.version}`,
      changes.filter(({ field }) => field.startsWith('attributes.')),
    ]),
  );
  const events = page.items.map((event) => {
    const attributes = valuesOf.get(event.id) ?? [];
    return attributes.length === 0 ? event : { ...event, attributes };
  });
  await session.answer(events, () =>
    page.items.flatMap(({ id: event, at, actor, origin, action, reason, changes }) => [
      `${at}  ${session.style.bold(action)} by ${printable(actor)}${originText(origin)}`,
      ...(reason === undefined ? [] : wrap(printable(reason), session.width, '  ')),
      ...changes.flatMap((change) => wrap(printable(change), session.width, '  ')),
      ...(valuesOf.get(event) ?? []).flatMap((change) => wrap(changeLine(change), session.width, '  ')),
    ]),
  );
}

function originText(origin: CallOrigin | undefined): string {
  if (origin === undefined) return '';
  const { via, address, client } = origin;
  return printable(` (${[via, address, client].filter((part) => part !== undefined).join(' ')})`);
}

function oneNote(command: Command, limitHelp?: string, limit = 20): Command {
  command.argument('<id>', 'the whole id').option('-n, --namespace <name>', 'namespace', 'default');
  if (limitHelp !== undefined) {
    command.option('--limit <n>', limitHelp, wholeNumber(1, LIMITS.pageSize), limit);
  }
  return command;
}

interface InfluenceOptions {
  readonly namespace: string;
  readonly author?: string;
  readonly run?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit: number;
}

async function influence(
  session: Session,
  args: readonly string[],
  options: InfluenceOptions,
): Promise<void> {
  const { notes } = (await session.open('store')).useCases;
  const { namespace, author, run, from, to, limit } = options;
  const source = { author, run };
  const time = {
    from: from === undefined ? undefined : instant(from, '--from'),
    to: to === undefined ? undefined : instant(to, '--to'),
  };
  const found = await notes.influence({ namespace, noteIds: args, source, ...time }, limit);
  await session.answer(found, () => [
    `${found.answers} answers held one of ${found.notes} notes${found.truncated ? ', and more' : ''}`,
    ...found.callers.map(({ caller, answers }) => `  ${answers} to ${printable(caller)}`),
    ...found.newest.map(({ receiptId, at }) => `${at.slice(0, 16).replace('T', ' ')}  ${receiptId}`),
  ]);
}

export function addNotes(program: Command, context: CliContext): void {
  const notes = program.command('notes').description('look at notes');
  const listCommand = addFilterOptions(notes.command('list').description('notes, page by page'))
    .option('--order <order>', ORDERS.join(', '), oneOf(ORDERS), 'CREATED_DESC')
    .option('--limit <n>', 'notes a page', wholeNumber(1, LIMITS.pageSize), 20)
    .option('--after <cursor>', 'where the page before ended');
  defineCommand(listCommand, context, list);
  defineCommand(oneNote(notes.command('show').description('everything about a note')), context, show);
  defineCommand(
    oneNote(notes.command('similar').description('notes of like meaning'), 'notes at most', 5),
    context,
    similar,
  );
  defineCommand(
    oneNote(notes.command('history').description('who did what to a note, newest first'), 'events at most'),
    context,
    history,
  );
  const influenceCommand = notes
    .command('influence')
    .description('which answers notes had a part in, from the receipts')
    .argument('[ids...]', 'whole ids; or choose by source, or by time alone')
    .option('-n, --namespace <name>', 'namespace', 'default')
    .option('--author <name>', 'notes with a source by this author')
    .option('--run <id>', 'notes that this import brought')
    .option('--from <instant>', 'answers at or after; RFC 3339 with offset')
    .option('--to <instant>', 'answers before; RFC 3339 with offset')
    .option('--limit <n>', 'answers to list', wholeNumber(1, LIMITS.pageSize), 10);
  defineCommand(influenceCommand, context, influence);
  addNoteHistory(notes, context);
}
