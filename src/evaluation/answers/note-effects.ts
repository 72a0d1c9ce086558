import type { AnswerPair } from './checker-records.js';

/** What a note had to do with changed answers. */
export interface NoteEffect {
  readonly noteId: string;
  /** Cases whose prompt held it. */
  readonly injected: number;
  /** Changed answers that it alone can have changed: the only note, or the one without which the old answer came back. */
  readonly fixed: readonly string[];
  readonly broken: readonly string[];
  /** Changed answers with several notes that were not told apart. */
  readonly shared: readonly string[];
}

/**
 * Which note changed which answer. A changed answer is put down to a note where it was the only one in the prompt, or where leaving it out
 * (`without`) brings the old answer back; where that holds for several notes each of them was needed. The most harmful first.
 */
export function noteEffects(pairs: readonly AnswerPair[]): readonly NoteEffect[] {
  const effects = new Map<
    string,
    { injected: number; fixed: string[]; broken: string[]; shared: string[] }
  >();
  for (const pair of pairs) {
    const decisive = decisiveNotes(pair);
    for (const noteId of new Set(pair.notes)) {
      const effect = effects.get(noteId) ?? { injected: 0, fixed: [], broken: [], shared: [] };
      effects.set(noteId, effect);
      effect.injected += 1;
      if (pair.before === pair.after) continue;
      if (decisive === undefined) effect.shared.push(pair.id);
      else if (decisive.includes(noteId))
        (pair.after === pair.truth ? effect.fixed : effect.broken).push(pair.id);
    }
  }
  return [...effects]
    .map(([noteId, effect]) => ({ noteId, ...effect }))
    .sort(
      (a, b) =>
        b.broken.length - a.broken.length ||
        b.fixed.length - a.fixed.length ||
        b.injected - a.injected ||
        (a.noteId < b.noteId ? -1 : 1),
    );
}

/** Undefined where it cannot be told. */
function decisiveNotes({ notes, without, before }: AnswerPair): readonly string[] | undefined {
  if (notes.length === 1) return notes;
  const tried = notes.filter((noteId) => without[noteId] != null);
  const decisive = tried.filter((noteId) => without[noteId] === before);
  if (decisive.length > 0) return decisive;
  // All left out one by one and none was needed alone: together they were.
  return undefined;
}
