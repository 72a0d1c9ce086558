import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { ErrataError } from '../../domain/errors.js';
import { DEFAULT_CANDIDATE_K } from '../../retrieval/check-request.js';
import { addChatLimits, type ChatLimitOptions, chatLimitsOf } from '../chat-limits.js';
import type { EvaluateRequest, EvaluateResult } from '../cli-deps.js';
import { type CliContext, defineCommand, wholeNumber } from '../define-command.js';
import { EXIT_CODES } from '../exit-codes.js';
import { existingFile } from '../read-input.js';
import type { Session } from '../session.js';
import { writeDocuments } from '../write-documents.js';

interface EvaluateOptions extends ChatLimitOptions {
  readonly namespace?: string;
  readonly notes?: string;
  readonly golden?: string;
  readonly baseline?: string;
  readonly gate?: string;
  readonly report?: readonly string[];
  readonly out?: string;
  readonly k?: readonly number[];
  readonly guards?: boolean;
  readonly judge?: number;
}

/** Of the queries that got worse, as many as a terminal shows; reports have all. */
const SHOWN_CASES = 20;

async function evaluate(session: Session, options: EvaluateOptions): Promise<void> {
  const { cwd } = session.terminal;
  const result = await measure(session, options);
  for (const name of options.report ?? []) await writeReport(path.resolve(cwd, name), result);
  if (options.out !== undefined) await writeDocuments(path.resolve(cwd, options.out), result.documents ?? {});
  const { regressions = [], cases = [] } = result;
  for (const note of result.notes ?? []) session.note(`errata: ${note}`);
  await session.answer({ report: result.report, regressions, cases }, () => [
    result.text.trimEnd(),
    ...regressions.map((line) => session.style.bad(`regression: ${line}`)),
    ...cases.slice(0, SHOWN_CASES).map((line) => `  ${line}`),
    ...(cases.length > SHOWN_CASES ? [`  and ${cases.length - SHOWN_CASES} more`] : []),
  ]);
  if (regressions.length > 0) session.finish(EXIT_CODES.findings);
}

/** Documents by the ending of the file that is asked for; any other ending gets the JSON. */
const BY_ENDING: Readonly<Record<string, string>> = {
  '.html': 'report.html',
  '.md': 'report.md',
  '.xml': 'junit.xml',
};

async function writeReport(file: string, { report, documents = {} }: EvaluateResult): Promise<void> {
  const text = documents[BY_ENDING[path.extname(file).toLowerCase()] ?? 'report.json'];
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text ?? `${JSON.stringify(report, undefined, 2)}\n`);
}

/** On notes in a throw-away store, or, with a namespace, on the installation's own. */
async function measure(session: Session, options: EvaluateOptions): Promise<EvaluateResult> {
  const { namespace, notes, golden } = options;
  if (namespace !== undefined && notes !== undefined) {
    throw new ErrataError(
      'INVALID_INPUT',
      'Expected either --namespace (the installation’s notes) or --notes (those of a file), received both',
    );
  }
  const { cwd } = session.terminal;
  const file = (name: string | undefined) => (name === undefined ? undefined : existingFile(name, cwd));
  const judge = judgeOf(session, options);
  const common = {
    baseline: await file(options.baseline),
    gate: await file(options.gate),
    judge,
    guards: options.guards,
    cutoffs: options.k,
  };
  // A saved version is named by its digest; what looks like one is a file only where it is there.
  const named = namespace !== undefined && /^[0-9a-f]{16}$/u.test(golden ?? '') ? golden : await file(golden);
  const noteFile = await file(notes);
  const opened = namespace === undefined ? undefined : await session.open('everything');
  const display = session.progress('evaluate');
  const { config, deps, signal } = session;
  const request = {
    ...common,
    golden: named,
    onProgress: display.update.bind(display),
    signal,
  } satisfies Partial<EvaluateRequest>;
  try {
    return namespace === undefined || opened === undefined
      ? await deps.evaluate({ ...request, config, notes: noteFile })
      : await opened.evaluateNamespace({ ...request, namespace });
  } finally {
    display.stop();
  }
}

const place = wholeNumber(1, DEFAULT_CANDIDATE_K);

/** `--k 1 5 20` and `--k 1,5,20`: each once, in order. */
function places(value: string, before: readonly number[] = []): readonly number[] {
  return [...new Set([...before, ...value.split(',').map(place)])].sort((a, b) => a - b);
}

function judgeOf(session: Session, options: EvaluateOptions): EvaluateRequest['judge'] {
  return options.judge === undefined
    ? undefined
    : { repeats: options.judge, limits: chatLimitsOf(session, options) };
}

export function addEvaluate(program: Command, context: CliContext): void {
  const command = program
    .command('evaluate')
    .description('measure retrieval on a golden set (default: the sample), compare it, gate on it')
    .option('-n, --namespace <name>', "the installation's own notes and the saved set of this namespace")
    .option('--notes <file>', 'JSONL of notes with keys, or as errata export writes them')
    .option(
      '--golden <file>',
      'JSONL of queries with the notes they should find; with -n also the digest of a saved version',
    )
    .option('--baseline <file>', 'an earlier report.json; a drop below it is a finding')
    .option('--gate <file>', 'rules: exit code 0 passed, 1 regression, 2 could not run')
    .option(
      '--report <files...>',
      'write the report, by ending: .html, .md, .xml (JUnit), else JSON, the next baseline',
    )
    .option('--out <folder>', 'write report.html, report.md, report.json, junit.xml and exports')
    .option(
      '--k <places...>',
      `recall, precision, hit and nDCG at these places of the ranking, too: 1 to ${DEFAULT_CANDIDATE_K}`,
      places,
    )
    .option(
      '--guards',
      'measure the guards of the write path, too; a gate with rules for them does so anyway',
    )
    .option(
      '--judge <repeats>',
      'let the chat service (--chat-url) judge injected notes',
      wholeNumber(1, 20),
    );
  addChatLimits(command);
  defineCommand<EvaluateOptions>(command, context, (session, _args, options) => {
    if (options.gate !== undefined) context.failAs(EXIT_CODES.usage);
    return evaluate(session, options);
  });
}
