import { extractIdentifiers } from '../domain/identifiers.js';
import type { FeedbackNote } from '../domain/note.js';
import { numbersOf } from './numerals.js';
import { polarityAgrees } from './polarity.js';

/**
 * How two texts that lie close by cosine relate: `same` may be merged; `opposite` turns the other around and wants a
 * reviewer; `different` speaks of another number, version, date or identifier, and is no duplicate at any cosine.
 */
export type Agreement = 'same' | 'opposite' | 'different';

type Comparable = Pick<FeedbackNote, 'lesson' | 'correction' | 'wrongAnswer'>;

/**
 * Compares lesson with lesson, correction with correction and wrong answer with wrong answer. Strict on purpose: a missed duplicate costs a line, a wrong
 * merge loses a correction. Pure; linear.
 */
export function agree(a: Comparable, b: Comparable): Agreement {
  const pairs = [
    [a.lesson, b.lesson],
    [a.correction, b.correction],
    [a.wrongAnswer, b.wrongAnswer],
  ] as const;
  if (pairs.some(([left, right]) => !sameFacts(left, right))) {
    return 'different';
  }
  return pairs.every(([left, right]) => polarityAgrees(left, right)) ? 'same' : 'opposite';
}

/**
 * Whether two lessons name facts that exclude each other: each has a number or an identifier that the other lacks. One that
 * says more than the other may still be the same lesson, for a reviewer to see. Linear.
 */
export function factsConflict(a: string, b: string): boolean {
  return (
    excludeEachOther(numbersOf(a), numbersOf(b)) ||
    excludeEachOther(new Set(identifiersBesides(a, b)), new Set(identifiersBesides(b, a)))
  );
}

function excludeEachOther(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return [...a].some((value) => !b.has(value)) && [...b].some((value) => !a.has(value));
}

/** Numbers and identifiers must be the same sets: order and repetition are style, and so is the hyphen in a plain word. */
function sameFacts(a: string, b: string): boolean {
  return sameSet(numbersOf(a), numbersOf(b)) && sameSet(identifiersBesides(a, b), identifiersBesides(b, a));
}

/**
 * Identifiers of a text without bare numbers, which `numbersOf` compares, and without the hyphenated words that the other
 * text has with spaces or in one ("money back").
 */
function identifiersBesides(text: string, other: string): readonly string[] {
  const words = ` ${other.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')} `;
  return extractIdentifiers(text).filter((identifier) => {
    if (/^\p{L}+(?:-\p{L}+)+$/u.test(identifier)) {
      const [spaced, joined] = [identifier.replaceAll('-', ' '), identifier.replaceAll('-', '')];
      return !words.includes(` ${spaced} `) && !words.includes(` ${joined} `);
    }
    return /\p{L}/u.test(identifier);
  });
}

function sameSet(a: Iterable<string>, b: Iterable<string>): boolean {
  const [left, right] = [new Set(a), new Set(b)];
  return left.size === right.size && [...left].every((value) => right.has(value));
}
