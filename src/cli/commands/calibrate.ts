import path from 'node:path';
import type { Command } from 'commander';
import type { Calibration } from '../../domain/calibration.js';
import { renderCalibration } from '../../evaluation/calibration/render-calibration.js';
import { renderCalibrationsHtml } from '../../evaluation/calibration/render-calibration-html.js';
import { type CliContext, defineCommand, finiteNumber } from '../define-command.js';
import { readText } from '../read-input.js';
import { CLI_CALLER, type Session } from '../session.js';
import { writeDocuments } from '../write-documents.js';

interface CalibrateOptions {
  readonly namespace: string;
  readonly golden?: string;
  readonly alpha: number;
  readonly dryRun?: boolean;
  readonly show?: boolean;
  readonly clear?: boolean;
  readonly out?: string;
}

async function calibrate(session: Session, options: CalibrateOptions): Promise<void> {
  const { namespace } = options;
  if (options.clear === true) {
    const { evaluations } = (await session.open('store')).useCases;
    const cleared = await evaluations.clearCalibrations(CLI_CALLER, namespace);
    const text = cleared ? 'the shipped thresholds are in force again' : 'there was no calibration';
    return session.answer({ namespace, cleared }, () => [`${namespace}: ${text}`]);
  }
  if (options.show === true) {
    const { evaluations } = (await session.open('store')).useCases;
    return show(
      session,
      await evaluations.calibrations(namespace),
      options,
      `no calibration for ${namespace}`,
    );
  }
  const { terminal } = session;
  const golden =
    options.golden === undefined ? undefined : await readText(options.golden, terminal.stdin, terminal.cwd);
  const { evaluations } = (await session.open('everything')).useCases;
  const display = session.progress('calibrate');
  try {
    const made = await evaluations.calibrate(CLI_CALLER, {
      namespace,
      golden,
      alpha: options.alpha,
      dryRun: options.dryRun,
      onProgress: (done, total) => display.update({ done, total }),
      signal: session.signal,
    });
    display.stop();
    await show(session, made, options, 'nothing to calibrate');
  } finally {
    display.stop();
  }
}

async function show(
  session: Session,
  list: readonly Calibration[],
  { out }: CalibrateOptions,
  none: string,
): Promise<void> {
  if (out !== undefined && list.length > 0) {
    await writeDocuments(path.resolve(session.terminal.cwd, out), {
      'calibration.json': `${JSON.stringify(list, undefined, 2)}\n`,
      'calibration.html': renderCalibrationsHtml(list),
    });
  }
  await session.answer(list, () => (list.length === 0 ? [none] : list.flatMap(renderCalibration)));
}

export function addCalibrate(program: Command, context: CliContext): void {
  const command = program
    .command('calibrate')
    .description('fit thresholds, so that few queries without an answer get a note')
    .option('-n, --namespace <name>', 'whose thresholds', 'default')
    .option('--golden <file>', 'JSONL by note id (default: the saved golden set)')
    .option('--alpha <share>', 'of queries without an answer that may get a note', finiteNumber, 0.05)
    .option('--dry-run', 'report only, put nothing into force')
    .option('--show', 'what is in force')
    .option('--clear', 'back to the shipped thresholds')
    .option('--out <folder>', 'write calibration.json and calibration.html');
  defineCommand<CalibrateOptions>(command, context, (session, _args, options) => calibrate(session, options));
}
