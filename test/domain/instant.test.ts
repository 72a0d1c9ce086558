import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseInstant } from '../../src/domain/instant.js';

describe('parseInstant', () => {
  it.each([
    ['2026-01-31T09:30:00Z', '2026-01-31T09:30:00.000Z'],
    ['2026-01-31t09:30:00.123456+02:00', '2026-01-31T07:30:00.123Z'],
    ['2024-02-29T23:59:59-00:30', '2024-03-01T00:29:59.000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ])('reads %s', (text, instant) => expect(parseInstant(text, 'at')).toBe(instant));

  it.each([
    '2026-01-31T09:30:00',
    '2026-01-31',
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-01T00:00:60Z',
    '2026-01-01 00:00:00Z',
    '0000-01-01T00:00:00+01:00',
    '',
    'now',
    1_700_000_000,
    new Date(),
    null,
    `2026-01-01T00:00:00.${'0'.repeat(100)}Z`,
  ])('refuses %s', (value) => {
    expect(() => parseInstant(value, 'at')).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT', details: { field: 'at' } }),
    );
  });

  it('agrees with Date on every instant', () => {
    fc.assert(
      fc.property(
        fc.date({
          min: new Date('0001-01-01T00:00:00Z'),
          max: new Date('9999-01-01T00:00:00Z'),
          noInvalidDate: true,
        }),
        (date) => {
          expect(parseInstant(date.toISOString(), 'at')).toBe(date.toISOString());
        },
      ),
    );
  });
});
