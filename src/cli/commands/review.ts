import type { Command } from 'commander';
import { type FeedbackNote, IMPACTS, type Impact } from '../../domain/note.js';
import { REVIEW_DECISIONS, type ReviewDecision } from '../../ports/review-commands.js';
import { type CliContext, defineCommand, firstArgument, oneOf } from '../define-command.js';
import { noteLines } from '../note-view.js';
import { CLI_CALLER, type Session } from '../session.js';

interface ReviewOptions {
  readonly namespace: string;
  readonly decision: ReviewDecision;
  readonly comment?: string;
  readonly wrongAnswer?: string;
  readonly correction?: string;
  readonly lesson?: string;
  readonly impact?: Impact;
}

interface FlipOptions {
  readonly namespace: string;
  readonly reason: string;
}

async function review(session: Session, args: readonly string[], options: ReviewOptions): Promise<void> {
  const { useCases } = await session.open('everything');
  const { namespace, decision, comment, wrongAnswer, correction, lesson, impact } = options;
  const id = firstArgument(args, 'id');
  const edited = [wrongAnswer, correction, lesson, impact].some((value) => value !== undefined);
  const before = edited ? await useCases.notes.get(namespace, id) : undefined;
  const edit =
    before === undefined
      ? undefined
      : {
          namespace,
          taskType: before.taskType,
          wrongAnswer: wrongAnswer ?? before.wrongAnswer,
          correction: correction ?? before.correction,
          lesson: lesson ?? before.lesson,
          attributes: before.attributes,
          impact: impact ?? before.impact,
          expiresAt: before.expiresAt,
          reviewAfter: before.reviewAfter,
          anchors: before.anchors,
        };
  const note = await useCases.commands.review(CLI_CALLER, { id, namespace, decision, comment, edit });
  await session.answer(note, () => noteLines(note, session));
}

function flip(action: 'deprecate' | 'restore') {
  return async (session: Session, args: readonly string[], options: FlipOptions): Promise<void> => {
    const { commands } = (await session.open('everything')).useCases;
    const notes: readonly FeedbackNote[] = await commands[action](
      CLI_CALLER,
      options.namespace,
      args,
      options.reason,
    );
    await session.answer(notes, () => notes.flatMap((note) => noteLines(note, session)));
  };
}

interface SourceOptions {
  readonly namespace: string;
  readonly reason: string;
  readonly author?: string;
  readonly tool?: string;
  readonly record?: string;
  readonly run?: string;
  readonly yes?: boolean;
}

async function deprecateBySource(
  session: Session,
  _args: readonly string[],
  { namespace, reason, author, tool, record, run, yes }: SourceOptions,
): Promise<void> {
  const { commands } = (await session.open('everything')).useCases;
  const source = { author, tool, record, run };
  const report = await commands.deprecateBySource(CLI_CALLER, {
    namespace,
    source,
    reason,
    dryRun: yes !== true,
  });
  await session.answer(report, () => [
    report.dryRun
      ? `${report.matched} notes would be deprecated; they were part of ${report.answers} answers`
      : `${report.deprecated} notes deprecated; they were part of ${report.answers} answers`,
    ...(report.dryRun ? ['Nothing was changed: give --yes to do it'] : []),
  ]);
}

export function addReview(program: Command, context: CliContext): void {
  const reviewCommand = program
    .command('review')
    .description('decide on a note that waits for review')
    .argument('<id>', 'the whole id')
    .requiredOption('--decision <decision>', REVIEW_DECISIONS.join(', '), oneOf(REVIEW_DECISIONS))
    .option('-n, --namespace <name>', 'namespace', 'default')
    .option('--comment <text>', 'why')
    .option('--wrong-answer <text>', 'edit and approve: as a new note that supersedes this one')
    .option('--correction <text>', 'edit and approve')
    .option('--lesson <text>', 'edit and approve')
    .option('--impact <impact>', 'edit and approve', oneOf(IMPACTS));
  defineCommand(reviewCommand, context, review);

  const bySource = program
    .command('deprecate-source')
    .description('take out everything that came from one author, tool or import')
    .requiredOption('--reason <text>', 'why; kept in the history')
    .option('-n, --namespace <name>', 'namespace', 'default')
    .option('--author <name>', 'author of a source')
    .option('--tool <name>', 'tool of a source')
    .option('--record <name>', 'original record, such as the imported file')
    .option('--run <id>', 'id of an import, as "errata notes show" prints it')
    .option('--yes', 'do it; without, only say what would be done');
  defineCommand(bySource, context, deprecateBySource);

  for (const action of ['deprecate', 'restore'] as const) {
    const description =
      action === 'deprecate'
        ? 'take notes out of every answer, reversibly'
        : 'put deprecated notes back into answers';
    const command = program
      .command(action)
      .description(description)
      .argument('<ids...>', 'whole ids; all or none are changed')
      .requiredOption('--reason <text>', 'why; kept in the history')
      .option('-n, --namespace <name>', 'namespace', 'default');
    defineCommand(command, context, flip(action));
  }
}
