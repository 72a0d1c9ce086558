import type { Command } from 'commander';
import { ROLES, type Role } from '../../domain/api-key.js';
import { ErrataError } from '../../domain/errors.js';
import { type CliContext, defineCommand, firstArgument, several, severalOf } from '../define-command.js';
import { CLI_CALLER, type Session } from '../session.js';
import { printable, table } from '../text-layout.js';

interface CreateOptions {
  readonly role: readonly Role[];
  readonly namespace?: readonly string[];
}

async function create(session: Session, args: readonly string[], options: CreateOptions): Promise<void> {
  const { keys } = (await session.open('store')).useCases;
  const name = firstArgument(args, 'name');
  const key = await keys.create(CLI_CALLER, name, options.role, options.namespace);
  await session.answer({ name, roles: options.role, namespaces: options.namespace, key }, () => [key]);
  // The key alone on standard output, so that it can be put into a variable.
  if (!session.json)
    session.note(`Key ${JSON.stringify(name)} (${options.role.join(', ')}), shown this once.`);
}

async function list(session: Session): Promise<void> {
  const keys = await (await session.open('store')).useCases.keys.list();
  await session.answer(keys, () =>
    table(
      ['name', 'roles', 'created', 'revoked', 'namespaces'],
      keys.map(({ name, roles, createdAt, revokedAt, namespaces }) => [
        printable(name),
        roles.join(','),
        createdAt.slice(0, 10),
        revokedAt?.slice(0, 10) ?? '',
        namespaces === undefined ? 'every one' : printable(namespaces.join(',')),
      ]),
      session.width,
    ),
  );
}

async function revoke(session: Session, args: readonly string[]): Promise<void> {
  const { keys } = (await session.open('store')).useCases;
  const name = firstArgument(args, 'name');
  if (!(await keys.revoke(CLI_CALLER, name))) {
    throw new ErrataError('KEY_NOT_FOUND', 'Expected the name of an unrevoked key, received another');
  }
  await session.answer({ name, revoked: true }, () => [`${printable(name)}: revoked`]);
}

export function addKeys(program: Command, context: CliContext): void {
  const keys = program.command('keys').description('API keys');
  const createCommand = keys
    .command('create')
    .description('make a key and print it, once')
    .argument('<name>', 'stands in the history as who did it')
    .requiredOption('--role <role>', `${ROLES.join(', ')}; several times`, severalOf(ROLES))
    .option('-n, --namespace <name>', 'several times: only these (default: every one)', several);
  defineCommand(createCommand, context, create);
  defineCommand(keys.command('list').description('keys without their secrets'), context, list);
  defineCommand(
    keys.command('revoke').description('end a key at once').argument('<name>', 'key'),
    context,
    revoke,
  );
}
