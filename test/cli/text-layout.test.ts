import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { displayWidth, printable, table, truncate, wrap } from '../../src/cli/text-layout.js';

describe('displayWidth', () => {
  it.each([
    ['abc', 3],
    ['日本語', 6],
    ['e\u0301', 1],
    ['한글', 4],
    ['👍', 2],
    ['', 0],
  ])('%s takes %i columns', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });
});

describe('wrap', () => {
  it('loses nothing but white space, and no line is wider than asked', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 12, max: 80 }), (text, width) => {
        const clean = printable(text);
        const lines = wrap(clean, width, '  ');
        expect(lines.join('').replace(/\s/gu, '')).toBe(clean.replace(/\s/gu, ''));
        for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(width);
      }),
    );
  });

  it('breaks between words', () => {
    expect(wrap('one two three four', 12, '  ')).toEqual(['  one two', '  three four']);
  });
});

describe('printable', () => {
  it('takes away what could drive a terminal or reorder the line', () => {
    const hostile = '\u001b]0;title\u0007\u001b[2Jred\u202etxt\r\nnext\u009b31m';
    const shown = printable(hostile);
    expect(shown).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
    expect(shown).toContain('red');
    expect(shown).toContain('next');
  });
});

describe('table', () => {
  it('keeps columns apart and within the width', () => {
    const lines = table(
      ['name', 'text'],
      [
        ['a', 'x'.repeat(100)],
        ['日本', 'y'],
      ],
      40,
    );
    expect(lines[0]).toBe('name  text');
    expect(lines[2]).toBe('日本  y');
    for (const line of lines) expect(displayWidth(line)).toBeLessThanOrEqual(40);
    expect(lines[1]?.endsWith('…')).toBe(true);
  });
});

describe('truncate', () => {
  it('never splits a surrogate pair', () => {
    expect(truncate('👍👍👍', 4)).toBe('👍…');
  });
});
