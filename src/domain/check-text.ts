import { canonicalLine, withoutControls } from './canonical.js';
import { ErrataError } from './errors.js';

/** A lone half of a surrogate pair: with the `u` flag, whole pairs are one code point and do not match. */
const LONE_SURROGATE = /\p{Surrogate}/u;

/** What a value is, for error texts: never its content. */
export function kindOf(value: unknown): string {
  if (value === null) {
    return 'null';
  }
  return Array.isArray(value) ? 'array' : typeof value;
}

/**
 * Checks text from outside and gives it back unchanged.
 *
 * Errors: `INVALID_INPUT` for another type, `INPUT_TOO_LARGE` over `maxLength` UTF-16 units (checked first: nothing else
 * is run over a huge text), `INVALID_TEXT` for a lone surrogate, NUL, or text of which nothing visible is left.
 */
export function checkText(value: unknown, name: string, maxLength: number): string {
  if (typeof value !== 'string') {
    throw new ErrataError('INVALID_INPUT', `Expected text for ${name}, received ${kindOf(value)}`, {
      details: { field: name },
    });
  }
  if (value.length > maxLength) {
    throw new ErrataError(
      'INPUT_TOO_LARGE',
      `Expected at most ${maxLength} characters for ${name}, received ${value.length}`,
      { details: { field: name, limit: maxLength, length: value.length } },
    );
  }
  if (LONE_SURROGATE.test(value)) {
    throw invalidText(name, 'a lone surrogate');
  }
  if (value.includes('\0')) {
    throw invalidText(name, 'a NUL character');
  }
  if (canonicalLine(withoutControls(value)) === '') {
    throw invalidText(name, value === '' ? 'empty text' : 'only white space or invisible characters');
  }
  return value;
}

function invalidText(name: string, received: string): ErrataError {
  return new ErrataError(
    'INVALID_TEXT',
    `Expected visible, well-formed text for ${name}, received ${received}`,
    {
      details: { field: name },
    },
  );
}
