import type { Command } from 'commander';
import { ErrataError, isErrataError } from '../../domain/errors.js';
import type { ModelBenchResult } from '../cli-deps.js';
import { type CliContext, defineCommand } from '../define-command.js';
import { EXIT_CODES } from '../exit-codes.js';
import { existingFile } from '../read-input.js';
import type { Session } from '../session.js';
import { table } from '../text-layout.js';
import { addModelSwitch } from './model-switch.js';

interface PullOptions {
  readonly from?: string;
}

function megabytes(sizeBytes: number | undefined): string {
  return sizeBytes === undefined ? '' : `${(sizeBytes / 1e6).toFixed(1)} MB`;
}

function kilobytes(bytes: number): number {
  return Math.round(bytes / 1e3);
}

async function list(session: Session): Promise<void> {
  const models = await session.deps.models.list(session.config);
  await session.answer(models, () =>
    table(
      ['name', 'kind', 'dims', 'precision', 'size', 'licence', 'digests', 'installed'],
      models.map(({ name, kind, dimensions, precision, sizeBytes, licence, digests, installed }) => [
        name,
        kind,
        String(dimensions ?? ''),
        precision ?? '',
        megabytes(sizeBytes),
        licence ?? '',
        digests ?? '',
        installed ? 'yes' : 'no',
      ]),
      session.width,
    ),
  );
}

/** The model named, or the one that the settings name. */
function modelName(session: Session, args: readonly string[]): string {
  return args[0] ?? session.config.embedder;
}

async function pull(session: Session, args: readonly string[], options: PullOptions): Promise<void> {
  const name = modelName(session, args);
  const display = session.progress(`models pull ${name} (kB)`);
  try {
    const pulled = await session.deps.models.pull(session.config, name, {
      from: options.from,
      onProgress: ({ done, total }) =>
        display.update({
          done: kilobytes(done),
          ...(total === undefined ? {} : { total: kilobytes(total) }),
        }),
      signal: session.signal,
    });
    display.stop();
    await session.answer(pulled, () => [`${pulled.name}: ${pulled.source}, in ${pulled.directory}`]);
  } finally {
    display.stop();
  }
}

async function verify(session: Session, args: readonly string[]): Promise<void> {
  const { models } = session.deps;
  const names =
    args.length > 0
      ? args
      : (await models.list(session.config)).filter(({ installed }) => installed).map(({ name }) => name);
  const results: { name: string; ok: boolean; files?: number; problem?: string }[] = [];
  for (const name of names) {
    try {
      results.push({ name, ok: true, files: (await models.verify(session.config, name)).files });
    } catch (error) {
      if (!isErrataError(error) || error.code === 'UNKNOWN_MODEL') throw error;
      results.push({ name, ok: false, problem: error.message });
    }
  }
  await session.answer(results, () =>
    results.length === 0
      ? ['No model is installed; get one with: errata models pull']
      : results.map(({ name, ok, files, problem }) => `${name}: ${ok ? `ok, ${files} files` : problem}`),
  );
  if (results.some(({ ok }) => !ok)) session.finish(EXIT_CODES.findings);
}

interface BenchOptions {
  readonly notes?: string;
  readonly golden?: string;
}

async function bench(session: Session, args: readonly string[], options: BenchOptions): Promise<void> {
  const { cwd } = session.terminal;
  const file = async (name: string | undefined) => (name === undefined ? undefined : existingFile(name, cwd));
  const display = session.progress('models bench');
  let result: ModelBenchResult;
  try {
    result = await session.deps.benchModel({
      config: session.config,
      name: modelName(session, args),
      notes: await file(options.notes),
      golden: await file(options.golden),
      onProgress: (progress) => display.update(progress),
      signal: session.signal,
    });
  } finally {
    display.stop();
  }
  await session.answer(result, () => benchLines(result, session.width));
}

function benchLines({ speed, quality }: ModelBenchResult, width: number): string[] {
  const speeds = table(
    ['provider', 'precision', 'sessions', 'batches', 'load ms', 'per', 'p50 ms', 'p95 ms', 'texts/s'],
    speed.flatMap((one) => {
      const { provider, precision } = one;
      if ('refused' in one) return [];
      const { sessions, threadsPerSession, batches, loadMs, unit, p50Ms, p95Ms, textsPerSecond } = one;
      return [
        [
          ...[provider, precision, sessions === undefined ? '' : `${sessions} × ${threadsPerSession}`],
          ...[batches ?? '', loadMs.toFixed(0), unit, p50Ms.toFixed(1), p95Ms.toFixed(1)],
          textsPerSecond?.toFixed(0) ?? '',
        ],
      ];
    }),
    width,
  );
  for (const one of speed) if ('refused' in one) speeds.push(`${one.provider}: ${one.refused}`);
  if (quality === undefined) return speeds;
  const rows = quality.measures.map(({ title, before, after, pValue }) => [
    title,
    before.toFixed(3),
    after.toFixed(3),
    pValue === undefined ? '' : pValue < 0.001 ? '<0.001' : pValue.toFixed(3),
  ]);
  const times = ['ms a query', quality.queryMs.before.toFixed(1), quality.queryMs.after.toFixed(1), ''];
  const heading = [`${quality.queries} queries`, quality.baseline, 'this model', 'p'];
  return [...speeds, '', ...table(heading, [...rows, times], width), '', quality.verdict];
}

async function remove(session: Session, args: readonly string[]): Promise<void> {
  const name = modelName(session, args);
  if (!(await session.deps.models.remove(session.config, name))) {
    throw new ErrataError(
      'MODEL_NOT_INSTALLED',
      `Expected an installed model, received ${JSON.stringify(name)}`,
    );
  }
  await session.answer({ name, removed: true }, () => [`${name}: removed`]);
}

export function addModels(program: Command, context: CliContext): void {
  const models = program.command('models').description('get, check and remove models');
  defineCommand(models.command('list').description('known models and which are installed'), context, list);
  const pullCommand = models
    .command('pull')
    .description('get a model from its sources in order, digests checked')
    .argument('[name]', 'model (default: the embedder of the settings)')
    .option('--from <folder>', 'take the files from a folder instead');
  defineCommand(pullCommand, context, pull);
  defineCommand(
    models
      .command('verify')
      .description('compare files with their pinned digests')
      .argument('[names...]', 'models (default: every installed one)'),
    context,
    verify,
  );
  const benchCommand = models
    .command('bench')
    .description('speed of a model here; of a reranker also whether it beats late interaction')
    .argument('[name]', 'model (default: the embedder of the settings)')
    .option('--notes <file>', 'JSONL of notes, as for evaluate')
    .option('--golden <file>', 'JSONL of queries with the notes they should find, as for evaluate');
  defineCommand(benchCommand, context, bench);
  defineCommand(
    models.command('remove').description('delete the files of a model').argument('<name>', 'model'),
    context,
    remove,
  );
  addModelSwitch(models, context);
}
