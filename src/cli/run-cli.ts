import { CommanderError } from 'commander';
import { ErrataError, isErrataError } from '../domain/errors.js';
import type { CliDeps } from './cli-deps.js';
import { EXIT_CODES, type ExitCode, exitCodeOf } from './exit-codes.js';
import { createProgram } from './program.js';
import { isBrokenPipe, type Terminal, write } from './terminal.js';

/** An error as `--json` prints it. Texts of `internal` errors stay inside. */
function errorDocument(error: unknown): object {
  if (!isErrataError(error)) {
    return { error: { code: 'INTERNAL', category: 'internal', retryable: false, message: 'Internal error' } };
  }
  const { code, category, retryable, message, details } = error;
  return { error: { code, category, retryable, message, details } };
}

/** People see the text; what is not ours also shows its trace, since only that helps to report it. */
function errorLines(error: unknown): string {
  if (isErrataError(error)) return `errata: ${error.message} (${error.code})\n`;
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `errata: internal error, please report it:\n${trace}\n`;
}

async function report(error: unknown, json: boolean, terminal: Terminal): Promise<void> {
  if (json) await write(terminal.stdout, `${JSON.stringify(errorDocument(error), undefined, 2)}\n`);
  if (!json || !isErrataError(error)) await write(terminal.stderr, errorLines(error));
}

/** `error: unknown option '--prot'\n(Did you mean --port?)` as one of our errors. */
function usageError(error: CommanderError): ErrataError {
  const text = error.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
  const code = error.code === 'commander.unknownOption' ? 'INVALID_CONFIG' : 'INVALID_INPUT';
  return new ErrataError(code, text);
}

/** Helps that were asked for end well; a bare `errata` or `errata notes` shows help and counts as wrong use. */
function isWantedHelp(error: CommanderError): boolean {
  return error.code === 'commander.helpDisplayed' || error.code === 'commander.version';
}

/**
 * Runs one command line (without `node` and the script) and resolves to the exit code; never rejects. Closes what it opened,
 * also after Ctrl-C; a second Ctrl-C ends the process at once.
 */
export async function runCli(argv: readonly string[], deps: CliDeps, terminal: Terminal): Promise<ExitCode> {
  const json = argv.includes('--json');
  const controller = new AbortController();
  let interrupted = false;
  let brokenPipe = false;
  const stopListening = terminal.onInterrupt(() => {
    if (interrupted) terminal.exit(EXIT_CODES.interrupted);
    interrupted = true;
    controller.abort(new ErrataError('ABORTED', 'Stopped by an interrupt'));
  });
  const onOutputError = (error: Error): void => {
    if (isBrokenPipe(error)) brokenPipe = true;
    controller.abort(new ErrataError('ABORTED', 'Expected an open standard output, received an error'));
  };
  // Stays for good: what was written last can still fail after the command has ended.
  terminal.stdout.on('error', onOutputError);
  let exitCode: ExitCode = EXIT_CODES.ok;
  let errorCode: ExitCode | undefined;
  const context = {
    deps,
    terminal,
    signal: controller.signal,
    finish: (code: ExitCode) => {
      exitCode = code;
    },
    failAs: (code: ExitCode) => {
      errorCode = code;
    },
  };
  const program = createProgram(context, terminal, {
    out: (text) => void terminal.stdout.write(text),
    // Usage errors are reported below, in the form that was asked for.
    err: (text) => (text.startsWith('error:') ? undefined : void terminal.stderr.write(text)),
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (brokenPipe || isBrokenPipe(error)) return EXIT_CODES.ok;
    if (interrupted) return EXIT_CODES.interrupted;
    if (error instanceof CommanderError) {
      if (isWantedHelp(error)) return EXIT_CODES.ok;
      if (error.code !== 'commander.help') await report(usageError(error), json, terminal);
      return EXIT_CODES.usage;
    }
    await report(error, json, terminal).catch(() => undefined);
    return errorCode ?? exitCodeOf(error);
  } finally {
    stopListening();
  }
}
