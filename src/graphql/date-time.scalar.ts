import { GraphQLError, GraphQLScalarType, Kind } from 'graphql';
import type { Instant } from '../domain/note.js';

const RFC_3339 =
  /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;
const UTC_INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const EXPECTED = 'Expected an RFC 3339 instant with offset, such as 2026-01-31T09:30:00Z, for DateTime';

function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
}

/**
 * Reads an RFC 3339 instant and gives it back in UTC with milliseconds (further digits are cut off). Strict where
 * `Date.parse` is lenient: the offset is required, 30 February and leap seconds are refused, and so is an instant whose
 * UTC year leaves 0000…9999, since stored instants are fixed width.
 *
 * @returns undefined where the text is no such instant.
 */
export function parseInstant(text: string): Instant | undefined {
  const match = RFC_3339.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number);
  const offsetHour = Number(match[9] ?? 0);
  const offsetMinute = Number(match[10] ?? 0);
  if (month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second, Number((match[7] ?? '').slice(0, 3).padEnd(3, '0')));
  const offsetMs = (offsetHour * 60 + offsetMinute) * 60_000 * (match[8] === '-' ? -1 : 1);
  const instant = new Date(date.getTime() - offsetMs).toISOString();
  return UTC_INSTANT.test(instant) ? instant : undefined;
}

function readInstant(value: unknown): Instant {
  const instant = typeof value === 'string' ? parseInstant(value) : undefined;
  if (instant === undefined) {
    const received = typeof value === 'string' ? `a string of length ${value.length}` : `a ${typeof value}`;
    throw new GraphQLError(`${EXPECTED}, received ${received}`);
  }
  return instant;
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
