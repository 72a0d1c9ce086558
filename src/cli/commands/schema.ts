import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Command } from 'commander';
import { INSTALLATION_DIR } from '../../config/parse-config.js';
import { ErrataError } from '../../domain/errors.js';
import { type CliContext, defineCommand } from '../define-command.js';
import { EXIT_CODES } from '../exit-codes.js';
import type { Session } from '../session.js';

interface SchemaOptions {
  readonly write?: string | true;
  readonly check?: string | true;
}

/** Where the emitted schema is kept under version control. */
const SCHEMA_FILE = path.join(INSTALLATION_DIR, 'schema', 'schema.graphql');

function fileOf(value: string | true, session: Session): string {
  return value === true ? SCHEMA_FILE : path.resolve(session.terminal.cwd, value);
}

/** The first lines that differ, enough to see what happened. */
function firstDifference(stored: string, emitted: string): string[] {
  const [before, after] = [stored.split('\n'), emitted.split('\n')];
  const at = after.findIndex((line, index) => line !== before[index]);
  const line = at === -1 ? after.length : at;
  return [`line ${line + 1}`, `- ${before[line] ?? '(end of file)'}`, `+ ${after[line] ?? '(end of file)'}`];
}

async function schema(session: Session, _args: readonly string[], options: SchemaOptions): Promise<void> {
  const emitted = await session.deps.emitSchema();
  if (options.write !== undefined) {
    const file = fileOf(options.write, session);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, emitted);
    await session.answer({ file, written: true }, () => [`${file}: written`]);
  } else if (options.check !== undefined) {
    const file = fileOf(options.check, session);
    const stored = await readFile(file, 'utf8').catch((cause: unknown) => {
      throw new ErrataError(
        'INVALID_FILE',
        'Expected a schema file for --check, received nothing that can be read',
        {
          cause,
        },
      );
    });
    const same = stored === emitted;
    const difference = same ? [] : firstDifference(stored, emitted);
    await session.answer({ file, same, difference }, () =>
      same
        ? [`${file}: up to date`]
        : [`${file}: differs; update it with: errata schema --write`, ...difference],
    );
    if (!same) session.finish(EXIT_CODES.findings);
  } else {
    await session.answer({ schema: emitted }, () => [emitted.trimEnd()]);
  }
}

export function addSchema(program: Command, context: CliContext): void {
  const command = program
    .command('schema')
    .description('print the GraphQL schema, write it to a file or compare it with one')
    .option('--write [file]', 'default: schema/schema.graphql')
    .option('--check [file]', 'exit code 1 where it differs');
  defineCommand(command, context, schema);
}
