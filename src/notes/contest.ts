import type { Caller } from '../domain/api-key.js';
import type { FeedbackNote, NoteId } from '../domain/note.js';
import { changeNote } from './change-note.js';
import type { WriteContext } from './note-deps.js';

interface Contest {
  readonly caller: Caller;
  readonly namespace: string;
  readonly older: NoteId;
  readonly newer: NoteId;
}

/**
 * Notes down at the older of two contradicting notes that there is a newer one, so that answers can say so. Deciding between
 * them is a reviewer's word: REPLACE links them as `supersedes`.
 */
export async function markContested(
  context: WriteContext,
  { caller, namespace, older, newer }: Contest,
): Promise<FeedbackNote> {
  return changeNote(context, {
    caller,
    namespace,
    id: older,
    change: (before) =>
      before.status !== 'ACTIVE' || before.contestedBy === newer
        ? undefined
        : { set: { contestedBy: newer }, action: 'contested' },
  });
}

/** Takes the mark off again: the newer note was refused, merged, or both may stand. */
export async function endContest(
  context: WriteContext,
  { caller, namespace, older, newer }: Contest,
): Promise<void> {
  const held: FeedbackNote | undefined = await context.store.notes.get(namespace, older);
  if (held?.contestedBy !== newer) return;
  await changeNote(context, {
    caller,
    namespace,
    id: older,
    change: (before) =>
      before.contestedBy === newer ? { set: { contestedBy: undefined }, action: 'uncontested' } : undefined,
  });
}
