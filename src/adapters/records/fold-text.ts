/**
 * Text with case taken away, for substring search: what differs only in case (in any script), composition or a Greek
 * final sigma folds to the same. Through upper case first, so that ß meets SS and ı meets I; i with a combining dot
 * (what İ becomes) meets i.
 */
export function foldText(text: string): string {
  return text
    .normalize('NFC')
    .toUpperCase()
    .toLowerCase()
    .replaceAll('ς', 'σ')
    .replaceAll('i\u0307', 'i')
    .normalize('NFC');
}

/** Stands between the fields of a note's folded text: in no stored text, so that no match spans two fields. */
const FIELD_SEPARATOR = '\u0000';

/** The one string that a note's text filter looks through. */
export function searchedText(note: { wrongAnswer: string; correction: string; lesson: string }): string {
  return [note.wrongAnswer, note.correction, note.lesson].map(foldText).join(FIELD_SEPARATOR);
}
