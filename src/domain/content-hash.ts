import { createHash } from 'node:crypto';
import { canonicalLine } from './canonical.js';
import type { FeedbackNote, NoteId } from './note.js';

/** The fields that make a note what it is. Secrets must have been redacted: the hash of a short secret can be guessed. */
export type NoteContent = Pick<
  FeedbackNote,
  'namespace' | 'taskType' | 'wrongAnswer' | 'correction' | 'lesson'
>;

/**
 * Lower-case hex SHA-256 over the canonical fields in a fixed order, each as `{UTF-8 byte length}:{bytes}` (a netstring
 * without its comma), so that text moved from one field to the next gives another id. Pure; O(length).
 */
export function noteId(content: NoteContent): NoteId {
  const hash = createHash('sha256');
  for (const field of [
    content.namespace,
    content.taskType,
    content.wrongAnswer,
    content.correction,
    content.lesson,
  ]) {
    const bytes = Buffer.from(canonicalLine(field), 'utf8');
    hash.update(`${bytes.byteLength}:`).update(bytes);
  }
  return hash.digest('hex');
}

const NOTE_ID = /^[0-9a-f]{64}$/u;

/** Whether a value has the form of a note id. */
export function isNoteId(value: unknown): value is NoteId {
  return typeof value === 'string' && NOTE_ID.test(value);
}
