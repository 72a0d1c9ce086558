import type { FeedbackNote, Finding } from '../domain/note.js';
import type { PreparedCorrection } from './prepare-correction.js';

/**
 * What the screen doubts about a correction of a stored note that it had not said of it before: texts are the same, so it is
 * about what else came with them. Pure.
 */
export function newDoubts(
  note: Pick<FeedbackNote, 'findings'>,
  { quarantined, findings }: Pick<PreparedCorrection, 'quarantined' | 'findings'>,
): readonly Finding[] {
  if (!quarantined) return [];
  return findings.filter(
    ({ rule, field }) =>
      rule.startsWith('injection.') &&
      !note.findings.some((known) => known.rule === rule && known.field === field),
  );
}
