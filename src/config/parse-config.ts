import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ErrataError } from '../domain/errors.js';
import type { Config } from './config.js';
import type { ConfigField } from './config-field.js';
import { CONFIG_FIELDS } from './config-fields.js';
import { didYouMean } from './did-you-mean.js';

/** The checkout or package folder: `src/config` and `dist/config` lie equally deep in it. */
export const INSTALLATION_DIR = fileURLToPath(new URL('../../', import.meta.url));

export interface ConfigSources {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** By long name without dashes (`mongodb-uri`). */
  readonly flags?: Readonly<Record<string, string | undefined>>;
  /** Relative folders start here. */
  readonly cwd?: string;
}

/** Variables that tests and scripts keep for themselves. */
const FOREIGN_PREFIX = 'ERRATA_TEST_';

function refuseUnknown(sources: ConfigSources): void {
  const variables = CONFIG_FIELDS.map((field) => field.env);
  for (const name of Object.keys(sources.env)) {
    if (!name.startsWith('ERRATA_') || name.startsWith(FOREIGN_PREFIX) || variables.includes(name)) continue;
    throw new ErrataError(
      'INVALID_CONFIG',
      `Expected a known ERRATA_ variable, received ${name}${didYouMean(name, variables)}`,
      { details: { name } },
    );
  }
  const flags = CONFIG_FIELDS.flatMap((field) => field.flag ?? []);
  for (const name of Object.keys(sources.flags ?? {})) {
    if (flags.includes(name)) continue;
    const hint = didYouMean(
      `--${name}`,
      flags.map((flag) => `--${flag}`),
    );
    throw new ErrataError('INVALID_CONFIG', `Expected a known flag, received --${name}${hint}`, {
      details: { name },
    });
  }
}

/** Where the value came from, so that a message names what the user typed; a flag wins over a variable. */
function rawValue(field: ConfigField, sources: ConfigSources): { raw: string | undefined; name: string } {
  const flag = field.flag === undefined ? undefined : sources.flags?.[field.flag];
  if (flag !== undefined) return { raw: flag, name: `--${field.flag}` };
  // An empty variable counts as unset: that is what `VAR= command` and compose files mean by it.
  const spellings = [field.env, ...(field.aliases ?? [])];
  const variable = spellings.map((name) => sources.env[name]).find((value) => value);
  return { raw: variable ?? field.fallback, name: field.env };
}

function parseField(field: ConfigField, sources: ConfigSources): unknown {
  const { raw, name } = rawValue(field, sources);
  if (raw === undefined) return undefined;
  const result = field.schema.safeParse(raw);
  if (result.success) return result.data;
  const received = field.secret ? `${raw.length} characters (not shown)` : JSON.stringify(raw.slice(0, 80));
  throw new ErrataError('INVALID_CONFIG', `Expected ${field.expected} for ${name}, received ${received}`, {
    details: { name },
  });
}

function deepFreeze<T extends object>(value: T): T {
  for (const inner of Object.values(value)) {
    if (typeof inner === 'object' && inner !== null) deepFreeze(inner);
  }
  return Object.freeze(value);
}

/**
 * Reads flags over variables over defaults, once, at the edge.
 *
 * Errors: `INVALID_CONFIG` for an unknown `ERRATA_*` variable or flag (with a hint) and for a value of the wrong form.
 * Secrets stand in no message.
 */
export function parseConfig(sources: ConfigSources): Config {
  refuseUnknown(sources);
  const values: Record<string, unknown> = {};
  /** Groups of settings: `limits.maxDepth` is a member of `limits`. */
  const groups: Record<string, Record<string, unknown>> = { limits: {}, proxies: {}, graph: {} };
  for (const field of CONFIG_FIELDS) {
    const value = parseField(field, sources);
    const [group = '', member] = field.key.split('.');
    if (member !== undefined) groups[group] = { ...groups[group], [member]: value };
    // The addon reads its own variable at load; here it is only checked.
    else if (field.key !== 'isa' && value !== undefined) values[field.key] = value;
  }
  const cwd = sources.cwd ?? process.cwd();
  values.dataDir = path.resolve(cwd, String(values.dataDir));
  if (values.keyFile !== undefined) values.keyFile = path.resolve(cwd, String(values.keyFile));
  values.modelsDir =
    values.modelsDir === undefined
      ? path.join(INSTALLATION_DIR, '.cache', 'models')
      : path.resolve(cwd, String(values.modelsDir));
  // The table above is the single source; its keys and kinds are those of Config (test/config checks every one).
  return deepFreeze({ ...values, ...groups }) as unknown as Config;
}
