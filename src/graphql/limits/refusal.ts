import { type ASTNode, GraphQLError } from 'graphql';
import { ERROR_CODES, type ErrorCode } from '../../domain/errors.js';

/** Codes of the GraphQL ecosystem that stay as they are, since client libraries know them. */
export const STANDARD_CODES = [
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'BAD_REQUEST',
  'OPERATION_RESOLUTION_FAILURE',
  'PERSISTED_QUERY_NOT_SUPPORTED',
  'PERSISTED_QUERY_NOT_FOUND',
] as const;
export type StandardCode = (typeof STANDARD_CODES)[number];

export type Details = Readonly<Record<string, string | number | boolean>>;

/** `extensions` of every error that leaves the server. */
export function errorExtensions(
  code: ErrorCode | StandardCode,
  details: Details = {},
): { code: string; category: string; retryable: boolean; details: Details } {
  const kind = Object.hasOwn(ERROR_CODES, code)
    ? ERROR_CODES[code as ErrorCode]
    : { category: 'user', retryable: false };
  return { code, category: kind.category, retryable: kind.retryable, details };
}

/** An error found before execution; its text is ours and safe to send. */
export function refusal(
  code: ErrorCode | StandardCode,
  message: string,
  options: { details?: Details; nodes?: readonly ASTNode[] | undefined } = {},
): GraphQLError {
  return new GraphQLError(message, {
    nodes: options.nodes ?? null,
    extensions: errorExtensions(code, options.details),
  });
}

/** Errors: `QUERY_TOO_COMPLEX` with the limit's name, its value and what was found (or the point where counting stopped). */
export function tooComplex(limit: string, maximum: number, received: number): GraphQLError {
  return refusal(
    'QUERY_TOO_COMPLEX',
    `Expected at most ${maximum} for the operation's ${limit}, received ${received} or more`,
    { details: { limit, maximum } },
  );
}
