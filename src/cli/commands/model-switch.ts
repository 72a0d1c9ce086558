import type { Command } from 'commander';
import type { Job, JobKind } from '../../domain/job.js';
import { type CliContext, defineCommand, firstArgument } from '../define-command.js';
import { CLI_CALLER, type Session } from '../session.js';
import { followJob, jobLines } from './jobs.js';

interface SwitchOptions {
  readonly epsilon?: string;
  readonly force?: boolean;
  readonly detach?: boolean;
}

/** Runs the job here, or leaves it to a server; the servers change their model by themselves either way. */
async function run(session: Session, kind: JobKind, options: Job['options'], detach: boolean): Promise<void> {
  const opened = await session.open(detach ? 'store' : 'everything', !detach);
  const { jobs } = opened.useCases;
  const started = await jobs.start(CLI_CALLER, kind, undefined, options);
  const job = detach ? started : await followJob(session, jobs, started.id);
  await session.answer(job, () => jobLines(job, session));
}

async function switchModel(session: Session, args: readonly string[], options: SwitchOptions): Promise<void> {
  const { epsilon, force, detach } = options;
  await run(
    session,
    'MODEL_SWITCH',
    {
      model: firstArgument(args, 'name'),
      ...(epsilon === undefined ? {} : { epsilon }),
      ...(force === true ? { force: 'true' } : {}),
    },
    detach === true,
  );
}

async function rollback(session: Session, _args: readonly string[], options: SwitchOptions): Promise<void> {
  await run(session, 'MODEL_SWITCH', { rollback: 'true' }, options.detach === true);
}

async function dropVectors(session: Session, args: readonly string[], options: SwitchOptions): Promise<void> {
  await run(session, 'VECTOR_DROP', { model: firstArgument(args, 'name') }, options.detach === true);
}

/** Below `errata models`. */
export function addModelSwitch(models: Command, context: CliContext): void {
  const detach = ['--detach', 'only queue it; a server runs it'] as const;
  defineCommand(
    models
      .command('switch')
      .description('embed everything with another model while this one serves, compare, and change over')
      .argument('<name>', 'an installed embedding model')
      .option('--epsilon <share>', 'MRR that it may surely not lose (default: 0.02)')
      .option('--force', 'change over whatever the comparison says')
      .option(...detach),
    context,
    switchModel,
  );
  defineCommand(
    models
      .command('rollback')
      .description('change back to the model before the last switch')
      .option(...detach),
    context,
    rollback,
  );
  defineCommand(
    models
      .command('drop-vectors')
      .description('free the vectors of a model that served before: then there is no way back to it')
      .argument('<name>', 'its name, or the id of its vectors')
      .option(...detach),
    context,
    dropVectors,
  );
}
