import type { Command } from 'commander';
import { z } from 'zod';
import { ErrataError } from '../../domain/errors.js';
import { LIMITS } from '../../domain/limits.js';
import { IMPACTS, type Impact } from '../../domain/note.js';
import type { CorrectionInput, SubmitResult } from '../../ports/use-cases.js';
import { attributePair, type CliContext, defineCommand, oneOf } from '../define-command.js';
import { EXIT_CODES } from '../exit-codes.js';
import { findingLines, noteLines } from '../note-view.js';
import { parseJson, readText } from '../read-input.js';
import { CLI_CALLER, type Session } from '../session.js';

interface SubmitOptions {
  readonly namespace?: string;
  readonly taskType?: string;
  readonly wrongAnswer?: string;
  readonly correction?: string;
  readonly lesson?: string;
  readonly attribute?: Readonly<Record<string, string>>;
  readonly impact?: Impact;
  readonly author?: string;
  readonly url?: string;
  readonly record?: string;
  readonly expiresAt?: string;
  readonly reviewAfter?: string;
}

const optional = z.string().optional();
/** The form of a correction as JSON; what the texts may be is for the use case to judge. */
const correctionSchema = z.strictObject({
  namespace: optional,
  taskType: z.string(),
  wrongAnswer: z.string(),
  correction: z.string(),
  lesson: z.string(),
  attributes: z.record(z.string(), z.string()).optional(),
  impact: z.enum(IMPACTS).optional(),
  source: z
    .strictObject({
      kind: z.string(),
      author: optional,
      tool: optional,
      url: optional,
      record: optional,
      at: optional,
    })
    .optional(),
  createdAt: optional,
  expiresAt: optional,
  reviewAfter: optional,
});

function fromJson(text: string): readonly CorrectionInput[] {
  const value = parseJson(text, 'the corrections');
  const result = z
    .array(correctionSchema)
    .min(1)
    .max(LIMITS.batchSize)
    .safeParse(Array.isArray(value) ? value : [value]);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const where = issue?.path.join('.') || 'the list';
  throw new ErrataError(
    'INVALID_INPUT',
    `Expected a correction for ${where}, received: ${issue?.message ?? 'other JSON'}`,
  );
}

function required(value: string | undefined, flag: string): string {
  if (value !== undefined) return value;
  throw new ErrataError(
    'INVALID_INPUT',
    `Expected a text for ${flag}, received none (or give JSON: errata submit -)`,
  );
}

function fromFlags(options: SubmitOptions): CorrectionInput {
  const { author, url, record } = options;
  return {
    namespace: options.namespace,
    taskType: required(options.taskType, '--task-type'),
    wrongAnswer: required(options.wrongAnswer, '--wrong-answer'),
    correction: required(options.correction, '--correction'),
    lesson: required(options.lesson, '--lesson'),
    attributes: options.attribute,
    impact: options.impact,
    source: { kind: 'cli', author, url, record },
    expiresAt: options.expiresAt,
    reviewAfter: options.reviewAfter,
  };
}

function resultLines(result: SubmitResult, session: Session): string[] {
  const { style } = session;
  const refused = result.outcome === 'REFUSED' || result.outcome === 'QUARANTINED';
  const lines = [refused ? style.bad(result.outcome) : style.good(result.outcome)];
  if (result.note !== undefined) lines.push(...noteLines(result.note, session));
  if (result.duplicateOf !== undefined) {
    const similarity = result.similarity === undefined ? '' : ` (cosine ${result.similarity.toFixed(3)})`;
    lines.push(`near to${similarity}:`, ...noteLines(result.duplicateOf, session));
  }
  return [...lines, ...findingLines(result.findings, session)];
}

async function submit(session: Session, args: readonly string[], options: SubmitOptions): Promise<void> {
  const { stdin } = session.terminal;
  const source = args[0];
  const inputs =
    source === undefined
      ? [fromFlags(options)]
      : fromJson(await readText(source, stdin, session.terminal.cwd));
  const { commands } = (await session.open('everything')).useCases;
  const withNamespace = inputs.map((input) => ({
    ...input,
    namespace: input.namespace ?? options.namespace,
  }));
  const [only] = withNamespace;
  // One alone throws the coded error of what is wrong; several are judged one by one.
  const results =
    withNamespace.length === 1 && only !== undefined
      ? [await commands.submit(CLI_CALLER, only)]
      : await commands.submitMany(CLI_CALLER, withNamespace);
  await session.answer(results.length === 1 ? results[0] : results, () =>
    results.flatMap((result) => resultLines(result, session)),
  );
  if (results.some(({ outcome }) => outcome === 'REFUSED' || outcome === 'QUARANTINED')) {
    session.finish(EXIT_CODES.findings);
  }
}

export function addSubmit(program: Command, context: CliContext): void {
  const command = program
    .command('submit')
    .description('store a correction, by flags, or corrections as JSON from a file or standard input (-)')
    .argument('[file]', 'one correction or an array of them, as CorrectionInput of the schema')
    .option('-n, --namespace <name>', 'namespace (default: default)')
    .option('-t, --task-type <name>', 'what kind of check was wrong')
    .option('--wrong-answer <text>', 'what the model claimed')
    .option('--correction <text>', 'what is true')
    .option('--lesson <text>', 'the one-line rule')
    .option('-a, --attribute <key=value>', 'to filter on; several times', attributePair)
    .option('--impact <impact>', IMPACTS.join(', '), oneOf(IMPACTS))
    .option('--author <name>', 'who corrected')
    .option('--url <url>', 'where')
    .option('--record <name>', 'the original record, such as a ticket')
    .option('--expires-at <instant>', 'RFC 3339 with offset')
    .option('--review-after <instant>', 'RFC 3339 with offset');
  defineCommand(command, context, submit);
}
