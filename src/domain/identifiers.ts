/**
 * Scripts that are written without spaces between words: Chinese, Japanese and the scripts of mainland Southeast Asia.
 * Hangul is among them because its words carry their particles with them.
 */
export const UNSPACED_SCRIPTS =
  '\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Hang}\\p{sc=Bopo}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}\\p{sc=Mymr}';

/** Letters and digits joined by dots, dashes, colons (`std::move`); then a call's opening parenthesis, if there is one. */
function candidates(letter: string): RegExp {
  return new RegExp(`${letter}+(?:(?:[.-]|::)${letter}+)*(?<call>\\((?!e?s\\)))?`, 'gu');
}

const CANDIDATE = candidates(`(?:(?![${UNSPACED_SCRIPTS}])[\\p{L}\\p{M}\\p{N}_$])`);
/** The same for most texts, several times faster. */
const ASCII_CANDIDATE = candidates('[A-Za-z0-9_$]');
const ASCII = /^[\0-\x7f]*$/;
const HAS_MARK = /[\p{N}._$:-]/u;
/** Lower before upper (`parseUrl`), or one capitalised word after another (`HttpClient`). */
const CAMEL_CASE = /\p{Ll}\p{Lu}/u;
/** Dashes that text processors put in place of the one on the keyboard. */
const DASHES = /[\u2010-\u2015\u2212]/gu;

/** Text as identifiers are read from it: compatibility forms, odd dashes and invisible soft hyphens made plain. */
function plain(text: string): string {
  return text.normalize('NFKC').replace(DASHES, '-').replaceAll('\u00ad', '');
}

/** Identifiers as they are written, each once, in order of appearance: for splitting into parts. Time grows with the text. */
export function identifierSpellings(text: string): string[] {
  const found = new Set<string>();
  const matches = ASCII.test(text) ? text.matchAll(ASCII_CANDIDATE) : plain(text).matchAll(CANDIDATE);
  for (const match of matches) {
    const isCall = match.groups?.call !== undefined;
    const whole = isCall ? match[0].slice(0, -1) : match[0];
    if (isCall || HAS_MARK.test(whole) || CAMEL_CASE.test(whole)) found.add(whole);
  }
  return [...found];
}

/**
 * What must be found and compared as a whole rather than by meaning: tokens with a digit, dot, dash, underscore or colons
 * between their letters, in CamelCase, or called like a function. Lower case, without surrounding punctuation, each once,
 * in order: `CVE-2023-20861`, `parse_url(`, `io.netty`, `4.1.100` → `cve-2023-20861`, `parse_url`, `io.netty`, `4.1.100`.
 */
export function extractIdentifiers(text: string): string[] {
  return [...new Set(identifierSpellings(text).map((spelling) => spelling.toLowerCase()))];
}
