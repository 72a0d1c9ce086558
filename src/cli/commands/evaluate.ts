import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import type { EvaluateRequest, EvaluateResult } from '../cli-deps.js';
import { type CliContext, defineCommand, wholeNumber } from '../define-command.js';
import { EXIT_CODES } from '../exit-codes.js';
import { existingFile } from '../read-input.js';
import type { Session } from '../session.js';

interface EvaluateOptions {
  readonly notes?: string;
  readonly golden?: string;
  readonly baseline?: string;
  readonly gate?: string;
  readonly report?: string;
  readonly out?: string;
  readonly judge?: number;
  readonly cache?: string;
  readonly maxCalls?: number;
}

/** Of the queries that got worse, as many as a terminal shows; reports have all. */
const SHOWN_CASES = 20;

async function evaluate(session: Session, options: EvaluateOptions): Promise<void> {
  const { cwd } = session.terminal;
  const file = (name: string | undefined) => (name === undefined ? undefined : existingFile(name, cwd));
  const display = session.progress('evaluate');
  let result: EvaluateResult;
  try {
    result = await session.deps.evaluate({
      config: session.config,
      notes: await file(options.notes),
      golden: await file(options.golden),
      baseline: await file(options.baseline),
      gate: await file(options.gate),
      judge: judgeOf(options, cwd),
      onProgress: (progress) => display.update(progress),
      signal: session.signal,
    });
  } finally {
    display.stop();
  }
  await writeDocuments(result, options, cwd);
  const { regressions = [], cases = [] } = result;
  for (const note of result.notes ?? []) session.note(`errata: ${note}`);
  await session.answer({ report: result.report, regressions, cases }, () => [
    result.text.trimEnd(),
    ...regressions.map((line) => session.style.bad(`regression: ${line}`)),
    ...cases.slice(0, SHOWN_CASES).map((line) => `  ${line}`),
    ...(cases.length > SHOWN_CASES ? [`  and ${cases.length - SHOWN_CASES} more queries`] : []),
  ]);
  if (regressions.length > 0) session.finish(EXIT_CODES.findings);
}

function judgeOf({ judge, cache, maxCalls }: EvaluateOptions, cwd: string): EvaluateRequest['judge'] {
  if (judge === undefined) return undefined;
  const folder = cache === undefined ? undefined : path.resolve(cwd, cache);
  return {
    repeats: judge,
    limits: { concurrency: 4, maxCalls, promptPrice: 0, completionPrice: 0, cache: folder },
  };
}

async function writeDocuments(
  { report, documents = {} }: EvaluateResult,
  options: EvaluateOptions,
  cwd: string,
): Promise<void> {
  if (options.report !== undefined) {
    const json = documents['report.json'] ?? `${JSON.stringify(report, undefined, 2)}\n`;
    await writeFile(path.resolve(cwd, options.report), json);
  }
  if (options.out === undefined) return;
  const folder = path.resolve(cwd, options.out);
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(documents)) await writeFile(path.join(folder, name), text);
}

export function addEvaluate(program: Command, context: CliContext): void {
  const command = program
    .command('evaluate')
    .description('measure retrieval on a golden set (default: the sample), compare it, gate on it')
    .option('--notes <file>', 'JSONL of notes')
    .option('--golden <file>', 'JSONL of queries with the notes they should find')
    .option('--baseline <file>', 'an earlier report.json; a drop below it is a finding')
    .option('--gate <file>', 'rules: exit code 0 passed, 1 regression, 2 could not run')
    .option('--report <file>', 'write the report as JSON: the next baseline')
    .option('--judge <repeats>', 'let the chat service (--chat-url) judge injected notes', wholeNumber(1, 20))
    .option('--max-calls <n>', 'calls of the judge at most', wholeNumber(1, 10_000_000))
    .option('--cache <folder>', 'keep answers of the judge')
    .option('--out <folder>', 'write report.html, report.md, report.json and junit.xml');
  defineCommand<EvaluateOptions>(command, context, (session, _args, options) => {
    if (options.gate !== undefined) context.failAs(EXIT_CODES.usage);
    return evaluate(session, options);
  });
}
