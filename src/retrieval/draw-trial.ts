import type { NoteId } from '../domain/note.js';

export interface TrialDraw {
  readonly noteId: NoteId;
  readonly withheld: boolean;
}

/**
 * With a chance of twice `share`, picks one of an answer's notes at random and tosses a coin: so `share` of the answers go
 * without one of their notes, and as many are their controls. Undefined for all others, and always where `share` is 0.
 *
 * @param random gives numbers in [0, 1)
 */
export function drawTrial(
  noteIds: readonly NoteId[],
  share: number,
  random: () => number,
): TrialDraw | undefined {
  if (share <= 0 || noteIds.length === 0 || random() >= 2 * share) return undefined;
  const noteId = noteIds[Math.floor(random() * noteIds.length)];
  return noteId === undefined ? undefined : { noteId, withheld: random() < 0.5 };
}
