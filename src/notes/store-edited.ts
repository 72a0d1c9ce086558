import { ErrataError } from '../domain/errors.js';
import { transition } from '../domain/lifecycle.js';
import type { FeedbackNote, MergeCandidate, NoteId, NoteSource, NoteStatus } from '../domain/note.js';
import { isWaiting } from '../domain/review.js';
import { withApproval } from './approvals.js';
import { changeNote, type NoteChange } from './change-note.js';
import { draftNote } from './draft-note.js';
import { type EditedApproval, reviewOfEdit } from './edit-review.js';
import type { NoteEmbedder } from './embed-notes.js';
import {
  candidateOf,
  findNearDuplicate,
  findNearDuplicateAmong,
  findNearDuplicateIn,
  type NearDuplicate,
  type NewLesson,
} from './find-near-duplicate.js';
import type { WriteContext } from './note-deps.js';
import type { PreparedCorrection } from './prepare-correction.js';
import { readReviewPolicy } from './review-policy.js';
import { settleReviewed } from './settle-races.js';
import { joinSources } from './sources.js';
import { readWaitingLessons } from './waiting-lessons.js';

interface StoredEdit {
  readonly note: FeedbackNote;
  /** What the edited text stands beside. */
  readonly near: NearDuplicate;
}

/**
 * Stores an edited text as a note of its own, compared with live notes under the lock that submissions of its task type take. A near
 * one is proposed for a merge, never merged: the editor has just said that this text is wanted.
 */
export async function storeEdited(
  context: WriteContext,
  embed: NoteEmbedder,
  approval: EditedApproval,
  prepared: PreparedCorrection,
): Promise<StoredEdit> {
  const embedded = (await embed.embed([prepared], 'interactive')).get(prepared.id);
  if (embedded === undefined) {
    throw new TypeError('Expected an embedding for the edited note, received none');
  }
  const { caller, namespace, id, reason, before } = approval;
  const key = JSON.stringify([namespace, prepared.taskType]);
  return context.locks.run([key], async () => {
    const since = await context.store.notes.lastRevision();
    await context.catchUp();
    const lesson = { ...prepared, lessonVector: embedded.vectors.lesson };
    const near = await nearOfEdit(context, lesson, before);
    const at = context.clock.now();
    const policy = await readReviewPolicy(context.store, namespace);
    const draft = draftNote(prepared, {
      caller,
      at,
      embedded,
      mergeCandidate: candidateOf(near),
      reviewPolicy: policy,
    });
    const { sources } = joinSources(before.sources, [prepared.source]);
    const review = reviewOfEdit(
      before,
      { ...draft.insert.note, sources },
      {
        ...{ policy, caller, at, doubt: prepared.quarantined },
        ...(near.kind === 'opposite' && {
          reverses: near.impact,
          unseen: near.noteId !== before.mergeCandidate?.noteId,
        }),
      },
    );
    const waits: NoteStatus = prepared.quarantined ? 'QUARANTINED' : 'PENDING';
    const status: NoteStatus = review === undefined ? 'ACTIVE' : waits;
    const supersedes = [id];
    // What waits on is compared with what waits, too.
    const beside =
      status === 'PENDING' && near.kind === 'none' ? await nearOfWaitingEdit(context, lesson, id) : undefined;
    const note = {
      ...draft.insert.note,
      ...{ status, review, sources, supportCount: sources.length, supersedes },
      ...(beside !== undefined && { mergeCandidate: beside }),
    };
    const action = review === undefined ? 'approved' : 'created';
    const changes = [`status: none → ${status}`, `supersedes: none → ${id.slice(0, 12)}`];
    const audit = { ...draft.insert.audit, action, reason, changes };
    const [outcome] = await context.store.notes.insert([{ ...draft.insert, note, audit }]);
    const inserted = outcome?.note;
    const stored =
      inserted === undefined
        ? await joinStored(context, approval, prepared, sources)
        : await settleReviewed(context, caller, since, lesson, inserted);
    return { note: stored, near };
  });
}

/** What waits beside an edit, but for the text that it takes over from. */
async function nearOfWaitingEdit(
  context: WriteContext,
  lesson: NewLesson,
  edited: NoteId,
): Promise<MergeCandidate | undefined> {
  const waiting = await readWaitingLessons(context, lesson.namespace, lesson.taskType);
  const others = waiting.filter(({ id }) => id !== edited);
  return candidateOf(findNearDuplicateIn(context, lesson, others));
}

/** A contradiction that the old text stood in counts first, where the new one stands in it, too. */
async function nearOfEdit(
  context: WriteContext,
  subject: NewLesson,
  before: FeedbackNote,
): Promise<NearDuplicate> {
  const candidate = before.mergeCandidate?.noteId;
  const held =
    candidate === undefined ? undefined : await findNearDuplicateAmong(context, subject, [candidate]);
  return held?.kind === 'opposite' ? held : findNearDuplicate(context, subject, []);
}

/** The edited text is a stored note's already, by another way or by the same decision before a crash. */
function joinStored(
  context: WriteContext,
  { caller, namespace, id, reason, before }: EditedApproval,
  prepared: PreparedCorrection,
  sources: readonly NoteSource[],
): Promise<FeedbackNote> {
  return changeNote(context, {
    caller,
    namespace,
    id: prepared.id,
    change: (existing): NoteChange | undefined => {
      if (existing.status === 'DEPRECATED') {
        throw new ErrataError(
          'INVALID_TRANSITION',
          'Expected new text or that of a live note for edit, received that of a deprecated one',
        );
      }
      const joined = joinSources(existing.sources, sources).sources;
      if (existing.supersedes.includes(id) && joined === existing.sources) return undefined;
      const set = {
        sources: joined,
        supportCount: joined.length,
        supersedes: [...new Set([...existing.supersedes, id])],
      };
      if (!isWaiting(existing.status)) {
        return { set: { ...set, mergeCandidate: undefined }, action: 'approved', reason };
      }
      // It keeps what it waits for, and what the old one waited for; a doubt is not dispelled by writing the same again.
      const held = existing.review;
      const required = Math.max(held?.required ?? 1, before.review?.required ?? 0);
      const byOthers = required >= 2 || held?.byOthers === true;
      const review = held === undefined ? undefined : { ...held, required, byOthers };
      const waiting = { ...existing, review };
      if (prepared.quarantined) return { set: { ...set, review }, action: 'updated', reason };
      const { approvals, enough } = withApproval(waiting, caller, 'APPROVE', context.clock.now());
      return enough
        ? {
            set: { ...set, status: transition(existing.status, 'approve'), mergeCandidate: undefined },
            action: 'approved',
            reason,
          }
        : {
            set: { ...set, ...(review && { review: { ...review, approvals } }) },
            action: 'approval',
            reason,
          };
    },
  });
}
