import { type Command, InvalidArgumentError, Option } from 'commander';
import { CONFIG_FIELDS } from '../config/config-fields.js';
import { parseConfig } from '../config/parse-config.js';
import { ErrataError } from '../domain/errors.js';
import type { CliDeps } from './cli-deps.js';
import type { ExitCode } from './exit-codes.js';
import { Session } from './session.js';
import type { Terminal } from './terminal.js';

/** What every command is built with. */
export interface CliContext {
  readonly deps: CliDeps;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
  readonly finish: (code: ExitCode) => void;
  /** From now on every error ends with this code: for commands whose codes mean something of their own. */
  readonly failAs: (code: ExitCode) => void;
}

function settingOptions(): readonly { flag: string; option: Option }[] {
  return CONFIG_FIELDS.flatMap((field) => {
    if (field.flag === undefined) return [];
    const option = new Option(
      `--${field.flag} <${field.placeholder}>`,
      `${field.description} (${field.env}; default: ${field.default})`,
    );
    return [{ flag: field.flag, option: option.helpGroup('Settings:') }];
  });
}

/**
 * Adds `--json`, the settings (shown in the help only where `showSettings`) and the action. The action gets a session that
 * is closed after it, whatever happens.
 */
export function defineCommand<Options extends object>(
  command: Command,
  context: CliContext,
  run: (session: Session, args: readonly string[], options: Options) => Promise<void>,
  { showSettings = false } = {},
): Command {
  command.option('--json', 'one JSON document on standard output');
  const settings = settingOptions();
  for (const { option } of settings) command.addOption(showSettings ? option : option.hideHelp());
  if (!showSettings) command.addHelpText('after', '\nSettings such as --data: see "errata serve --help".');
  return command.action(async () => {
    const values: Record<string, unknown> = command.opts();
    const flags: Record<string, string> = {};
    for (const { flag, option } of settings) {
      const value = values[option.attributeName()];
      if (typeof value === 'string') flags[flag] = value;
    }
    const { deps, terminal, signal } = context;
    const config = parseConfig({ env: terminal.env, flags, cwd: terminal.cwd });
    const session = new Session({ deps, config, terminal, json: values.json === true, signal });
    try {
      await run(session, command.args, command.opts<Options>());
      context.finish(session.exitCode);
    } finally {
      await session.close();
    }
  });
}

/** Parser for a flag that takes a whole number. */
export function wholeNumber(min: number, max: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (/^\d{1,9}$/.test(value) && number >= min && number <= max) return number;
    throw new InvalidArgumentError(
      `Expected a whole number between ${min} and ${max}, received ${shown(value)}`,
    );
  };
}

/** Parser for a flag that takes a finite number. */
export function finiteNumber(value: string): number {
  const number = Number(value);
  if (value.trim() !== '' && Number.isFinite(number)) return number;
  throw new InvalidArgumentError(`Expected a number, received ${shown(value)}`);
}

/** Parser for a flag that takes one of some words, in any case; gives it as listed. */
export function oneOf<T extends string>(words: readonly T[]): (value: string) => T {
  return (value) => {
    const plain = (word: string): string => word.toLowerCase().replaceAll('_', '-');
    const found = words.find((word) => plain(word) === plain(value));
    if (found !== undefined) return found;
    throw new InvalidArgumentError(`Expected one of ${words.join(', ')}, received ${shown(value)}`);
  };
}

/** Parser for a flag that may be given several times with one of some words. */
export function severalOf<T extends string>(
  words: readonly T[],
): (value: string, earlier: readonly T[] | undefined) => readonly T[] {
  return (value, earlier = []) => [...earlier, oneOf(words)(value)];
}

/** Parser for a flag that may be given several times. */
export function several(value: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, value];
}

/** Parser for `--attribute key=value`, given several times. */
export function attributePair(
  value: string,
  earlier: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const at = value.indexOf('=');
  if (at < 1) throw new InvalidArgumentError(`Expected key=value, received ${shown(value)}`);
  return { ...earlier, [value.slice(0, at)]: value.slice(at + 1) };
}

/** The first argument, which commander has checked to be there. */
export function firstArgument(args: readonly string[], name: string): string {
  const value = args[0];
  if (value === undefined)
    throw new ErrataError('INVALID_INPUT', `Expected a value for ${name}, received none`);
  return value;
}

function shown(value: string): string {
  return JSON.stringify(value.length > 40 ? `${value.slice(0, 40)}…` : value);
}
