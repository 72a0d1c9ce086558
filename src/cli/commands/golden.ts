import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { importBeir } from '../../evaluation/formats/beir.js';
import { scoreRun } from '../../evaluation/formats/score-run.js';
import { parseQrels, parseRun } from '../../evaluation/formats/trec.js';
import { halfOf, importTrec, parseGoldenSet } from '../../evaluation/golden-set.js';
import { MEASURE_NAMES, MEASURES } from '../../evaluation/metrics.js';
import { type CliContext, defineCommand, firstArgument } from '../define-command.js';
import { readText } from '../read-input.js';
import { CLI_CALLER, type Session } from '../session.js';
import { printable, table } from '../text-layout.js';

interface OutOptions {
  readonly out: string;
  readonly split: string;
  readonly taskType: string;
}

/** All that are kept. */
const SHOWN_RUNS = 50;

interface NamespaceOptions {
  readonly namespace: string;
}

interface ChangeOptions extends NamespaceOptions {
  readonly ifDigest?: string;
  readonly allowUnknown?: boolean;
}

/** `none` says that no set stands yet. */
const expectedDigest = ({ ifDigest }: ChangeOptions): string | null | undefined =>
  ifDigest === 'none' ? null : ifDigest;

function read(session: Session, name: string): Promise<string> {
  return readText(name, session.terminal.stdin, session.terminal.cwd);
}

