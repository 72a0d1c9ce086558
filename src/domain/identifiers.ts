/** Runs of characters that occur in identifiers, versions and paths. */
const TOKEN = /[\p{L}\p{N}][\p{L}\p{N}._\-/:#$@]*/gu;
const TRAILING_PUNCTUATION = /[._\-/:#$@]+$/u;
const DIGIT = /\p{N}/u;
const JOINED = /[\p{L}\p{N}][._\-/:#$@][\p{L}\p{N}]/u;
const CAMEL_CASE = /\p{Ll}\p{Lu}/u;

/**
 * Distinct identifiers of a text, lower case, in order of appearance: tokens with a digit (`CVE-2023-20861`, `S2068`), an
 * inner dot, dash, underscore or slash (`io.netty`, `log4j-core`, `parse_url`), CamelCase, or followed by `()`.
 */
export function extractIdentifiers(text: string): string[] {
  const found = new Set<string>();
  for (const match of text.normalize('NFC').matchAll(TOKEN)) {
    const token = match[0].replace(TRAILING_PUNCTUATION, '');
    const isCall = text.startsWith('()', match.index + match[0].length);
    if (token !== '' && (DIGIT.test(token) || JOINED.test(token) || CAMEL_CASE.test(token) || isCall)) {
      found.add(token.toLowerCase());
    }
  }
  return [...found];
}
