import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';
import { parseInstant } from '../domain/instant.js';
import type { Instant } from '../domain/note.js';

const EXPECTED = 'Expected an RFC 3339 instant with offset, such as 2026-01-31T09:30:00Z, for DateTime';

function readInstant(value: unknown): Instant {
  try {
    return parseInstant(value, 'DateTime');
  } catch {
    // GraphQL's own class and no cause: bad input and bad stored data are told apart by where it happens.
    const received = typeof value === 'string' ? `a string of length ${value.length}` : `a ${typeof value}`;
    throw new GraphQLError(`${EXPECTED}, received ${received}`);
  }
}

/** Own scalar rather than type-graphql's: that one accepts whatever `new Date()` accepts. */
export const DateTimeScalar = new GraphQLScalarType<Instant, Instant>({
  name: 'DateTime',
  description:
    'An instant: RFC 3339 with an offset, such as `2026-01-31T10:30:00+01:00`; input without an offset is refused. Output is always UTC with milliseconds, such as `2026-01-31T09:30:00.000Z`.',
  specifiedByURL: 'https://www.rfc-editor.org/rfc/rfc3339',
  serialize: readInstant,
  parseValue: readInstant,
  parseLiteral: (node) => readInstant(node.kind === Kind.STRING ? node.value : undefined),
});
