import { ErrataError } from '../domain/errors.js';

/** Options of jobs are texts. Each reader gives undefined for one that is absent. Errors: `INVALID_INPUT` naming the option. */
export function readNumber(
  options: Readonly<Record<string, string>>,
  name: string,
  { whole = false, min = 0 }: { readonly whole?: boolean; readonly min?: number } = {},
): number | undefined {
  const text = options[name];
  if (text === undefined) return undefined;
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value) && value >= min && (!whole || Number.isInteger(value)))
    return value;
  throw refused(name, `${whole ? 'a whole number' : 'a number'} from ${min}`);
}

export function readFlag(options: Readonly<Record<string, string>>, name: string): boolean {
  const text = options[name] ?? 'false';
  if (text === 'true' || text === 'false') return text === 'true';
  throw refused(name, 'true or false');
}

/** Words with commas between, each one of `words`. */
export function readWords<T extends string>(
  options: Readonly<Record<string, string>>,
  name: string,
  words: readonly T[],
): readonly T[] | undefined {
  return options[name]?.split(',').map((given) => {
    const found = words.find((word) => word === given.trim());
    if (found !== undefined) return found;
    throw refused(name, `some of ${words.join(', ')}`);
  });
}

function refused(name: string, expected: string): ErrataError {
  return new ErrataError('INVALID_INPUT', `Expected ${expected} for ${name}, received other text`, {
    details: { field: name },
  });
}
