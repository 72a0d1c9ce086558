import type { Command } from 'commander';
import { ErrataError, isErrataError } from '../../domain/errors.js';
import { type CliContext, defineCommand } from '../define-command.js';
import { EXIT_CODES } from '../exit-codes.js';
import type { Session } from '../session.js';
import { table } from '../text-layout.js';

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
  defineCommand(
    models.command('remove').description('delete the files of a model').argument('<name>', 'model'),
    context,
    remove,
  );
}
