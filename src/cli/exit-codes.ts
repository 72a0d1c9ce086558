import { ERROR_CODES, type ErrorCode, isErrataError } from '../domain/errors.js';

/** Part of the interface, as `--help` prints it. 70 is `EX_SOFTWARE` of sysexits.h; 130 is what shells give for Ctrl-C. */
export const EXIT_CODES = {
  ok: 0,
  findings: 1,
  usage: 2,
  unavailable: 3,
  notFound: 4,
  conflict: 5,
  corrupt: 6,
  internal: 70,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT_CODES)[keyof typeof EXIT_CODES];

export const EXIT_CODE_HELP: readonly (readonly [ExitCode, string])[] = [
  [EXIT_CODES.ok, 'done; an empty answer is an answer'],
  [EXIT_CODES.findings, 'done, with findings: refused rows, a failed check, a regression'],
  [EXIT_CODES.usage, 'wrong use, setting or input'],
  [EXIT_CODES.unavailable, 'store, model, index or tool not available; trying again may help'],
  [EXIT_CODES.notFound, 'note, receipt, job, key or model not found'],
  [EXIT_CODES.conflict, 'changed by somebody else meanwhile, or the name is taken'],
  [EXIT_CODES.corrupt, 'a stored record or a downloaded file is damaged'],
  [EXIT_CODES.internal, 'a fault of errata itself'],
  [EXIT_CODES.interrupted, 'stopped by Ctrl-C'],
];

const NOT_FOUND: readonly ErrorCode[] = [
  'NOTE_NOT_FOUND',
  'RECEIPT_NOT_FOUND',
  'JOB_NOT_FOUND',
  'KEY_NOT_FOUND',
  'UNKNOWN_MODEL',
];
const CONFLICT: readonly ErrorCode[] = ['KEY_EXISTS', 'INVALID_TRANSITION'];

/** The exit code of an error, by category except where a code says more. */
export function exitCodeOf(error: unknown): ExitCode {
  if (!isErrataError(error)) return EXIT_CODES.internal;
  if (NOT_FOUND.includes(error.code)) return EXIT_CODES.notFound;
  if (CONFLICT.includes(error.code)) return EXIT_CODES.conflict;
  switch (ERROR_CODES[error.code].category) {
    case 'user':
      return EXIT_CODES.usage;
    case 'conflict':
      return EXIT_CODES.conflict;
    case 'unavailable':
      return EXIT_CODES.unavailable;
    case 'corrupt':
      return EXIT_CODES.corrupt;
    case 'internal':
      return EXIT_CODES.internal;
  }
}
