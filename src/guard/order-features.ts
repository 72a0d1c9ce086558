import { INTENTS, type IntentName } from './intents.js';

/** log2 of the number of hashed features: 2^15 and 2^16 caught three points less in cross-validation, 190,000 features being in use. */
export const FEATURE_BITS = 17;
const FEATURES = 1 << FEATURE_BITS;
/** FNV's offset basis, and the state behind the `c` that pieces begin with. */
const OFFSET = 2_166_136_261;
const PIECE = step(OFFSET, 'c'.charCodeAt(0));
/** Longer words are cut; more words of a sentence than this are not looked at for intents. */
const WORD_LENGTH = 24;
const SENTENCE_WORDS = 60;
/** How many intents back a pair may reach. */
const WINDOW = 4;

/** A text of fewer features than a short sentence has (two or three words) is too short to be sure about. */
const SHORT = 120;

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const JOINED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const TOKENS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]+|[\p{L}\p{M}\p{N}']+|[^\s\p{L}\p{N}]+/gu;
const WORDS = /[\p{L}\p{M}\p{N}']+/gu;
const SENTENCES = /[.!?;。！？]+|\n+/u;

const STEMS = stemTable();
const PARTS: readonly (readonly [string, IntentName])[] = entries().flatMap(([name, intent]) =>
  'parts' in intent ? intent.parts.split(' ').map((part) => [part.toLowerCase(), name] as const) : [],
);

/** What a text looks like to the classifier: hashed features, each once, and the intents that it speaks of. */
export interface OrderFeatures {
  readonly indices: readonly number[];
  readonly intents: readonly IntentName[];
}

/**
 * Features of a folded text: words, their pairs, pieces of 3 to 5 letters (1 to 4 characters where words are not spaced), and
 * per sentence the intents, their order and which stand together. Linear in the text for a bounded sentence. Pure.
 */
export function orderFeatures(folded: string): OrderFeatures {
  const found = new FeatureSet();
  addWords(folded, found);
  const add = (feature: string): void => found.add(hashed(feature));
  const intents = new Set<IntentName>();
  for (const sentence of folded.split(SENTENCES)) {
    for (const intent of addIntents(sentence, add)) intents.add(intent);
  }
  return { indices: found.indices, intents: [...intents] };
}

/** Which of all features were met, by the number of the text that met them last: nothing is cleared between texts. */
const lastMet = new Uint32Array(FEATURES);
let texts = 0;

/** Features of one text, each once, in the order met. Only one is filled at a time. */
class FeatureSet {
  readonly indices: number[] = [];
  readonly #text: number;

  constructor() {
    texts += 1;
    // Once in four thousand million texts.
    if (texts > 0xffff_ffff) {
      lastMet.fill(0);
      texts = 1;
    }
    this.#text = texts;
  }

  add(index: number): void {
    if (lastMet[index] === this.#text) return;
    lastMet[index] = this.#text;
    this.indices.push(index);
  }
}

/** What a feature counts: the same length of vector for long and short texts, less for very short ones. */
export function featureValue(features: number): number {
  return 1 / Math.sqrt(Math.max(SHORT, features));
}

function addWords(folded: string, found: FeatureSet): void {
  let [last, beforeLast] = ['^', '^'];
  for (const [word] of folded.matchAll(TOKENS)) {
    if (UNSPACED.test(word)) {
      for (let from = 0; from < word.length; from += 1) {
        for (let length = 1; length <= 4 && from + length <= word.length; length += 1)
          addPiece(word, from, length, found);
      }
    } else {
      found.add(hashed(`w${word}`));
      found.add(hashed(`b${last} ${word}`));
      found.add(hashed(`s${beforeLast}_${word}`));
      if (/\p{L}/u.test(word)) addPieces(`<${word.slice(0, WORD_LENGTH)}>`, found);
    }
    [beforeLast, last] = [last, word];
  }
}

/** No string is made for a piece: most features are pieces. */
function addPieces(word: string, found: FeatureSet): void {
  for (let length = 3; length <= 5; length += 1) {
    for (let from = 0; from + length <= word.length; from += 1) addPiece(word, from, length, found);
  }
}

/** `c` and the piece, hashed. */
function addPiece(word: string, from: number, length: number, found: FeatureSet): void {
  let state = PIECE;
  for (let at = from; at < from + length; at += 1) state = step(state, word.charCodeAt(at));
  found.add(mixed(state));
}

function addIntents(sentence: string, add: (feature: string) => void): ReadonlySet<IntentName> {
  const words = (sentence.match(WORDS) ?? []).slice(0, SENTENCE_WORDS);
  const sequence: IntentName[] = [];
  words.forEach((word, index) => {
    const intents = intentsOf(word.replace(/'.*/u, ''));
    if (index === 0 && intents.length === 0) add('first -');
    for (const intent of intents) {
      add(`intent ${intent}`);
      if (index === 0) add(`first ${intent}`);
      for (const earlier of sequence.slice(-WINDOW)) add(`then ${earlier} ${intent}`);
    }
    sequence.push(...intents);
  });
  if (JOINED.test(sentence)) {
    for (const [part, intent] of PARTS) {
      if (!sentence.includes(part)) continue;
      add(`intent ${intent}`);
      sequence.push(intent);
    }
  }
  if (words.length === 0) return new Set();
  const present = new Set(sequence);
  addTogether([...present].sort(), add);
  add(`many ${Math.min(6, present.size)}`);
  add(`dense ${Math.min(5, Math.floor((5 * sequence.length) / words.length))}`);
  if (/\d/u.test(sentence)) add('digit');
  return present;
}

function addTogether(intents: readonly IntentName[], add: (feature: string) => void): void {
  intents.forEach((a, i) => {
    intents.slice(i + 1).forEach((b, j) => {
      add(`with ${a} ${b}`);
      for (const c of intents.slice(i + j + 2)) add(`with ${a} ${b} ${c}`);
    });
  });
}

/** By the longest stem; short stems must be the whole word. */
function intentsOf(word: string): readonly IntentName[] {
  for (let length = word.length; length >= Math.max(2, word.length - 6); length -= 1) {
    const found = length === word.length || length >= 4 ? STEMS.get(word.slice(0, length)) : undefined;
    if (found !== undefined) return found;
  }
  return [];
}

function stemTable(): ReadonlyMap<string, readonly IntentName[]> {
  const table = new Map<string, IntentName[]>();
  for (const [name, { stems }] of entries()) {
    for (const stem of stems.split(/\s+/u)) {
      const held = table.get(stem);
      if (held === undefined) table.set(stem, [name]);
      else if (!held.includes(name)) held.push(name);
    }
  }
  return table;
}

function entries(): readonly (readonly [IntentName, (typeof INTENTS)[IntentName]])[] {
  return Object.entries(INTENTS) as [IntentName, (typeof INTENTS)[IntentName]][];
}

/** FNV-1a over UTF-16 units with a final mix, so that the low bits are good ones. */
function hashed(text: string): number {
  let state = OFFSET;
  for (let index = 0; index < text.length; index += 1) state = step(state, text.charCodeAt(index));
  return mixed(state);
}

function step(state: number, unit: number): number {
  return Math.imul(state ^ unit, 16_777_619);
}

function mixed(state: number): number {
  const once = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d);
  return (once ^ (once >>> 12)) & (FEATURES - 1);
}
