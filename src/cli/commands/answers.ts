import path from 'node:path';
import type { Command } from 'commander';
import { VERDICT_INSTRUCTIONS } from '../../evaluation/answers/ask-checker.js';
import {
  type CheckerAnswer,
  parseCheckerAnswers,
  parseCheckerCases,
} from '../../evaluation/answers/checker-records.js';
import { type AnswerComparison, compareAnswers } from '../../evaluation/answers/compare-answers.js';
import { renderAnswersMarkdown, renderAnswersText } from '../../evaluation/answers/render-answers.js';
import { renderAnswersHtml } from '../../evaluation/answers/render-answers-html.js';
import { addChatLimits, type ChatLimitOptions, chatLimitsOf } from '../chat-limits.js';
import { type CliContext, defineCommand } from '../define-command.js';
import { EXIT_CODES } from '../exit-codes.js';
import { readText, textOrFile } from '../read-input.js';
import type { Session } from '../session.js';
import { writeDocuments } from '../write-documents.js';

interface CompareOptions {
  readonly out?: string;
}

interface AskOptions extends CompareOptions, ChatLimitOptions {
  readonly namespace: string;
  readonly instructions: string;
  readonly attribute?: boolean;
}

function read(session: Session, name: string): Promise<string> {
  return readText(name, session.terminal.stdin, session.terminal.cwd);
}

async function compare(session: Session, args: readonly string[], options: CompareOptions): Promise<void> {
  const [cases = '', before = '', after = ''] = args;
  const comparison = compareAnswers(
    parseCheckerCases(await read(session, cases), path.basename(cases)),
    parseCheckerAnswers(await read(session, before), path.basename(before)),
    parseCheckerAnswers(await read(session, after), path.basename(after)),
  );
  await report(session, comparison, options, {}, []);
}

async function ask(session: Session, args: readonly string[], options: AskOptions): Promise<void> {
  const { terminal, signal } = session;
  const [name = ''] = args;
  const cases = parseCheckerCases(await read(session, name), path.basename(name));
  const limits = chatLimitsOf(session, options);
  const opened = await session.open('everything');
  const display = session.progress('ask');
  const { before, after, stopped, spending } = await opened
    .askChecker({
      namespace: options.namespace,
      cases: cases.cases,
      instructions: await textOrFile(options.instructions, terminal.stdin, terminal.cwd),
      attribute: options.attribute === true,
      limits,
      onProgress: (progress) => display.update(progress),
      signal,
    })
    .finally(() => display.stop());
  if (stopped !== undefined) session.note(`errata: stopped after ${after.length} cases: ${stopped}`);
  const lines = (answers: readonly CheckerAnswer[]) =>
    answers.map((one) => `${JSON.stringify(one)}\n`).join('');
  const { calls, promptTokens, completionTokens, cost } = spending;
  await report(
    session,
    compareAnswers(cases, before, after),
    options,
    { 'before.jsonl': lines(before), 'after.jsonl': lines(after) },
    [`${calls} calls, ${promptTokens} + ${completionTokens} tokens, cost ${cost.toFixed(4)}`],
  );
}

async function report(
  session: Session,
  comparison: AnswerComparison,
  { out }: CompareOptions,
  files: Readonly<Record<string, string>>,
  more: readonly string[],
): Promise<void> {
  if (out !== undefined) {
    await writeDocuments(path.resolve(session.terminal.cwd, out), {
      ...files,
      'answers.json': `${JSON.stringify(comparison, undefined, 2)}\n`,
      'answers.md': renderAnswersMarkdown(comparison),
      'answers.html': renderAnswersHtml(comparison),
    });
  }
  await session.answer(comparison, () => [...renderAnswersText(comparison), ...more]);
  if (comparison.verdict === 'worse') session.finish(EXIT_CODES.findings);
}

export function addAnswers(program: Command, context: CliContext): void {
  const answers = program.command('answers').description('whether lessons make a checker better or worse');
  defineCommand<CompareOptions>(
    answers
      .command('compare')
      .description('recorded answers without and with lessons; exit code 1 where lessons make it worse')
      .argument('<cases>', 'JSONL: id, truth (whether there is something to find), taskType')
      .argument('<before>', 'JSONL: id, flagged')
      .argument('<after>', 'JSONL: id, flagged, notes (ids of the lessons in the prompt)')
      .option('--out <folder>', 'write answers.json, answers.md and answers.html'),
    context,
    compare,
  );
  const asking = answers
    .command('ask')
    .description('ask an OpenAI-compatible service (--chat-url, --chat-model), then compare')
    .argument('<cases>', 'JSONL: id, truth, item, query, taskType, attributes')
    .requiredOption('--instructions <text|file>', `what the checker is told; added: ${VERDICT_INSTRUCTIONS}`)
    .option('-n, --namespace <name>', 'whose lessons', 'default')
    .option('--attribute', 'where several lessons changed an answer, ask again with each left out')
    .option('--out <folder>', 'write before.jsonl, after.jsonl, answers.json, answers.md and answers.html');
  defineCommand<AskOptions>(addChatLimits(asking), context, ask);
}
