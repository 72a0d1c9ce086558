import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { extractIdentifiers } from '../../src/domain/identifiers.js';
import { leastCpuMs } from '../cpu-time.js';

describe('extractIdentifiers', () => {
  it.each([
    ['The netty advisory CVE-2023-20861.', ['cve-2023-20861']],
    ['Call parse_url() or strcpy(buffer, x), not open (', ['parse_url', 'strcpy']],
    ['io.netty:netty-codec 4.1.100, log4j-core', ['io.netty', 'netty-codec', '4.1.100', 'log4j-core']],
    ['Rule S2068 in HttpClientBuilder and parseUrl', ['s2068', 'httpclientbuilder', 'parseurl']],
    ['std::move keeps $scope; file(s) and class(es) do not count', ['std::move', '$scope']],
    ['Plain words, with. Punctuation - and dashes', []],
    ['(well-known), "e.g." …twice well-known', ['well-known', 'e.g']],
    ['使用parse_url函数时CVE-2021-44228很重要', ['parse_url', 'cve-2021-44228']],
    ['pasted CVE–2023–20861 and ＣＶＥ－２０２３－１', ['cve-2023-20861', 'cve-2023-1']],
    ['NPE is a word, GmbH and x509 are not', ['gmbh', 'x509']],
    ['', []],
  ])('reads %j', (text, expected) => {
    expect(extractIdentifiers(text)).toEqual(expected);
  });

  it('gives each identifier once, in lower case, without punctuation around it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => {
        const found = extractIdentifiers(text);
        expect(new Set(found).size).toBe(found.length);
        for (const identifier of found) {
          expect(identifier).toBe(identifier.toLowerCase());
          expect(identifier).not.toMatch(/^[.:-]|[.:-]$|\s/u);
        }
      }),
    );
  });

  it('finds what stands between other words', () => {
    const identifiers = fc.stringMatching(/^[a-z]{1,8}[-._][a-z0-9]{1,8}$/);
    fc.assert(
      fc.property(identifiers, (identifier) => {
        expect(extractIdentifiers(`Use ${identifier.toUpperCase()}, please.`)).toEqual([identifier]);
      }),
    );
  });

  it('takes time in proportion to the text', () => {
    const text = 'a.'.repeat(200_000) + '-'.repeat(200_000) + 'a'.repeat(200_000);
    // Backtracking over half a million characters would take minutes, not a second.
    expect(leastCpuMs(() => extractIdentifiers(text), 2)).toBeLessThan(5_000);
  });
});
