import { type Command, InvalidArgumentError } from 'commander';
import type { AuditHead } from '../../guard/verify-audit.js';
import { type CliContext, defineCommand } from '../define-command.js';
import { EXIT_CODES } from '../exit-codes.js';
import type { Session } from '../session.js';

interface VerifyOptions {
  readonly head?: AuditHead;
}

function auditHead(value: string): AuditHead {
  const [, number, hash] = /^(\d{1,15}):([0-9a-f]{64})$/u.exec(value) ?? [];
  if (number === undefined || hash === undefined) {
    throw new InvalidArgumentError(
      'Expected NUMBER:HASH as an earlier run printed it, received another form',
    );
  }
  return { number: Number(number), hash };
}

async function verify(session: Session, _args: readonly string[], options: VerifyOptions): Promise<void> {
  const opened = await session.open('store');
  const verification = await opened.verifyAudit(options.head);
  const { events, links, head, problems, problemCount, unsealed } = verification;
  await session.answer(verification, () =>
    [
      ...problems.map(({ kind, link, eventId }) =>
        session.style.bad(
          [kind, link === undefined ? '' : `link ${link}`, eventId ?? ''].join(' ').trimEnd(),
        ),
      ),
      problemCount > problems.length ? `… and ${problemCount - problems.length} more` : '',
      ...(unsealed.length === 0
        ? []
        : [
            `${unsealed.length} not sealed yet: a process died after writing ${unsealed.length === 1 ? 'it' : 'them'}; a server seals ${unsealed.length === 1 ? 'it' : 'them'} at its start`,
            ...unsealed.slice(0, 20).map((id) => `  ${id}`),
          ]),
      `${events} events, ${links} links, ${problemCount} problem${problemCount === 1 ? '' : 's'}`,
      ...(head === undefined
        ? []
        : ['Head, to be kept elsewhere and given to --head next time:', `${head.number}:${head.hash}`]),
    ].filter((line) => line !== ''),
  );
  if (problemCount > 0) session.finish(EXIT_CODES.corrupt);
  else if (unsealed.length > 0) session.finish(EXIT_CODES.findings);
}

export function addAudit(program: Command, context: CliContext): void {
  const audit = program.command('audit').description('the chained record of every change');
  const command = audit
    .command('verify')
    .description(
      'recompute the hash chain and compare every event with it; exit code 6: changed, 1: not sealed yet',
    )
    .option('--head <number:hash>', 'head of an earlier run: shows whether the end was cut off', auditHead);
  defineCommand(command, context, verify);
}
