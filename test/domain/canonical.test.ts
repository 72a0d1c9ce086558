import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalBlock, canonicalLine, withoutControls } from '../../src/domain/canonical.js';
import { noteId } from '../../src/domain/content-hash.js';

/** Text rich in what canonicalisation is about: any code point but surrogates, and plenty of white space and marks. */
const text = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 4 }),
      fc.constantFrom(
        ' ',
        '\t',
        '\n',
        '\r\n',
        '\u00a0',
        '\u2028',
        '\u200b',
        '\u202e',
        '\u0301',
        'e',
        'é',
        'ﬁ',
        '\u034f',
        '가',
        'ᄀ',
        'ᅡ',
        '\u{e0041}',
        '\u0085',
        '\u1680',
      ),
    ),
    { maxLength: 20 },
  )
  .map((parts) => parts.join(''));

describe('canonicalLine', () => {
  it('is idempotent, NFC, trimmed, one line, without runs or invisible characters', () => {
    fc.assert(
      fc.property(text, (raw) => {
        const once = canonicalLine(raw);
        expect(canonicalLine(once)).toBe(once);
        expect(once.normalize('NFC')).toBe(once);
        expect(once).not.toMatch(/^\s|\s$|\s\s|[\n\r\t\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/u);
      }),
      { numRuns: 2_000 },
    );
  });

  it('does not depend on line ends, composition or white space', () => {
    fc.assert(
      fc.property(text, (raw) => {
        const line = canonicalLine(raw);
        expect(canonicalLine(raw.replace(/(?<!\r)\n/gu, '\r\n'))).toBe(line);
        expect(canonicalLine(` \u00a0${raw.replaceAll(' ', '\t  ')}\n`)).toBe(line);
        expect(canonicalLine([...raw].join('\u200b'))).toBe(line);
      }),
    );
  });

  it.each([
    ['Café', 'Cafe\u0301'],
    ['a b', '  a\r\n\tb '],
    ['ab', 'a\u00ad\u200b\u2060\ufeff\u202e\u{e0061}b'],
    ['é', 'e\u034f\u0301'],
  ])('gives %j', (expected, raw) => expect(canonicalLine(raw)).toBe(expected));

  it('keeps case, scripts and compatibility forms', () => {
    for (const kept of ['Straße STRASSE', '日本語 العربية हिन्दी', 'ﬁ ½ Å', 'ŉ']) {
      expect(canonicalLine(kept)).toBe(kept.normalize('NFC'));
    }
  });
});

describe('canonicalBlock', () => {
  it('is idempotent and says the same as the line', () => {
    fc.assert(
      fc.property(text, (raw) => {
        const once = canonicalBlock(raw);
        expect(canonicalBlock(once)).toBe(once);
        expect(canonicalLine(once)).toBe(canonicalLine(withoutControls(raw)));
        expect(once).not.toMatch(/\r|(?!\p{White_Space})\p{Cc}/u);
      }),
      { numRuns: 2_000 },
    );
  });

  it('keeps lines and indentation', () => {
    expect(canonicalBlock('\r\nif x:\r\n    y  \r\n\r\nz\u0007\n')).toBe('if x:\n    y\n\nz');
  });
});

describe('noteId', () => {
  const fields = { namespace: 'n', taskType: 't', wrongAnswer: 'ab', correction: 'c', lesson: 'd' };

  it('is lower-case hex SHA-256 over length-prefixed fields', () => {
    expect(noteId(fields)).toBe('595bee15f78ec84a74673740a43b740251b7a6123681bb3abdd1d56ab307efa8');
  });

  it('changes when text moves from one field to the next', () => {
    expect(noteId({ ...fields, wrongAnswer: 'a', correction: 'bc' })).not.toBe(noteId(fields));
    expect(noteId({ ...fields, wrongAnswer: '2:ab', correction: '' })).not.toBe(noteId(fields));
  });

  it('does not change with white space or composition', () => {
    fc.assert(
      fc.property(text, (raw) => {
        const id = noteId({ ...fields, lesson: raw });
        expect(noteId({ ...fields, lesson: canonicalLine(raw) })).toBe(id);
        expect(noteId({ ...fields, lesson: ` ${raw.normalize('NFD')}\r\n` })).toBe(
          noteId({ ...fields, lesson: raw.normalize('NFD') }),
        );
      }),
    );
  });
});
