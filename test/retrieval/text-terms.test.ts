import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { termSpans, textTerms } from '../../src/retrieval/text-terms.js';

describe('textTerms', () => {
  it('gives words of at least two characters, once, in order, in lower case', () => {
    expect(textTerms('A Retry-loop, a RETRY; parse_url(x) 42 7')).toEqual([
      'retry',
      'loop',
      'parse',
      'url',
      '42',
    ]);
    expect(textTerms('')).toEqual([]);
    expect(textTerms('Straße, Größe')).toEqual(['straße', 'größe']);
  });

  it('cuts scripts without spaces into pairs', () => {
    expect(textTerms('日本語 a字')).toEqual(['日本', '本語', 'a字']);
  });

  it('reads ASCII as it reads the same text beside another word', () => {
    const ascii = fc.string({ unit: 'binary-ascii', maxLength: 80 });
    fc.assert(
      fc.property(ascii, (text) => {
        expect([...textTerms(text), 'größe']).toEqual(textTerms(`${text} größe`));
        const end = { term: 'größe', start: text.length + 1, end: text.length + 6 };
        expect([...termSpans(text), end]).toEqual(termSpans(`${text} größe`));
      }),
    );
  });
});
