import type { Config } from '../config/config.js';
import type { Caller } from '../domain/api-key.js';
import type { CliDeps, OpenAppOptions, OpenedApp } from './cli-deps.js';
import { EXIT_CODES, type ExitCode } from './exit-codes.js';
import { type ProgressDisplay, showProgress } from './progress.js';
import { createStyle, type Style } from './style.js';
import { hasColours, type Terminal, widthOf, write } from './terminal.js';

/** Who the command line is to the use cases: whoever can read the data folder can do everything anyway. */
export const CLI_CALLER: Caller = { name: 'cli', roles: ['admin'], origin: { via: 'CLI' } };

export interface SessionOptions {
  readonly deps: CliDeps;
  readonly config: Config;
  readonly terminal: Terminal;
  readonly json: boolean;
  readonly signal: AbortSignal;
}

/** One run of one command: what it may use, and what is closed after it. */
export class Session {
  readonly deps: CliDeps;
  readonly config: Config;
  readonly terminal: Terminal;
  readonly json: boolean;
  readonly signal: AbortSignal;
  readonly width: number;
  readonly style: Style;
  #opened: OpenedApp | undefined;
  #exitCode: ExitCode = EXIT_CODES.ok;

  constructor(options: SessionOptions) {
    this.deps = options.deps;
    this.config = options.config;
    this.terminal = options.terminal;
    this.json = options.json;
    this.signal = options.signal;
    this.width = widthOf(options.terminal.stdout);
    this.style = createStyle(hasColours(options.terminal.stdout, options.terminal.env));
  }

  get exitCode(): ExitCode {
    return this.#exitCode;
  }

  /** The command did its work, but found something that scripts must notice. */
  finish(code: ExitCode): void {
    this.#exitCode = code;
  }

  /** Opens the installation, once; the session closes it. */
  async open(parts: OpenAppOptions['parts'], runJobs = false): Promise<OpenedApp> {
    this.#opened ??= await this.deps.openApp(this.config, { parts, runJobs, signal: this.signal });
    return this.#opened;
  }

  /** The one answer: a JSON document with `--json`, else lines for people. */
  async answer(document: unknown, lines: () => readonly string[]): Promise<void> {
    const text = this.json ? JSON.stringify(document, undefined, 2) : lines().join('\n');
    if (text !== '') await write(this.terminal.stdout, `${text}\n`);
  }

  /** Something worth knowing that is not the answer. */
  note(text: string): void {
    this.terminal.stderr.write(`${text}\n`);
  }

  progress(label: string): ProgressDisplay {
    return showProgress(label, this.terminal);
  }

  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await opened?.close();
  }
}
