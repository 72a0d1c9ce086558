/**
 * The canonical form of text: what is hashed, and what stored text is made of.
 *
 * Order matters for idempotence: ignorable characters go first, because one of them can keep two characters from
 * composing; NFC comes last, since it never makes a white space or ignorable character out of something else.
 */

/** Zero-width, soft hyphen, variation selectors, tag characters, fillers …; and everything that steers bidi order. */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/gu;
const WHITE_SPACE_RUN = /\p{White_Space}+/gu;
/** C0 and C1 without tab, line feed, vertical tab, form feed, carriage return and NEL, which are white space. */
const CONTROL = /(?!\p{White_Space})\p{Cc}/gu;
/** LF, CRLF, CR, vertical tab, form feed, NEL, line and paragraph separator. */
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/gu;

/**
 * One line: NFC, every run of white space (line breaks included) one space, trimmed, default-ignorable and bidi control
 * characters removed. Case and every script are kept. Idempotent. O(length).
 */
export function canonicalLine(text: string): string {
  return text.replace(INVISIBLE, '').replace(WHITE_SPACE_RUN, ' ').trim().normalize('NFC');
}

/**
 * Text that keeps its lines and indentation: NFC, LF line ends, control, default-ignorable and bidi control characters
 * removed, no trailing spaces, no blank lines at either end. Idempotent, and
 * `canonicalLine(canonicalBlock(text)) === canonicalLine(text without control characters)`.
 */
export function canonicalBlock(text: string): string {
  return withoutControls(text)
    .replace(INVISIBLE, '')
    .replace(LINE_BREAK, '\n')
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
    .replace(/^\n+|\n+$/gu, '')
    .normalize('NFC');
}

/** Drops control characters that are not white space: they have no business in a note and break terminals and logs. */
export function withoutControls(text: string): string {
  return text.replace(CONTROL, '');
}