const jsonl = (rows: readonly object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

async function check(session: Session, args: readonly string[]): Promise<void> {
  const name = firstArgument(args, 'file');
  const { queries, digest } = parseGoldenSet(await read(session, name), path.basename(name));
  const answerable = queries.filter(({ expected }) => expected.length > 0).length;
  const tune = queries.filter((query) => halfOf(query) === 'tune').length;
  const document = {
    digest,
    queries: queries.length,
    answerable,
    unanswerable: queries.length - answerable,
    tune,
  };
  await session.answer(document, () => [
    `${queries.length} queries, digest ${digest}`,
    `${answerable} with an answer, ${queries.length - answerable} without; ${tune} to tune on, ${queries.length - tune} to test on`,
  ]);
}

async function fromBeir(session: Session, args: readonly string[], options: OutOptions): Promise<void> {
  const folder = firstArgument(args, 'folder');
  const { notes, queries } = importBeir(
    {
      corpus: await read(session, path.join(folder, 'corpus.jsonl')),
      queries: await read(session, path.join(folder, 'queries.jsonl')),
      qrels: await read(session, path.join(folder, 'qrels', `${options.split}.tsv`)),
    },
    options.taskType,
  );
  const out = path.resolve(session.terminal.cwd, options.out);
  await mkdir(out, { recursive: true });
  await writeFile(path.join(out, 'notes.jsonl'), jsonl(notes));
  await writeFile(path.join(out, 'golden.jsonl'), jsonl(queries));
  await session.answer({ notes: notes.length, queries: queries.length }, () => [
    `${notes.length} notes, ${queries.length} queries in ${options.out}; then: errata evaluate --notes notes.jsonl --golden golden.jsonl`,
  ]);
}

async function fromTrec(session: Session, args: readonly string[], options: OutOptions): Promise<void> {
  const [topics = '', qrels = ''] = args;
  const queries = importTrec(
    await read(session, topics),
    parseQrels(await read(session, qrels), path.basename(qrels)),
  );
  await writeFile(path.resolve(session.terminal.cwd, options.out), jsonl(queries));
  await session.answer({ queries: queries.length }, () => [`${queries.length} queries in ${options.out}`]);
}

async function score(session: Session, args: readonly string[]): Promise<void> {
  const [qrels = '', run = ''] = args;
  const { mean } = scoreRun(
    parseQrels(await read(session, qrels), path.basename(qrels)),
    parseRun(await read(session, run), path.basename(run)),
  );
  // A run has no threshold, so only what it ranks can be measured.
  const names = MEASURE_NAMES.slice(0, MEASURE_NAMES.indexOf('map') + 1);
  const values = Object.fromEntries(names.map((name) => [name, mean[name]]));
  await session.answer({ queries: mean.queries, ...values }, () => [
    `${mean.queries} queries`,
    ...names.map((name) => `${MEASURES[name].title.padEnd(10)} ${mean[name].toFixed(4)}`),
  ]);
}

async function save(session: Session, args: readonly string[], options: ChangeOptions): Promise<void> {
  const text = await read(session, firstArgument(args, 'file'));
  const { evaluations } = (await session.open('store')).useCases;
  const set = await evaluations.saveGoldenSet(CLI_CALLER, options.namespace, text, {
    ifDigest: expectedDigest(options),
    allowUnknownNotes: options.allowUnknown,
  });
  await session.answer(set, () => [
    `${set.queries} queries saved for ${options.namespace}, digest ${set.digest}`,
  ]);
}

async function remove(session: Session, args: readonly string[], options: ChangeOptions): Promise<void> {
  const { evaluations } = (await session.open('store')).useCases;
  const set = await evaluations.removeGoldenQuery(
    CLI_CALLER,
    options.namespace,
    firstArgument(args, 'query'),
    { ifDigest: expectedDigest(options) },
  );
  await session.answer(set, () => [
    `${set.queries} queries left for ${options.namespace}, digest ${set.digest}`,
  ]);
}

async function versions(
  session: Session,
  _args: readonly string[],
  options: NamespaceOptions,
): Promise<void> {
  const { evaluations } = (await session.open('store')).useCases;
  const list = (await evaluations.goldenSet(options.namespace))?.versions ?? [];
  await session.answer(list, () =>
    table(
      ['digest', 'queries', 'saved', 'by'],
      list.map(({ digest, queries, savedAt, savedBy }) => [
        digest,
        String(queries),
        savedAt,
        printable(savedBy),
      ]),
      session.width,
    ),
  );
}

async function runs(session: Session, _args: readonly string[], options: NamespaceOptions): Promise<void> {
  const { evaluations } = (await session.open('store')).useCases;
  const list = await evaluations.runs(options.namespace, SHOWN_RUNS);
  const share = (value: number | undefined) => (value === undefined ? '-' : value.toFixed(3));
  await session.answer(list, () =>
    table(
      ['run', 'made', 'set', 'recall@3', 'MRR', 'abstained'],
      list.map(({ id, createdAt, goldenDigest, test }) => [
        id.slice(0, 8),
        createdAt.slice(0, 16),
        goldenDigest.slice(0, 8),
        ...[test.recallAt3, test.mrr, test.abstentionRate].map(share),
      ]),
      session.width,
    ),
  );
}

async function show(session: Session, args: readonly string[], options: NamespaceOptions): Promise<void> {
  const { evaluations } = (await session.open('store')).useCases;
  const text = await evaluations.goldenText(options.namespace, args[0]);
  await session.answer({ jsonl: text }, () => [text.trimEnd()]);
}

export function addGolden(program: Command, context: CliContext): void {
  const golden = program.command('golden').description('golden sets: check, import, versions');
  const add = (name: string, description: string): Command => golden.command(name).description(description);
  const namespaced = (command: Command): Command =>
    command.option('-n, --namespace <name>', 'whose set', 'default');
  defineCommand(add('check', 'validate a set and count it').argument('<file>', 'JSONL'), context, check);
  defineCommand<OutOptions>(
    add('from-beir', 'make notes and golden queries of a BEIR data set')
      .argument('<folder>', 'with corpus.jsonl, queries.jsonl and qrels/')
      .requiredOption('--out <folder>', 'where notes.jsonl and golden.jsonl go')
      .option('--split <name>', 'which qrels', 'test')
      .option('--task-type <name>', 'of notes and queries', 'beir'),
    context,
    fromBeir,
  );
  defineCommand<OutOptions>(
    add('from-trec', 'make golden queries of TREC judgements; document ids are note ids or handles')
      .argument('<topics>', 'lines: query id, tab, text')
      .argument('<qrels>', 'lines: query, iteration, document, grade')
      .requiredOption('--out <file>', 'the golden set'),
    context,
    fromTrec,
  );
  defineCommand(
    add('score', 'measure a TREC run against qrels, as trec_eval does').argument('<qrels>').argument('<run>'),
    context,
    score,
  );
  const guarded = (command: Command): Command =>
    namespaced(command).option('--if-digest <digest>', 'only where this version stands, or none');
  defineCommand<ChangeOptions>(
    guarded(
      add('save', "make a file the namespace's set; its versions stay").argument(
        '<file>',
        'JSONL by note id',
      ),
    ).option('--allow-unknown', 'also where the namespace lacks expected notes'),
    context,
    save,
  );
  defineCommand<ChangeOptions>(
    guarded(add('remove', 'take one query out of the set').argument('<query>', 'its id')),
    context,
    remove,
  );
  defineCommand<NamespaceOptions>(
    namespaced(add('versions', 'versions of the saved set')),
    context,
    versions,
  );
  defineCommand<NamespaceOptions>(
    namespaced(add('runs', 'evaluations of the saved set, newest first; figures of the test half')),
    context,
    runs,
  );
  defineCommand<NamespaceOptions>(
    namespaced(
      add('show', 'a saved set as JSONL').argument('[digest]', 'a version; default: the current set'),
    ),
    context,
    show,
  );
}
