/**
 * Letters of other scripts that look like Latin ones, for words that mix scripts ("ignоre" with a Cyrillic о). Only the
 * shapes that fonts draw alike; see Unicode Technical Standard 39 on confusables for the idea.
 */
const LOOK_ALIKES: ReadonlyMap<string, string> = new Map(
  'аa вb еe кk мm нh оo рp сc тt уy хx іi јj ѕs ԁd ԛq ԝw һh ӏl αa βb εe ιi κk νv οo ρp τt υu χx γy ωw'
    .split(' ')
    .map((pair) => [pair.charAt(0), pair.charAt(1)]),
);
const LATIN_WITH_MARKS = /(\p{Script=Latin})\p{Mn}+/gu;
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/gu;
/** Letters spaced out one by one ("i g n o r e"), at least five of them. */
const SPACED_LETTERS = /(?<![\p{L}\p{N}])\p{L}(?:[ .*_-]\p{L}){4,60}(?![\p{L}\p{N}])/gu;

/**
 * The form that injection rules are written for: compatibility forms unified, lower case, nothing invisible, accents off
 * Latin letters (Turkish dotless i is i), look-alikes in mixed-script words turned Latin, runs of white space one space. Line breaks are kept as
 * `\n`, since role rules need line starts. Only for matching, never stored. Linear.
 */
export function foldText(text: string): string {
  const plain = text
    .normalize('NFKC')
    .replace(INVISIBLE, '')
    .normalize('NFD')
    .replace(LATIN_WITH_MARKS, '$1')
    .normalize('NFC')
    .toLowerCase()
    .replaceAll('ı', 'i');
  return foldMixedWords(plain)
    .replace(/[^\S\n]+/gu, ' ')
    .replace(/ ?\n ?/gu, '\n')
    .replace(/[’‘`´]/gu, "'")
    .replace(/[“”„«»]/gu, '"')
    .trim();
}

/** The same with spaced-out letters joined; undefined where there are none. */
export function joinSpacedLetters(folded: string): string | undefined {
  const joined = folded.replace(SPACED_LETTERS, (run) => run.replace(/[ .*_-]/gu, ''));
  return joined === folded ? undefined : joined;
}

function foldMixedWords(text: string): string {
  if (!/[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(text)) {
    return text;
  }
  return text
    .split(/([^\p{L}\p{M}]+)/u)
    .map((word) =>
      /\p{Script=Latin}/u.test(word) && /[\p{Script=Cyrillic}\p{Script=Greek}]/u.test(word)
        ? [...word].map((character) => LOOK_ALIKES.get(character) ?? character).join('')
        : word,
    )
    .join('');
}
