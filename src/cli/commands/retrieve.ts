import type { Command } from 'commander';
import { LIMITS } from '../../domain/limits.js';
import { type Retrieval, RISKS, type Risk } from '../../domain/retrieval.js';
import type { PromptBlock, RetrieveRequest } from '../../ports/use-cases.js';
import {
  attributePair,
  type CliContext,
  defineCommand,
  finiteNumber,
  firstArgument,
  oneOf,
  wholeNumber,
} from '../define-command.js';
import { scoredLines } from '../note-view.js';
import { readText, textOrFile } from '../read-input.js';
import { CLI_CALLER, type Session } from '../session.js';
import { printable, wrap } from '../text-layout.js';

interface RetrieveOptions {
  readonly namespace: string;
  readonly taskType?: string;
  readonly attribute?: Readonly<Record<string, string>>;
  readonly candidateK?: number;
  readonly finalK?: number;
  readonly efSearch?: number;
  readonly threshold?: number;
  readonly risk?: Risk;
  readonly explain?: boolean;
}

interface PromptOptions extends RetrieveOptions {
  readonly base: string;
  readonly item: string;
  readonly query?: string;
  readonly maxContextTokens?: number;
  readonly tokenizer?: string;
}

function addRetrieveOptions(command: Command): Command {
  return command
    .option('-n, --namespace <name>', 'namespace', 'default')
    .option('-t, --task-type <name>', 'only notes of this task type')
    .option('-a, --attribute <key=value>', 'several times: all must match', attributePair)
    .option('--candidate-k <n>', 'candidates to consider', wholeNumber(1, LIMITS.candidateK))
    .option('--final-k <n>', 'notes to give at most', wholeNumber(1, LIMITS.finalK))
    .option('--ef-search <n>', 'beam of a graph search', wholeNumber(1, LIMITS.efSearch))
    .option('--threshold <score>', 'least score (default: the calibrated one)', finiteNumber)
    .option('--risk <risk>', 'LOW: no reranking', oneOf(RISKS));
}

function requestOf(query: string, options: RetrieveOptions): RetrieveRequest {
  return {
    query,
    namespace: options.namespace,
    taskType: options.taskType,
    attributes: options.attribute,
    candidateK: options.candidateK,
    finalK: options.finalK,
    efSearch: options.efSearch,
    threshold: options.threshold,
    risk: options.risk,
  };
}

function stageLines({ stages }: Retrieval, width: number): string[] {
  return stages.flatMap(({ name, ms, detail }) =>
    wrap(`${name} ${ms.toFixed(2)} ms${detail === undefined ? '' : `: ${printable(detail)}`}`, width, '  '),
  );
}

function retrievalLines(retrieval: Retrieval, session: Session, explain = false): string[] {
  const { style, width } = session;
  const ms = retrieval.stages.reduce((sum, stage) => sum + stage.ms, 0);
  const found =
    retrieval.notes.length === 0 ? ['No relevant prior corrections.'] : scoredLines(retrieval.notes, session);
  const facts =
    `${retrieval.candidates.length} considered, threshold ${retrieval.threshold.toFixed(3)} ` +
    `(${retrieval.scoreScale}), plan ${retrieval.plan}, ${ms.toFixed(1)} ms, receipt ${retrieval.id}`;
  return [
    ...found,
    ...wrap(facts, width).map(style.dim),
    ...(explain ? stageLines(retrieval, width).map(style.dim) : []),
    ...(retrieval.truncated ? [style.warning('The query was longer than the model reads.')] : []),
    ...retrieval.degraded.flatMap((reason) => wrap(printable(reason), width, '! ')).map(style.warning),
  ];
}

async function retrieve(session: Session, args: readonly string[], options: RetrieveOptions): Promise<void> {
  const { stdin, cwd } = session.terminal;
  const given = firstArgument(args, 'the query');
  const query = given === '-' ? await readText('-', stdin, cwd) : given;
  const { retrieval } = (await session.open('everything')).useCases;
  const answer = await retrieval.retrieve(CLI_CALLER, requestOf(query, options), { signal: session.signal });
  await session.answer(answer, () => retrievalLines(answer, session, options.explain));
}

function promptNotes(block: PromptBlock): string {
  const omitted = block.omitted.length === 0 ? '' : `, ${block.omitted.length} over the budget`;
  return `${block.included.length} lessons, ${block.contextTokens} tokens${omitted}; receipt ${block.retrieval.id}`;
}

async function prompt(session: Session, _args: readonly string[], options: PromptOptions): Promise<void> {
  const { stdin, cwd } = session.terminal;
  const baseInstructions = await textOrFile(options.base, stdin, cwd);
  const item = await textOrFile(options.item, stdin, cwd);
  // Without a query the item itself is asked with, as far as a query may be long.
  const query = options.query ?? item.slice(0, LIMITS.queryLength).replace(/[\ud800-\udbff]$/, '');
  const { retrieval } = (await session.open('everything')).useCases;
  const request = {
    retrieve: requestOf(query, options),
    baseInstructions,
    item,
    maxContextTokens: options.maxContextTokens,
    tokenizer: options.tokenizer,
  };
  const block = await retrieval.buildPrompt(CLI_CALLER, request, { signal: session.signal });
  // The prompt alone on standard output, byte for byte: it goes into the next program.
  await session.answer(block, () => [block.prompt]);
  if (!session.json) session.note(promptNotes(block));
}

export function addRetrieve(program: Command, context: CliContext): void {
  const retrieveCommand = program
    .command('retrieve')
    .description('find the lessons that apply to what is about to be judged')
    .argument('<query>', 'what is about to be judged; - for standard input')
    .option('--explain', "also the steps with their times, the index's plan and its alternatives");
  defineCommand(addRetrieveOptions(retrieveCommand), context, retrieve);

  const promptCommand = program
    .command('prompt')
    .description('build the prompt with the lessons that apply, on standard output')
    .requiredOption('--base <text|file>', 'base instructions; - for standard input')
    .requiredOption('--item <text|file>', 'the item to analyse; - for standard input')
    .option('--query <text>', 'what to search with (default: the item)')
    .option(
      '--max-context-tokens <n>',
      'budget of the lessons (default: 800)',
      wholeNumber(1, LIMITS.maxContextTokens),
    )
    .option('--tokenizer <name>', 'how tokens are counted');
  defineCommand(addRetrieveOptions(promptCommand), context, prompt);
}
