import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { type CliContext, defineCommand } from '../define-command.js';
import { EXIT_CODES } from '../exit-codes.js';
import { existingFile } from '../read-input.js';
import type { Session } from '../session.js';

interface EvaluateOptions {
  readonly notes?: string;
  readonly golden?: string;
  readonly baseline?: string;
  readonly report?: string;
}

async function evaluate(session: Session, _args: readonly string[], options: EvaluateOptions): Promise<void> {
  const { cwd } = session.terminal;
  const file = (name: string | undefined) => (name === undefined ? undefined : existingFile(name, cwd));
  const display = session.progress('evaluate');
  let result: Awaited<ReturnType<typeof session.deps.evaluate>>;
  try {
    result = await session.deps.evaluate({
      config: session.config,
      notes: await file(options.notes),
      golden: await file(options.golden),
      baseline: await file(options.baseline),
      onProgress: (progress) => display.update(progress),
      signal: session.signal,
    });
  } finally {
    display.stop();
  }
  if (options.report !== undefined) {
    await writeFile(path.resolve(cwd, options.report), `${JSON.stringify(result.report, undefined, 2)}\n`);
  }
  const regressions = result.regressions ?? [];
  await session.answer({ report: result.report, regressions }, () => [
    result.text.trimEnd(),
    ...regressions.map((line) => session.style.bad(`regression: ${line}`)),
  ]);
  if (regressions.length > 0) session.finish(EXIT_CODES.findings);
}

export function addEvaluate(program: Command, context: CliContext): void {
  const command = program
    .command('evaluate')
    .description('measure recall, MRR and abstention on a golden set (default: the sample)')
    .option('--notes <file>', 'JSONL of notes')
    .option('--golden <file>', 'JSONL of queries with the notes they should find')
    .option('--baseline <file>', 'an earlier report; a drop below it is a finding')
    .option('--report <file>', 'write the report as JSON');
  defineCommand(command, context, evaluate);
}
