import path from 'node:path';
import type { Command } from 'commander';
import { ErrataError } from '../../domain/errors.js';
import { VARIANT_GROUPS, type VariantGroup } from '../../evaluation/sweep/variants.js';
import type { SweepResult } from '../cli-deps.js';
import { type CliContext, defineCommand, oneOf } from '../define-command.js';
import { existingFile } from '../read-input.js';
import type { Session } from '../session.js';
import { writeDocuments } from '../write-documents.js';

interface SweepOptions {
  readonly namespace?: string;
  readonly notes?: string;
  readonly golden?: string;
  readonly out?: string;
  readonly only?: readonly VariantGroup[];
}

const GROUPS = Object.keys(VARIANT_GROUPS) as readonly VariantGroup[];

function groupList(value: string): readonly VariantGroup[] {
  return value.split(',').map((word) => oneOf(GROUPS)(word.trim()));
}

async function sweep(session: Session, options: SweepOptions): Promise<void> {
  const { cwd } = session.terminal;
  const { report, lines, documents } = await run(session, options);
  if (options.out !== undefined) {
    await writeDocuments(path.resolve(cwd, options.out), documents);
  }
  await session.answer(report, () => lines);
}

/** On notes in a throw-away store, or, with a namespace, on the installation's own. */
async function run(session: Session, options: SweepOptions): Promise<SweepResult> {
  const { namespace } = options;
  if (namespace !== undefined && options.notes !== undefined) {
    throw new ErrataError(
      'INVALID_INPUT',
      'Expected either --namespace (the installation’s notes) or --notes (those of a file), received both',
    );
  }
  const { cwd } = session.terminal;
  const file = (name: string | undefined) => (name === undefined ? undefined : existingFile(name, cwd));
  const [notes, golden] = [await file(options.notes), await file(options.golden)];
  const opened = namespace === undefined ? undefined : await session.open('everything');
  const display = session.progress('sweep');
  const { config, deps, signal } = session;
  const request = { golden, groups: options.only, onProgress: display.update.bind(display), signal };
  try {
    return namespace === undefined || opened === undefined
      ? await deps.sweep({ ...request, config, notes })
      : await opened.sweepNamespace({ ...request, namespace });
  } finally {
    display.stop();
  }
}

export function addSweep(program: Command, context: CliContext): void {
  const command = program
    .command('sweep')
    .description('try stages and settings on a golden set (default: the sample)')
    .option('-n, --namespace <name>', "the installation's own notes and the saved set of this namespace")
    .option('--notes <file>', 'JSONL of notes')
    .option('--golden <file>', 'JSONL of queries with the notes they should find')
    .option('--only <groups>', `with commas between: ${GROUPS.join(', ')}`, groupList)
    .option('--out <folder>', 'write sweep.json, sweep.md, sweep.html and plots as SVG');
  defineCommand<SweepOptions>(command, context, (session, _args, options) => sweep(session, options));
}
