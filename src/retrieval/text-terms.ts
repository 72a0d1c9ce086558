/** Letters, marks and digits of any script; identifiers such as `CVE-2023-20861` are looked at apart. */
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Scripts written without spaces: a run of them is one "word" to the pattern above, so it is cut into pairs. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
/** The same for ASCII, which most texts are, several times faster; the second for its lower case, without single characters. */
const ASCII_RUN = /[A-Za-z0-9]+/g;
const ASCII_WORD = /[a-z0-9]{2,}/g;
const ASCII = /^[\0-\x7f]*$/;

export interface TermSpan {
  readonly term: string;
  /** UTF-16 offsets into the text. */
  readonly start: number;
  readonly end: number;
}

/** Where each term of a text stands; the terms are those of `textTerms`, repeated as often as they occur. */
export function termSpans(text: string): readonly TermSpan[] {
  const spans: TermSpan[] = [];
  const ascii = ASCII.test(text);
  for (const match of text.matchAll(ascii ? ASCII_RUN : WORD)) {
    const [word] = match;
    const start = match.index;
    if (ascii) {
      spans.push({ term: word.toLowerCase(), start, end: start + word.length });
      continue;
    }
    if (!UNSPACED.test(word)) {
      spans.push({ term: word.normalize('NFKC').toLowerCase(), start, end: start + word.length });
      continue;
    }
    let at = start;
    const characters = [...word].map((character) => {
      const from = at;
      at += character.length;
      return { character, from, to: at };
    });
    characters.forEach(({ character, from, to }, index) => {
      const next = characters[index + 1];
      const pair = next === undefined ? character : `${character}${next.character}`;
      if (next !== undefined || characters.length === 1)
        spans.push({ term: pair.normalize('NFKC').toLowerCase(), start: from, end: next?.to ?? to });
    });
  }
  return spans;
}

/** Distinct lower-case terms of a text, in order of appearance: words of at least two characters, pairs of characters in unspaced scripts. */
export function textTerms(text: string): readonly string[] {
  if (ASCII.test(text)) return [...new Set(text.toLowerCase().match(ASCII_WORD))];
  const terms = new Set<string>();
  for (const [word] of text.normalize('NFKC').toLowerCase().matchAll(WORD)) {
    const characters = [...word];
    if (UNSPACED.test(word)) {
      for (let index = 0; index + 1 < characters.length; index += 1) {
        terms.add(`${characters[index]}${characters[index + 1]}`);
      }
      if (characters.length === 1) terms.add(word);
    } else if (characters.length > 1) {
      terms.add(word);
    }
  }
  return [...terms];
}
