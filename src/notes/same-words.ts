/** Words that carry no statement of their own in the languages of the sample; everything else must be said by both. */
const FUNCTION_WORDS = new Set(
  `the a an of in on at to for from by with as is are be was were it its that which who this these those there has have had
   do does did will would shall should and or so then first also own their his her our your my
   der die das den dem des ein eine einen einem einer eines und oder ist sind wird werden zu zum zur im in am an auf von vom für mit als
   le la les l un une des du de d et ou est sont au aux en dans sur pour par que qui se s ce cette
   el los las una unos y o es son al del en por para con que se lo su
   os as um uma e é são ao aos à do da dos das em no na por com`.split(/\s+/u),
);
export const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/**
 * Whether two sentences are made of the same words but for function words and endings ("close the body", "bodies are closed").
 * It is what separates an automatic merge from a proposal: a word that only one of them has may turn the statement around
 * ("everybody", "nobody"), and no list of opposites is ever complete. Scripts without spaces must be equal but for
 * punctuation. O(words²), and lessons have few.
 */
export function sameWords(a: string, b: string): boolean {
  if (UNSPACED.test(a) || UNSPACED.test(b)) return lettersOf(a) === lettersOf(b);
  const [left, right] = [contentWords(a), contentWords(b)];
  const covered = (words: readonly string[], others: readonly string[]) =>
    words.every((word) => others.some((other) => sameStem(word, other)));
  return covered(left, right) && covered(right, left);
}

export function contentWords(text: string): readonly string[] {
  const words =
    text
      .normalize('NFC')
      .toLowerCase()
      .replace(/n['’]t\b/gu, ' not')
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return [...new Set(words.filter((word) => !FUNCTION_WORDS.has(word)))];
}

/** A common beginning that only leaves room for an ending: at least 3 letters, and at most 3 letters more on either side. */
export function sameStem(a: string, b: string): boolean {
  if (a === b) return true;
  let shared = 0;
  while (shared < a.length && shared < b.length && a[shared] === b[shared]) shared += 1;
  return (
    shared >= 3 && Math.max(a.length, b.length) - shared <= 3 && 2 * shared >= Math.max(a.length, b.length)
  );
}

function lettersOf(text: string): string {
  return (
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
  ).join('');
}
