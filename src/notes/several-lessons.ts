import type { Finding } from '../domain/note.js';

/** A line that opens a list item. */
const ITEM = /^\s{0,8}(?:[-*•–]|\(?\d{1,2}[.)]|\(?[a-h]\))\s+\S/u;
/** Numbered rules within one line: "1. … 2. …" or "(a) … (b) …". */
const INLINE_NUMBERS = /(?:^|\s)\(?1[.)]\s[^\n]{8,}?\s\(?2[.)]\s\S|(?:^|\s)\(?a\)\s[^\n]{8,}?\s\(?b\)\s\S/u;
const SENTENCE_END = /[.!?。！？](?:\s|$)/gu;
/** A lesson is one rule; four sentences of one rule are already unusual. */
const MAX_SENTENCES = 4;

/**
 * Signs that a lesson holds several rules: list items, several paragraphs, more sentences than one rule needs. A finding,
 * not an error: it is a reviewer's call, but one injected line should say one thing. Linear.
 */
export function findSeveralLessons(lesson: string): readonly Finding[] {
  const lines = lesson.split('\n').filter((line) => line.trim() !== '');
  const items = lines.filter((line) => ITEM.test(line)).length;
  const sentences = lesson.match(SENTENCE_END)?.length ?? 0;
  const several =
    items >= 2 || /\n\s*\n/u.test(lesson) || INLINE_NUMBERS.test(lesson) || sentences > MAX_SENTENCES;
  return several
    ? [
        {
          rule: 'validation.several-lessons',
          field: 'lesson',
          reason: 'Reads like several lessons; submit one a note, so that each is found on its own',
        },
      ]
    : [];
}
