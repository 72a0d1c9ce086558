import { Command } from 'commander';
import { addAnswers } from './commands/answers.js';
import { addAudit } from './commands/audit.js';
import { addCalibrate } from './commands/calibrate.js';
import { addDoctor } from './commands/doctor.js';
import { addEvaluate } from './commands/evaluate.js';
import { addExport } from './commands/export.js';
import { addGolden } from './commands/golden.js';
import { addImport } from './commands/import.js';
import { addJobs } from './commands/jobs.js';
import { addKeys } from './commands/keys.js';
import { addModels } from './commands/models.js';
import { addNotes } from './commands/notes.js';
import { addQueue } from './commands/queue.js';
import { addReport } from './commands/report.js';
import { addRetrieve } from './commands/retrieve.js';
import { addReview } from './commands/review.js';
import { addSchema } from './commands/schema.js';
import { addServe } from './commands/serve.js';
import { addSubmit } from './commands/submit.js';
import { addSweep } from './commands/sweep.js';
import type { CliContext } from './define-command.js';
import { EXIT_CODE_HELP } from './exit-codes.js';
import type { Terminal } from './terminal.js';
import { widthOf } from './terminal.js';

function exitCodeHelp(): string {
  const lines = EXIT_CODE_HELP.map(([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`);
  return ['', 'Exit codes:', ...lines].join('\n');
}

/** What commander itself has to say goes to these two. */
export interface ProgramOutput {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** All commands. Throws `CommanderError` instead of ending the process. */
export function createProgram(context: CliContext, terminal: Terminal, output: ProgramOutput): Command {
  const program = new Command('errata');
  const width = widthOf(terminal.stdout);
  program
    .description("Gives reviewers' corrections back as lessons before the next check repeats the mistake.")
    .version(context.deps.version)
    .configureOutput({
      writeOut: output.out,
      writeErr: output.err,
      getOutHelpWidth: () => width,
      getErrHelpWidth: () => width,
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .configureHelp({
      optionDescription: (option) => `${option.description}${option.mandatory ? ' (required)' : ''}`,
    })
    .exitOverride()
    .addHelpText('after', exitCodeHelp());
  const parts = [
    addServe,
    addSubmit,
    addImport,
    addExport,
    addRetrieve,
    addNotes,
    addReview,
    addQueue,
    addModels,
    addKeys,
    addJobs,
    addEvaluate,
    addReport,
    addAudit,
    addGolden,
    addSweep,
    addAnswers,
    addCalibrate,
    addDoctor,
    addSchema,
  ];
  for (const add of parts) add(program, context);
  return program;
}
