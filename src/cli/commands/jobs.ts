import type { Command } from 'commander';
import { ErrataError } from '../../domain/errors.js';
import { JOB_KINDS, type Job } from '../../domain/job.js';
import type { JobCommands } from '../../ports/use-cases.js';
import {
  attributePair,
  type CliContext,
  defineCommand,
  firstArgument,
  oneOf,
  wholeNumber,
} from '../define-command.js';
import { EXIT_CODES } from '../exit-codes.js';
import { CLI_CALLER, type Session } from '../session.js';
import { printable, table, wrap } from '../text-layout.js';

interface StartOptions {
  readonly namespace?: string;
  readonly option?: Readonly<Record<string, string>>;
  readonly detach?: boolean;
}

interface ListOptions {
  readonly limit: number;
}

export function jobLines(job: Job, session: Session): string[] {
  const count = job.total === undefined ? `${job.done}` : `${job.done} of ${job.total}`;
  return [
    `${job.id}  ${job.kind} ${job.state}  ${count}`,
    ...wrap(printable(job.message ?? ''), session.width, '  '),
  ];
}

/** Shows a job until it has ended; a job that did not succeed is a finding. */
export async function followJob(session: Session, jobs: JobCommands, id: string): Promise<Job> {
  let latest = await jobs.get(id);
  if (latest === undefined) {
    throw new ErrataError('JOB_NOT_FOUND', 'Expected the id of a job, received an unknown one');
  }
  const display = session.progress(latest.kind.toLowerCase());
  const changes = jobs.progress(id);
  // An iterator that waits for the next change does not look at signals: it is told to end.
  const end = (): void => void changes.return?.();
  session.signal.addEventListener('abort', end, { once: true });
  try {
    for await (const job of changes) {
      latest = job;
      display.update({ done: job.done, total: job.total });
      if (session.signal.aborted) break;
    }
  } finally {
    session.signal.removeEventListener('abort', end);
    display.stop();
  }
  session.signal.throwIfAborted();
  if (latest.state !== 'SUCCEEDED') session.finish(EXIT_CODES.findings);
  return latest;
}

async function start(session: Session, args: readonly string[], options: StartOptions): Promise<void> {
  const kind = oneOf(JOB_KINDS)(firstArgument(args, 'kind'));
  const detached = options.detach === true;
  const opened = await session.open(detached ? 'store' : 'everything', !detached);
  const { jobs } = opened.useCases;
  const started = await jobs.start(CLI_CALLER, kind, options.namespace, options.option ?? {});
  const job = detached ? started : await followJob(session, jobs, started.id);
  await session.answer(job, () => jobLines(job, session));
}

async function list(session: Session, _args: readonly string[], options: ListOptions): Promise<void> {
  const jobs = await (await session.open('store')).useCases.jobs.list('all', options.limit);
  await session.answer(jobs, () =>
    table(
      ['id', 'kind', 'state', 'done', 'created'],
      jobs.map(({ id, kind, state, done, total, createdAt }) => [
        id,
        kind,
        state,
        total === undefined ? String(done) : `${done}/${total}`,
        createdAt.slice(0, 16).replace('T', ' '),
      ]),
      session.width,
    ),
  );
}

async function show(session: Session, args: readonly string[]): Promise<void> {
  const job = await (await session.open('store')).useCases.jobs.get(firstArgument(args, 'id'));
  if (job === undefined) {
    throw new ErrataError('JOB_NOT_FOUND', 'Expected the id of a job, received an unknown one');
  }
  await session.answer(job, () => jobLines(job, session));
}

async function cancel(session: Session, args: readonly string[]): Promise<void> {
  const { jobs } = (await session.open('store')).useCases;
  const job = await jobs.cancel(CLI_CALLER, firstArgument(args, 'id'));
  await session.answer(job, () => jobLines(job, session));
}

async function watch(session: Session, args: readonly string[]): Promise<void> {
  const { jobs } = (await session.open('store')).useCases;
  const job = await followJob(session, jobs, firstArgument(args, 'id'));
  await session.answer(job, () => jobLines(job, session));
}

export function addJobs(program: Command, context: CliContext): void {
  const jobs = program.command('jobs').description('long work: backfill, re-embed, sweeps');
  const startCommand = jobs
    .command('start')
    .description('run a job here and show its progress')
    .argument('<kind>', JOB_KINDS.join(', '))
    .option('-n, --namespace <name>', 'only this namespace')
    .option('-o, --option <key=value>', 'option of the kind; several times', attributePair)
    .option('--detach', 'only queue it; a server runs it');
  defineCommand(startCommand, context, start);
  defineCommand(
    jobs
      .command('list')
      .description('newest first')
      .option('--limit <n>', 'jobs at most', wholeNumber(1, 200), 20),
    context,
    list,
  );
  defineCommand(jobs.command('show').description('one job').argument('<id>', 'job'), context, show);
  defineCommand(
    jobs.command('cancel').description('ask a job to end').argument('<id>', 'job'),
    context,
    cancel,
  );
  defineCommand(
    jobs.command('watch').description('show a job until it has ended').argument('<id>', 'job'),
    context,
    watch,
  );
}
