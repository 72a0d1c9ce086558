/** Letters, marks and digits of any script; identifiers such as `CVE-2023-20861` are looked at apart. */
const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/** Scripts written without spaces: a run of them is one "word" to the pattern above, so it is cut into pairs. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** Distinct lower-case terms of a text, in order of appearance: words of at least two characters, pairs of characters in unspaced scripts. */
export function textTerms(text: string): readonly string[] {
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
