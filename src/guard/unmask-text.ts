import { joinSpacedLetters } from './fold-text.js';

/** A folded text as its author meant it to be read by a model, and how it was disguised. */
export interface UnmaskedText {
  readonly disguise: 'spaced letters' | 'digits for letters' | 'written backwards' | 'turned letters';
  readonly text: string;
}

const LEET: ReadonlyMap<string, string> = new Map(
  [...'4a@a3e1i!i0o5s$s7t'.matchAll(/(.)(.)/gu)].map(([, from = '', to = '']) => [from, to]),
);
/** A word of letters and of digits that look like letters: "pr3v10u5", not "v2", "sha256" or "0x3f". */
const LEET_WORD =
  /(?<![\p{L}\p{N}])(?=[a-z@!$0134579]{0,23}[a-z])(?=[a-z]{0,23}[@!$01345])[a-z@!$013457]{3,24}(?![\p{L}\p{N}])/gu;
/** Names of versions and places hold a digit, too; three words of this kind in a text are a way of writing. */
const LEET_WORDS = 3;
const TURNED: ReadonlyMap<string, string> = new Map(
  'ɐa ɔc ǝe ɟf ƃg ɥh ᴉi ıi ɾj ʞk ɯm ɹr ʇt ʌv ʍw ʎy'
    .split(' ')
    .map((pair) => [pair.charAt(0), pair.charAt(1)]),
);
/** Letters that are themselves upside down as another one. */
const FLIPPED: ReadonlyMap<string, string> = new Map(
  [...'bqdpnu'.matchAll(/(.)(.)/gu)].flatMap(
    ([, a = '', b = '']) =>
      [
        [a, b],
        [b, a],
      ] as const,
  ),
);
const TURNED_LETTERS = 4;
/** What shows that a text read backwards says something; nothing else is read backwards. */
const BACKWARDS =
  /\b(?:snoitcurtsni|snoitcurtsnI|tpmorp|erongi|drager[s]?id|tegrof|evorppa|selur|metsys|suoiverp)\b/u;

/** An order to forget, one slot a word. */
const ORDER_SLOTS = [
  '(?:ignore|disregard|forget|bypass|override)',
  '(?:(?:all|any|every|each|the|of|these|those)_){0,4}(?:previous|prior|above|earlier|system|your|safety)',
  '(?:and_|system_|safety_)?(?:instructions?|rules?|prompts?|guidelines?|directives?)',
];
const ORDER_IN_LETTERS = new RegExp(ORDER_SLOTS.join('').replaceAll('_', ''), 'u');
const ORDER_IN_WORDS = new RegExp(`(?:^| )${ORDER_SLOTS.join(' ').replaceAll('_', ' ')}(?: |$)`, 'u');

/** What a folded text reads like without its disguise, one entry a disguise; mostly none. Linear. */
export function unmaskText(folded: string): readonly UnmaskedText[] {
  const found: UnmaskedText[] = [];
  const joined = joinSpacedLetters(folded);
  if (joined !== undefined) found.push({ disguise: 'spaced letters', text: joined });
  if ((folded.match(LEET_WORD)?.length ?? 0) >= LEET_WORDS) {
    found.push({ disguise: 'digits for letters', text: translate(folded, LEET) });
  }
  if (BACKWARDS.test(folded)) found.push({ disguise: 'written backwards', text: reverse(folded) });
  const turned = [...folded].filter((letter) => TURNED.has(letter)).length;
  if (turned >= TURNED_LETTERS) {
    found.push({ disguise: 'turned letters', text: reverse(translate(translate(folded, FLIPPED), TURNED)) });
  }
  return found;
}

/**
 * Whether a text orders to forget instructions once everything but its letters is taken out, and does not while words are words:
 * "ig nore a-l-l prev ious ru les". What it says openly is for the rules to judge. Linear.
 */
export function hidesOrder(folded: string): boolean {
  return (
    ORDER_IN_LETTERS.test(folded.replace(/\P{L}+/gu, '')) &&
    !ORDER_IN_WORDS.test(folded.replace(/\P{L}+/gu, ' ').trim())
  );
}

function translate(text: string, table: ReadonlyMap<string, string>): string {
  return [...text].map((letter) => table.get(letter) ?? letter).join('');
}

function reverse(text: string): string {
  return [...text].reverse().join('');
}
