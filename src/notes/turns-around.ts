import {
  JAPANESE_NEGATION,
  NEGATIONS,
  OPPOSITE_OF,
  reordersWords,
  swapsContrast,
  wordsOf,
} from './polarity.js';
import { contentWords, sameStem, UNSPACED } from './same-words.js';

const CLAUSE_END = /[.;:,!?。、；：！？]+(?=\s|$|[^\d\s])/u;

/**
 * Whether one of two sentences about the same turns the other around, for texts that share most words (`sharedWords`). Looser
 * than `polarityAgrees`, which guards merges: "not allowed" and "forbidden" say the same here, and another order of words
 * is a reversal only around a word such as "before". Texts of as many clauses are compared clause by clause. Linear.
 */
export function turnsAround(a: string, b: string): boolean {
  const [left, right] = [clausesOf(a), clausesOf(b)];
  const turned =
    left.length === right.length
      ? left.some((clause, index) => differs(clause, right[index] ?? '', left.length === 1))
      : differs(a, b, false);
  return turned || swapsContrast(a, b) || (reordersWords(a, b) && wordsOf(a).some(isDirection));
}

/** Share of the words of two texts that both have, of the longer one; what turns a sense around is left out. 0 to 1. O(words²). */
export function sharedWords(a: string, b: string): number {
  const [left, right] =
    UNSPACED.test(a) || UNSPACED.test(b) ? [pairsOf(a), pairsOf(b)] : [subjectWords(a), subjectWords(b)];
  if (left.length === 0 || right.length === 0) return 0;
  const covered = (words: readonly string[], others: readonly string[]): number =>
    words.filter((word) => others.some((other) => sameStem(word, other))).length;
  return Math.min(covered(left, right), covered(right, left)) / Math.max(left.length, right.length);
}

/**
 * Whether negations that only one clause has, or words whose opposite the other has, change its sense. With `cancels` one of each
 * gives the sense back ("not allowed", "forbidden"); two negations against none do not: a reviewer is asked.
 */
function differs(a: string, b: string, cancels: boolean): boolean {
  const [left, right] = [signsOf(a), signsOf(b)];
  let [opposed, negations] = [0, left.negations - right.negations];
  for (const pair of new Set([...left.signs.keys(), ...right.signs.keys()])) {
    const [one, other] = [left.signs.get(pair), right.signs.get(pair)];
    if (one !== undefined && other !== undefined) opposed += one.sign === other.sign ? 0 : 1;
    // "never" beside no "always" is a negation like any other.
    else negations += (one?.negates === true ? 1 : 0) - (other?.negates === true ? 1 : 0);
  }
  const negated = Math.abs(negations);
  return cancels && opposed > 0 ? (opposed + negated) % 2 === 1 : opposed + negated > 0;
}

interface Signs {
  /** Of words that have no opposite of their own. */
  readonly negations: number;
  readonly signs: ReadonlyMap<number, { readonly sign: 1 | -1; readonly negates: boolean }>;
}

function signsOf(clause: string): Signs {
  let negations = clause.match(JAPANESE_NEGATION)?.length ?? 0;
  const signs = new Map<number, { readonly sign: 1 | -1; readonly negates: boolean }>();
  for (const word of wordsOf(clause)) {
    const opposite = OPPOSITE_OF.get(word);
    if (opposite !== undefined) {
      signs.set(opposite.pair, { sign: opposite.sign, negates: NEGATIONS.has(word) });
    } else if (NEGATIONS.has(word)) negations += 1;
  }
  return { negations, signs };
}

function isDirection(word: string): boolean {
  return OPPOSITE_OF.has(word) && !NEGATIONS.has(word);
}

function clausesOf(text: string): readonly string[] {
  return text.split(CLAUSE_END).filter((clause) => /[\p{L}\p{N}]/u.test(clause));
}

function subjectWords(text: string): readonly string[] {
  return contentWords(text).filter((word) => !NEGATIONS.has(word) && !OPPOSITE_OF.has(word));
}

/** Neighbouring letters of scripts without spaces. */
function pairsOf(text: string): readonly string[] {
  const letters = text.replace(JAPANESE_NEGATION, '').match(/[\p{L}\p{M}\p{N}]/gu) ?? [];
  return [...new Set(letters.slice(1).map((letter, index) => `${letters[index]}${letter}`))];
}
