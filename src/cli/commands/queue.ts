import type { Command } from 'commander';
import { ANCHOR_KINDS, type AnchorKind } from '../../domain/anchor.js';
import { ErrataError } from '../../domain/errors.js';
import { LIMITS } from '../../domain/limits.js';
import type { FeedbackNote } from '../../domain/note.js';
import { REVIEW_DECISIONS, type ReviewDecision } from '../../ports/review-commands.js';
import { type CliContext, defineCommand, firstArgument, oneOf, wholeNumber } from '../define-command.js';
import { findingLines, noteLines } from '../note-view.js';
import { CLI_CALLER, type Session } from '../session.js';
import { printable, wrap } from '../text-layout.js';

interface InNamespace {
  readonly namespace: string;
}

interface ListOptions extends InNamespace {
  readonly assignee?: string;
  readonly overdue?: boolean;
  readonly limit: number;
}

function waitingLines(note: FeedbackNote, session: Session): string[] {
  const { review } = note;
  const facts = review && [
    `because of ${review.cause}`,
    `waits since ${review.openedAt.slice(0, 10)}`,
    `due ${review.dueAt.slice(0, 10)}`,
    ...(review.required > 1 ? [`${review.approvals.length} of ${review.required} approvals`] : []),
    ...(review.escalations > 0 ? [`escalated ${review.escalations} times`] : []),
    ...(review.assignee === undefined ? [] : [`asked of ${review.assignee}`]),
  ];
  return [
    ...noteLines(note, session),
    ...(facts === undefined ? [] : wrap(printable(facts.join(' · ')), session.width, '  ')),
    ...findingLines(note.findings, session),
  ];
}

async function list(session: Session, _args: readonly string[], options: ListOptions): Promise<void> {
  const { notes } = (await session.open('store')).useCases;
  const { namespace, assignee, overdue, limit } = options;
  const filter = {
    statuses: ['PENDING', 'QUARANTINED'] as const,
    ...(assignee !== undefined && { assignee }),
    ...(overdue === true && { dueBefore: new Date().toISOString() }),
  };
  const page = await notes.list([namespace], filter, 'RISK_DESC', { limit });
  const totalCount = await notes.count([namespace], filter);
  await session.answer({ notes: page.items, totalCount }, () => [
    ...page.items.flatMap((note) => waitingLines(note, session)),
    session.style.dim(`${page.items.length} of ${totalCount} waiting notes`),
  ]);
}

async function assign(
  session: Session,
  args: readonly string[],
  { namespace, to }: InNamespace & { readonly to?: string },
): Promise<void> {
  const { review } = (await session.open('store')).useCases;
  const note = await review.assign(CLI_CALLER, namespace, firstArgument(args, 'id'), to);
  await session.answer(note, () => waitingLines(note, session));
}

async function comment(
  session: Session,
  args: readonly string[],
  { namespace, text }: InNamespace & { readonly text: string },
): Promise<void> {
  const { review } = (await session.open('store')).useCases;
  await review.comment(CLI_CALLER, namespace, firstArgument(args, 'id'), text);
  await session.answer({ commented: true }, () => ['Noted in its history.']);
}

interface DecideOptions extends InNamespace {
  readonly decision: ReviewDecision;
  readonly comment?: string;
}

async function decide(session: Session, args: readonly string[], options: DecideOptions): Promise<void> {
  const { review } = (await session.open('everything')).useCases;
  const { namespace, decision } = options;
  const results = await review.decideMany(CLI_CALLER, {
    ...{ namespace, ids: args, decision },
    ...(options.comment !== undefined && { comment: options.comment }),
  });
  await session.answer(results, () =>
    results.flatMap(({ id, note, refused }) => [id, `  ${note?.status ?? `refused: ${refused}`}`]),
  );
}

async function metrics(
  session: Session,
  _args: readonly string[],
  { namespace, days }: { readonly namespace?: string; readonly days: number },
): Promise<void> {
  const { review } = (await session.open('store')).useCases;
  const found = await review.metrics(namespace === undefined ? 'all' : [namespace], days);
  await session.answer(found, () => [
    `${found.pending} pending, ${found.quarantined} quarantined, ${found.unassigned} asked of nobody`,
    `${found.overdue} overdue, ${found.escalated} escalated, oldest ${found.oldestDays ?? 0} days${found.oldestOpenedAt === undefined ? '' : ` (since ${found.oldestOpenedAt.slice(0, 10)})`}`,
    ...found.decisions.map(({ reviewer, decisions }) => `  ${printable(reviewer)}: ${decisions} decisions`),
    ...(found.truncated ? ['There were more than were counted.'] : []),
  ]);
}

