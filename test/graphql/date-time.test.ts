import fc from 'fast-check';
import { parseValue } from 'graphql';
import { describe, expect, it } from 'vitest';
import { DateTimeScalar } from '../../src/graphql/date-time.scalar.js';

describe('DateTime', () => {
  it.each([
    ['2026-01-31T10:30:00+01:00', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T09:30:00Z', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31t09:30:00z', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31T09:30:00.1Z', '2026-01-31T09:30:00.100Z'],
    ['2026-01-31T09:30:00.123999999Z', '2026-01-31T09:30:00.123Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
    ['2000-02-29T23:59:59-00:00', '2000-02-29T23:59:59.000Z'],
    ['0099-12-31T23:59:59Z', '0099-12-31T23:59:59.000Z'],
    ['2025-12-31T23:30:00-05:45', '2026-01-01T05:15:00.000Z'],
  ])('reads %s as %s', (text, instant) => {
    expect(DateTimeScalar.parseValue(text)).toBe(instant);
  });

  it.each([
    '',
    '2026-01-31',
    '2026-01-31T09:30:00',
    '2026-01-31 09:30:00Z',
    '2026-01-31T09:30Z',
    '2026-02-29T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-13-10T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T23:60:00Z',
    '2026-12-31T23:59:60Z',
    '2026-01-31T09:30:00+24:00',
    '2026-01-31T09:30:00+01:60',
    '2026-01-31T09:30:00+0100',
    '2026-01-31T09:30:00.Z',
    '2026-01-31T09:30:00.1234567890Z',
    ' 2026-01-31T09:30:00Z',
    '2026-01-31T09:30:00Z\n',
    '+002026-01-31T09:30:00Z',
    '٢٠٢٦-01-31T09:30:00Z',
    '0000-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
  ])('refuses %j', (text) => {
    expect(() => DateTimeScalar.parseValue(text)).toThrow(/Expected an RFC 3339 instant/);
  });

  it('agrees with Date on every valid instant and offset', () => {
    fc.assert(
      fc.property(
        fc.date({
          min: new Date('0001-01-02T00:00:00Z'),
          max: new Date('9998-12-30T00:00:00Z'),
          noInvalidDate: true,
        }),
        fc.integer({ min: -1_439, max: 1_439 }),
        (date, offsetMinutes) => {
          const local = new Date(date.getTime() + offsetMinutes * 60_000).toISOString().slice(0, -1);
          const minutes = Math.abs(offsetMinutes);
          const offset = `${offsetMinutes < 0 ? '-' : '+'}${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
          expect(DateTimeScalar.parseValue(`${local}${offset}`)).toBe(date.toISOString());
        },
      ),
    );
  });

  it('accepts text literals only, and shows stored instants as they are', () => {
    expect(DateTimeScalar.parseLiteral(parseValue('"2026-01-31T10:30:00+01:00"'), {})).toBe(
      '2026-01-31T09:30:00.000Z',
    );
    expect(() => DateTimeScalar.parseLiteral(parseValue('1769852200'), {})).toThrow(
      /Expected an RFC 3339 instant/,
    );
    expect(() => DateTimeScalar.parseValue(1_769_852_200)).toThrow(/received a number/);
    expect(DateTimeScalar.serialize('2026-01-31T09:30:00.000Z')).toBe('2026-01-31T09:30:00.000Z');
    expect(() => DateTimeScalar.serialize('nonsense')).toThrow();
  });
});
