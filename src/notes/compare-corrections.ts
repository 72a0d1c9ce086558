import type { FeedbackNote } from '../domain/note.js';
import { factsConflict } from './agree.js';
import { polarityAgrees } from './polarity.js';
import { sharedWords, turnsAround } from './turns-around.js';

type Corrected = Pick<FeedbackNote, 'correction' | 'wrongAnswer'>;

/**
 * Share of their words that two texts have in common before their senses are compared: below it they are about different things, and
 * one negation more says nothing. From the tuning half of `sample/guard/duplicates.jsonl`.
 */
const PARALLEL = 0.7;

/**
 * Whether two corrections say opposite things of one subject, for notes whose lessons lie close: they are one sentence that one of
 * them turns around, or what is right for one is what was wrong for the other. Corrections that name numbers or
 * identifiers that exclude each other, or whose wrong answers do, speak of two subjects. Pure; O(words²).
 */
export function correctionsOppose(a: Corrected, b: Corrected): boolean {
  if (factsConflict(a.correction, b.correction) || factsConflict(a.wrongAnswer, b.wrongAnswer)) return false;
  if (parallel(a.correction, b.correction) && turnsAround(a.correction, b.correction)) return true;
  return says(a.correction, b.wrongAnswer) && says(b.correction, a.wrongAnswer);
}

/** Whether a correction is the answer that was called wrong elsewhere. */
function says(correction: string, wrongAnswer: string): boolean {
  return parallel(correction, wrongAnswer) && polarityAgrees(correction, wrongAnswer);
}

function parallel(a: string, b: string): boolean {
  return sharedWords(a, b) >= PARALLEL;
}
