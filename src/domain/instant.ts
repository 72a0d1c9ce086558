import { ErrataError } from './errors.js';
import type { Instant } from './note.js';

/** RFC 3339 section 5.6 `date-time`; the offset is required, since a local time is not an instant. */
const RFC_3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?([Zz]|[+-](\d{2}):(\d{2}))$/u;

/**
 * Reads an RFC 3339 date-time with offset and gives it in UTC with milliseconds (finer digits are cut off).
 *
 * Errors: `INVALID_INPUT` for another type or form, an impossible date (February 30, hour 24, second 60), or a year that
 * leaves 0000…9999 in UTC.
 */
export function parseInstant(value: unknown, name: string): Instant {
  const refuse = (received: string): ErrataError =>
    new ErrataError(
      'INVALID_INPUT',
      `Expected an RFC 3339 date-time with offset for ${name}, received ${received}`,
      { details: { field: name } },
    );
  if (typeof value !== 'string') {
    throw refuse(value === null ? 'null' : typeof value);
  }
  const match = value.length <= 40 ? RFC_3339.exec(value) : null;
  if (match === null) {
    throw refuse(
      /^\d{4}-\d{2}-\d{2}T[\d:.]+$/u.test(value.slice(0, 40)) ? 'a time without offset' : 'other text',
    );
  }
  const part = (index: number): number => Number(match[index] ?? '0');
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  const offsetHour = part(9);
  const offsetMinute = part(10);
  if (hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59) {
    throw refuse('an impossible time');
  }
  const local = new Date(0);
  local.setUTCFullYear(year, month - 1, day);
  local.setUTCHours(hour, minute, second, Number((match[7] ?? '').padEnd(3, '0').slice(0, 3)));
  if (local.getUTCMonth() !== month - 1 || local.getUTCDate() !== day) {
    throw refuse('an impossible date');
  }
  const sign = match[8]?.startsWith('-') === true ? -1 : 1;
  const instant = new Date(local.getTime() - sign * (offsetHour * 60 + offsetMinute) * 60_000);
  const utcYear = instant.getUTCFullYear();
  if (utcYear < 0 || utcYear > 9999) {
    throw refuse('a year outside 0000 to 9999');
  }
  return instant.toISOString();
}
