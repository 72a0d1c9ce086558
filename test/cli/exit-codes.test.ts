import { describe, expect, it } from 'vitest';
import { EXIT_CODE_HELP, EXIT_CODES, exitCodeOf } from '../../src/cli/exit-codes.js';
import { ERROR_CODES, ErrataError, type ErrorCode } from '../../src/domain/errors.js';

describe('exitCodeOf', () => {
  it('gives every error code one of the documented exit codes, and never success', () => {
    const documented = EXIT_CODE_HELP.map(([code]) => code);
    for (const code of Object.keys(ERROR_CODES) as ErrorCode[]) {
      const exitCode = exitCodeOf(new ErrataError(code, 'x'));
      expect(documented, code).toContain(exitCode);
      expect([EXIT_CODES.ok, EXIT_CODES.findings], code).not.toContain(exitCode);
    }
    expect(documented).toEqual(Object.values(EXIT_CODES));
  });

  it.each([
    ['INVALID_INPUT', 2],
    ['INVALID_CONFIG', 2],
    ['STORE_UNAVAILABLE', 3],
    ['MODEL_NOT_INSTALLED', 3],
    ['NOTE_NOT_FOUND', 4],
    ['UNKNOWN_MODEL', 4],
    ['VERSION_CONFLICT', 5],
    ['KEY_EXISTS', 5],
    ['DIGEST_MISMATCH', 6],
    ['INVALID_VECTOR', 70],
  ] as const)('%s is %i', (code, exitCode) => {
    expect(exitCodeOf(new ErrataError(code, 'x'))).toBe(exitCode);
  });

  it('is 70 for what is not ours', () => {
    expect(exitCodeOf(new TypeError('x'))).toBe(70);
    expect(exitCodeOf('x')).toBe(70);
  });
});