async function policy(
  session: Session,
  _args: readonly string[],
  { namespace, set }: InNamespace & { readonly set?: string },
): Promise<void> {
  const { review } = (await session.open('store')).useCases;
  const held =
    set === undefined
      ? await review.policy(namespace)
      : await review.setPolicy(CLI_CALLER, namespace, parseJson(set));
  await session.answer(held, () => JSON.stringify(held, undefined, 2).split('\n'));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new ErrataError('INVALID_INPUT', 'Expected JSON for --set, received other text', { cause });
  }
}

interface SweepReportOptions {
  readonly namespace?: string;
  readonly limit: number;
  readonly offset: number;
}

async function sweepReport(
  session: Session,
  args: readonly string[],
  { namespace, limit, offset }: SweepReportOptions,
): Promise<void> {
  const { review } = (await session.open('store')).useCases;
  const scope = namespace === undefined ? 'all' : [namespace];
  const report = await review.sweepReport(scope, firstArgument(args, 'job'), { limit, offset });
  await session.answer(report, () => [
    ...report.entries.map(({ noteId, action, reason }) => `${noteId}  ${action}  ${reason}`),
    session.style.dim(
      `${report.entries.length} notes from ${offset} on${report.hasMore ? ', more follow' : ''}${report.dryRun ? ' (dry run)' : ''}`,
    ),
  ]);
}

interface AnchorOptions extends InNamespace {
  readonly kind: AnchorKind;
  readonly ref: string;
  readonly state: string;
  readonly dryRun?: boolean;
}

async function reportAnchor(
  session: Session,
  _args: readonly string[],
  options: AnchorOptions,
): Promise<void> {
  const { review } = (await session.open('everything')).useCases;
  const { namespace, kind, ref, state, dryRun } = options;
  const report = await review.reportAnchor(CLI_CALLER, {
    ...{ namespace, kind, ref, state },
    dryRun: dryRun === true,
  });
  await session.answer(report, () => [
    `${report.matched} notes depend on it, ${report.changed.length} knew it otherwise`,
    `${report.demoted.length} ${report.dryRun ? 'would leave' : 'have left'} retrieval and wait for a reviewer`,
  ]);
}

export function addQueue(program: Command, context: CliContext): void {
  const queue = program.command('queue').description('notes that wait for review');
  const inNamespace = (command: Command): Command =>
    command.option('-n, --namespace <name>', 'namespace', 'default');
  defineCommand(
    inNamespace(queue.command('list').description('riskiest first, then what has waited longest'))
      .option('--assignee <name>', 'only what this reviewer was asked')
      .option('--overdue', 'only what is past its due time')
      .option('--limit <n>', 'notes at most', wholeNumber(1, LIMITS.pageSize), 20),
    context,
    list,
  );
  defineCommand(
    inNamespace(
      queue.command('assign').description('ask a reviewer').argument('<id>', 'the whole id'),
    ).option('--to <name>', 'who; left out: nobody in particular'),
    context,
    assign,
  );
  defineCommand(
    inNamespace(
      queue.command('comment').description("a remark in a note's history").argument('<id>', 'the whole id'),
    ).requiredOption('--text <text>', 'one line'),
    context,
    comment,
  );
  defineCommand(
    inNamespace(
      queue.command('decide').description('one decision about many notes').argument('<ids...>', 'whole ids'),
    )
      .requiredOption('--decision <decision>', REVIEW_DECISIONS.join(', '), oneOf(REVIEW_DECISIONS))
      .option('--comment <text>', 'why'),
    context,
    decide,
  );
  defineCommand(
    queue
      .command('metrics')
      .description('depth, age, and who decided how much')
      .option('-n, --namespace <name>', 'only this namespace')
      .option('--days <n>', 'decisions of this many days', wholeNumber(1, 366), 30),
    context,
    metrics,
  );
  defineCommand(
    queue
      .command('sweep-report')
      .description('the notes of a staleness sweep, dry or not, with what became of each and why')
      .argument('<job>', "the sweep's id")
      .option('-n, --namespace <name>', 'only this namespace')
      .option('--limit <n>', 'notes at most', wholeNumber(1, LIMITS.pageSize), 50)
      .option('--offset <n>', 'notes to leave out', wholeNumber(0, Number.MAX_SAFE_INTEGER), 0),
    context,
    sweepReport,
  );
  defineCommand(
    inNamespace(queue.command('policy').description('what goes live directly, and what needs whom')).option(
      '--set <json>',
      'the whole policy; what is left out has its default',
    ),
    context,
    policy,
  );
  defineCommand(
    inNamespace(
      program.command('report-anchor').description('say what something that notes depend on is now'),
    )
      .requiredOption('--kind <kind>', ANCHOR_KINDS.join(', '), oneOf(ANCHOR_KINDS))
      .requiredOption('--ref <text>', 'path, rule id, ticket number or address')
      .requiredOption('--state <text>', 'digest, version or status')
      .option('--dry-run', 'only say what would be done'),
    context,
    reportAnchor,
  );
}
