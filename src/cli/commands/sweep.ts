import path from 'node:path';
import type { Command } from 'commander';
import { VARIANT_GROUPS, type VariantGroup } from '../../evaluation/sweep/variants.js';
import { type CliContext, defineCommand, oneOf } from '../define-command.js';
import { existingFile } from '../read-input.js';
import type { Session } from '../session.js';
import { writeDocuments } from '../write-documents.js';

interface SweepOptions {
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
  const file = (name: string | undefined) => (name === undefined ? undefined : existingFile(name, cwd));
  const display = session.progress('sweep');
  const { report, lines, documents } = await session.deps
    .sweep({
      config: session.config,
      notes: await file(options.notes),
      golden: await file(options.golden),
      groups: options.only,
      onProgress: (progress) => display.update(progress),
      signal: session.signal,
    })
    .finally(() => display.stop());
  if (options.out !== undefined) {
    await writeDocuments(path.resolve(cwd, options.out), documents);
  }
  await session.answer(report, () => lines);
}

export function addSweep(program: Command, context: CliContext): void {
  const command = program
    .command('sweep')
    .description('try stages and settings on a golden set (default: the sample)')
    .option('--notes <file>', 'JSONL of notes')
    .option('--golden <file>', 'JSONL of queries with the notes they should find')
    .option('--only <groups>', `with commas between: ${GROUPS.join(', ')}`, groupList)
    .option('--out <folder>', 'write sweep.json, sweep.md and plots as SVG');
  defineCommand<SweepOptions>(command, context, (session, _args, options) => sweep(session, options));
}
