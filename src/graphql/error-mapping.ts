import { randomUUID } from 'node:crypto';
import { GraphQLError, type GraphQLFormattedError } from 'graphql';
import { ERROR_CODES, ErrataError, type ErrorCode } from '../domain/errors.js';
import type { Logger } from '../ports/logger.js';
import { errorExtensions, STANDARD_CODES, type StandardCode } from './limits/refusal.js';

const MAX_MESSAGE_LENGTH = 300;
/** Texts that the engine itself makes: names of properties and functions, never data. */
const ENGINE_ERRORS = new Set(['TypeError', 'ReferenceError', 'RangeError']);

const isStandard = (code: unknown): code is StandardCode =>
  (STANDARD_CODES as readonly unknown[]).includes(code);
const isOurs = (code: unknown): code is ErrorCode =>
  typeof code === 'string' && Object.hasOwn(ERROR_CODES, code);

/** What resolvers threw, below the wrappers that graphql-js and Apollo put around it. */
function innermost(error: unknown): unknown {
  let current = error;
  while (current instanceof GraphQLError && current.originalError !== undefined)
    current = current.originalError;
  return current;
}

/** Fields for the log: the class, a code, frames of the stack; the message only where it cannot hold data. */
function logFields(error: unknown): object {
  if (!(error instanceof Error)) return { error: typeof error };
  const code = 'code' in error ? String(error.code) : undefined;
  const safe = error instanceof ErrataError || ENGINE_ERRORS.has(error.name);
  return {
    error: error.name,
    ...(code !== undefined && { errorCode: code }),
    ...(safe && { text: error.message }),
    frames: (error.stack ?? '').split('\n').filter((line) => line.startsWith('    at ')),
    ...(error.cause !== undefined && {
      cause: error.cause instanceof Error ? error.cause.name : typeof error.cause,
    }),
  };
}

function internal(error: unknown, logger: Logger): GraphQLFormattedError {
  const errorId = randomUUID();
  logger.error({ errorId, ...logFields(error) }, 'internal error');
  return {
    message: `Internal error, see the log under id ${errorId}`,
    extensions: { ...errorExtensions('INTERNAL'), errorId },
  };
}

/** Errors that graphql-js or Apollo made before execution carry a known code and no cause; all others are internal. */
function describe(error: unknown, logger: Logger): GraphQLFormattedError {
  const thrown = innermost(error);
  if (thrown instanceof ErrataError) {
    if (thrown.category === 'internal') return internal(thrown, logger);
    return { message: thrown.message, extensions: errorExtensions(thrown.code, thrown.details) };
  }
  if (thrown instanceof GraphQLError) {
    const { code, details } = thrown.extensions;
    const message = thrown.message.slice(0, MAX_MESSAGE_LENGTH);
    if (isStandard(code)) return { message, extensions: errorExtensions(code) };
    if (isOurs(code) && code !== 'INTERNAL') {
      return { message, extensions: errorExtensions(code, details as Record<string, string> | undefined) };
    }
    if (/^Argument "\w+" of (?:required|non-null) type/.test(thrown.message)) {
      return {
        message: 'Expected a value for a required argument, received null',
        extensions: errorExtensions('INVALID_INPUT'),
      };
    }
  }
  return internal(thrown, logger);
}

/**
 * The one place where errors get the form in which they leave: `extensions` hold code, category, retryable and details;
 * what is not ours to tell becomes `INTERNAL` with the id of a log line. Cannot throw.
 *
 * @param error what was thrown or what Apollo hands over.
 */
export function toFormattedError(error: unknown, logger: Logger): GraphQLFormattedError {
  try {
    const { message, extensions } = describe(error, logger);
    const { path, locations } =
      error instanceof GraphQLError ? error : { path: undefined, locations: undefined };
    return {
      message,
      ...(locations !== undefined && { locations }),
      ...(path !== undefined && { path }),
      ...(extensions !== undefined && { extensions }),
    };
  } catch {
    // The logger or a hostile getter failed: nothing left to tell but that.
    return { message: 'Internal error', extensions: errorExtensions('INTERNAL') };
  }
}

/** HTTP status for errors that end a request before GraphQL runs. */
export function httpStatusOf(code: unknown): number {
  switch (code) {
    case 'UNAUTHENTICATED':
      return 401;
    case 'FORBIDDEN':
      return 403;
    case 'INPUT_TOO_LARGE':
      return 413;
    case 'INTERNAL':
      return 500;
    default:
      return isOurs(code) && ERROR_CODES[code].category === 'unavailable' ? 503 : 400;
  }
}
