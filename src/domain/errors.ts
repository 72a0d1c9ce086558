/** Who has to act on an error. `internal` texts never leave the process. */
export type ErrorCategory = 'user' | 'conflict' | 'unavailable' | 'corrupt' | 'internal';

interface ErrorKind {
  readonly category: ErrorCategory;
  readonly retryable: boolean;
}

const user: ErrorKind = { category: 'user', retryable: false };
const conflict: ErrorKind = { category: 'conflict', retryable: true };
const unavailable: ErrorKind = { category: 'unavailable', retryable: true };
const corrupt: ErrorKind = { category: 'corrupt', retryable: false };

/** The one table of error codes. Codes are part of the interface: they are added, never renamed. */
export const ERROR_CODES = {
  INVALID_INPUT: user,
  /** Lone surrogates, NUL, or nothing left after canonicalisation. */
  INVALID_TEXT: user,
  INPUT_TOO_LARGE: user,
  INVALID_CURSOR: user,
  INVALID_CONFIG: user,
  INVALID_TRANSITION: user,
  INVALID_FILE: user,
  UNSUPPORTED_ENCODING: user,
  NOTE_NOT_FOUND: user,
  RECEIPT_NOT_FOUND: user,
  JOB_NOT_FOUND: user,
  KEY_NOT_FOUND: user,
  KEY_EXISTS: user,
  UNAUTHENTICATED: user,
  FORBIDDEN: user,
  QUERY_TOO_COMPLEX: user,
  UNKNOWN_MODEL: user,
  UNKNOWN_TOKENIZER: user,
  /** A run's own limit of calls or money. */
  BUDGET_EXCEEDED: user,
  /** A comparison says that another model would do worse. */
  MODEL_REFUSED: user,
  /** A job took down every process that ran it. */
  JOB_GIVEN_UP: { category: 'internal', retryable: false },
  VERSION_CONFLICT: conflict,
  NOTE_EXISTS: conflict,
  STORE_UNAVAILABLE: unavailable,
  STORE_BUSY: unavailable,
  MODEL_UNAVAILABLE: unavailable,
  MODEL_NOT_INSTALLED: { category: 'unavailable', retryable: false },
  INDEX_UNAVAILABLE: unavailable,
  TOOL_MISSING: { category: 'unavailable', retryable: false },
  QUEUE_FULL: unavailable,
  TIMED_OUT: unavailable,
  ABORTED: { category: 'unavailable', retryable: true },
  CLOSED: { category: 'unavailable', retryable: false },
  /** The store was written under a key that is not at hand, or that is another one of the same id. */
  ENCRYPTION_KEY_MISSING: { category: 'unavailable', retryable: false },
  ENCRYPTION_KEY_WRONG: { category: 'unavailable', retryable: false },
  CORRUPT_RECORD: corrupt,
  DIGEST_MISMATCH: corrupt,
  INVALID_VECTOR: { category: 'internal', retryable: false },
  INTERNAL: { category: 'internal', retryable: false },
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERROR_CODES;

export interface ErrorOptions {
  readonly cause?: unknown;
  /** Machine-readable detail: field names, limits, counts. Never note text or secrets. */
  readonly details?: Readonly<Record<string, string | number | boolean>>;
}

/** The only error class that crosses a port. Texts follow "Expected X for NAME, received Y" and never hold note text. */
export class ErrataError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, string | number | boolean>>;

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ErrataError';
    this.code = code;
    this.details = options.details ?? {};
  }

  get category(): ErrorCategory {
    return ERROR_CODES[this.code].category;
  }

  get retryable(): boolean {
    return ERROR_CODES[this.code].retryable;
  }
}

/** Whether a value is an ErrataError with the given code (any code where none is given). */
export function isErrataError(error: unknown, code?: ErrorCode): error is ErrataError {
  return error instanceof ErrataError && (code === undefined || error.code === code);
}
