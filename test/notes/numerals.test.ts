import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { numbersOf } from '../../src/notes/numerals.js';

describe('numbersOf', () => {
  it('reads numerals, words and grouping', () => {
    expect([...numbersOf("Two of 1,000 or 1 000 000 or 12'000 since 2024-05-01, v1.2.3 (Six)")]).toEqual([
      '1000',
      '1000000',
      '12000',
      '2024-05-01',
      '1.2.3',
      '2',
      '6',
    ]);
    expect(numbersOf('constructor toString')).toEqual(new Set());
  });

  it('reads ASCII as it reads the same text beside another word', () => {
    const words = fc.constantFrom(
      'two',
      'SIX',
      '1',
      '12',
      '000',
      '345',
      ',',
      '.',
      "'",
      ' ',
      '-',
      ':',
      'x',
      '\n',
    );
    const text = fc.oneof(
      fc.array(words, { maxLength: 12 }).map((parts) => parts.join('')),
      fc.string({ unit: 'binary-ascii', maxLength: 60 }),
    );
    fc.assert(
      fc.property(text, (ascii) => {
        expect(numbersOf(ascii)).toEqual(numbersOf(`${ascii} ö`));
      }),
      { numRuns: 500 },
    );
  });
});
