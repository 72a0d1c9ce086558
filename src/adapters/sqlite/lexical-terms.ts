import { identifierSpellings, UNSPACED_SCRIPTS } from '../../domain/identifiers.js';

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** The same for folded ASCII, which most texts are, several times faster. */
const ASCII_WORD = /[a-z0-9]+/g;
const ASCII = /^[\0-\x7f]*$/;
const UNSPACED_RUN = new RegExp(
  `[${UNSPACED_SCRIPTS}\\p{M}]*[${UNSPACED_SCRIPTS}][${UNSPACED_SCRIPTS}\\p{M}]*`,
  'gu',
);
/** Latin, Greek and Cyrillic accents, Hebrew points, Arabic vowel signs: left out by many writers. */
const ACCENTS = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]/gu;
const CAMEL_BOUNDARY = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;
/** Longer tokens are keys and encoded bytes: their beginning tells them apart. */
const MAX_TERM_LENGTH = 64;

export interface LexicalTerms {
  /** Words, parts of identifiers, and pairs of characters of scripts without spaces. With repeats, in order. */
  readonly words: readonly string[];
  /** Whole identifiers, each once. */
  readonly identifiers: readonly string[];
}

/**
 * The terms of a text. The same function reads notes and queries, which is what makes them meet; `single` adds every
 * single character of a script without spaces, so that a note is found by one (queries only need it when they are one).
 */
export function lexicalTerms(text: string, single: boolean): LexicalTerms {
  const words = wordsOf(text, single);
  const identifiers = new Set<string>();
  for (const spelling of identifierSpellings(text)) {
    identifiers.add(cut(fold(spelling)));
    const parts = spelling.split(CAMEL_BOUNDARY);
    if (parts.length > 1) words.push(...parts.flatMap((part) => wordsOf(part, single)));
  }
  return { words, identifiers: [...identifiers] };
}

function wordsOf(text: string, single: boolean): string[] {
  if (ASCII.test(text)) return (text.toLowerCase().match(ASCII_WORD) ?? []).map(cut);
  return Array.from(fold(text).matchAll(WORD)).flatMap(([run]) => {
    const words: string[] = [];
    let end = 0;
    for (const unspaced of run.matchAll(UNSPACED_RUN)) {
      if (unspaced.index > end) words.push(cut(run.slice(end, unspaced.index)));
      words.push(...characterPairs(unspaced[0], single));
      end = unspaced.index + unspaced[0].length;
    }
    if (end < run.length) words.push(cut(run.slice(end)));
    return words;
  });
}

function characterPairs(run: string, single: boolean): string[] {
  const characters = Array.from(run);
  const pairs = characters.slice(1).map((character, i) => `${characters[i]}${character}`);
  return single || pairs.length === 0 ? [...characters, ...pairs] : pairs;
}

/** Without case, accents and compatibility forms. */
function fold(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const bare = text.normalize('NFKC').toLowerCase().normalize('NFD').replace(ACCENTS, '').normalize('NFC');
  return bare.replaceAll('ς', 'σ').replaceAll('ß', 'ss').replaceAll('ı', 'i');
}

const cut = (term: string): string => (term.length > MAX_TERM_LENGTH ? term.slice(0, MAX_TERM_LENGTH) : term);
