import type { FeedbackNote } from '../domain/note.js';
import { isWaiting } from '../domain/review.js';
import type { NoteChange } from './change-note.js';
import { candidateOf, findNearDuplicate, type NearDuplicate, type NewLesson } from './find-near-duplicate.js';
import type { WriteContext } from './note-deps.js';
import { neededApprovals, readReviewPolicy } from './review-policy.js';

/**
 * Looks again at what is live beside a waiting note that somebody is about to approve: what it was compared with when it was
 * submitted may have been waiting, too. `none` where its vectors are another model's. One index search.
 */
export async function nearOfWaiting(
  context: WriteContext,
  lesson: NewLesson | undefined,
): Promise<NearDuplicate> {
  if (lesson === undefined) return { kind: 'none' };
  await context.catchUp();
  return findNearDuplicate(context, lesson, []);
}

/** A stored note with its lesson's vector; undefined where that is another model's. */
export async function lessonOf(
  { store, embedder }: WriteContext,
  note: FeedbackNote,
): Promise<NewLesson | undefined> {
  const held = (await store.notes.getVectors(note.namespace, [note.id])).get(note.id);
  return held?.modelId === embedder.model.id ? { ...note, lessonVector: held.lesson } : undefined;
}

/**
 * The change that shows a reviewer what an approval would have put a note beside: a live one that says the same or the opposite, which
 * nobody has been shown yet. The note keeps waiting, approvals that were given without knowing count no more, and a reversal wants
 * what the policy asks of one. Undefined where nothing of that is new, or the note waits no more.
 */
export async function showBeside(
  { store }: WriteContext,
  note: FeedbackNote,
  near: NearDuplicate,
): Promise<NoteChange | undefined> {
  if (near.kind !== 'duplicate' && near.kind !== 'opposite') return undefined;
  const shown = note.mergeCandidate;
  // A pair that was shown while both waited is shown once more: one of them is live now.
  if (!isWaiting(note.status) || (shown?.noteId === near.noteId && shown.waiting !== true)) return undefined;
  const reverses = near.kind === 'opposite' ? near.impact : undefined;
  const need = neededApprovals(await readReviewPolicy(store, note.namespace), note, { reverses });
  const review = note.review && {
    ...note.review,
    required: Math.max(note.review.required, need.required),
    byOthers: note.review.byOthers || need.required >= 2,
    approvals: [],
  };
  return {
    set: { mergeCandidate: candidateOf(near), review },
    action: 'updated',
    reason: `Not approved yet: a live note says ${near.kind === 'duplicate' ? 'the same' : 'the opposite'}`,
  };
}
