import { ErrataError } from '../domain/errors.js';
import { transition } from '../domain/lifecycle.js';
import type { FeedbackNote, Instant } from '../domain/note.js';
import type { CorrectionInput } from '../ports/use-cases.js';
import { withApproval } from './approvals.js';
import { lessonOf, nearOfWaiting, showBeside } from './approve-beside.js';
import { changeNote, type NoteChange } from './change-note.js';
import { endContest, markContested } from './contest.js';
import { type EditedApproval, reviewOfEdit } from './edit-review.js';
import type { NoteEmbedder } from './embed-notes.js';
import type { NearDuplicate } from './find-near-duplicate.js';
import { newDoubts } from './new-doubts.js';
import type { WriteContext } from './note-deps.js';
import { diffNotes } from './note-versions.js';
import { type PreparedCorrection, prepareCorrection } from './prepare-correction.js';
import { reportNamedAnchors } from './report-named-anchors.js';
import { readReviewPolicy } from './review-policy.js';
import { screenByModel } from './screen-by-model.js';
import { settleReviewed } from './settle-races.js';
import { storeEdited } from './store-edited.js';

/**
 * Edit and approve: the corrected text goes through validation, redaction, screening and the look for near notes like any other,
 * becomes a note with the old one's sources, and supersedes it. Whether it goes live at once is for `reviewOfEdit`. An edit that
 * leaves the text as it was only updates the note, under the same rules.
 *
 * A contradiction that the old text was part of goes over to the new one, or ends with the old text.
 *
 * The new note is written first; repeating the decision after a crash completes it.
 *
 * Errors: validation errors; `INVALID_INPUT` where the edit names another namespace; `INVALID_TRANSITION` where the edited
 * text is a deprecated note's; `FORBIDDEN` as `withApproval` where the edited text is another waiting note's, or the same.
 */
export async function approveEdited(
  context: WriteContext,
  embed: NoteEmbedder,
  approval: EditedApproval,
): Promise<FeedbackNote> {
  const { caller, namespace, id, edit, before } = approval;
  const filled = { ...heldBy(before, namespace, context.clock.now()), ...withoutAbsent(edit) };
  const given = prepareCorrection(
    { now: context.clock.now(), classifier: context.classifier, phones: context.phones },
    caller,
    filled,
  );
  const [prepared = given] = await screenByModel(context, [given]);
  if (prepared.namespace !== namespace) {
    throw new ErrataError(
      'INVALID_INPUT',
      "Expected the reviewed note's namespace for edit, received another",
    );
  }
  const edited =
    prepared.id === id
      ? await editInPlace(context, approval, prepared)
      : await editText(context, embed, approval, prepared);
  // What it carries over from the old note is no news; what the edit names is, as a submission's would be.
  const named = edit.anchors ? prepared.anchors : [];
  const told = [{ outcome: 'UPDATED' as const, note: edited, findings: prepared.findings }];
  const [settled] = await reportNamedAnchors(context, caller, [{ ...prepared, anchors: named }], told);
  return settled?.note ?? edited;
}

/** Another text: a note of its own, that supersedes the old one. */
async function editText(
  context: WriteContext,
  embed: NoteEmbedder,
  approval: EditedApproval,
  prepared: PreparedCorrection,
): Promise<FeedbackNote> {
  const { caller, namespace, id, reason, before } = approval;
  const { note: edited, near } = await storeEdited(context, embed, approval, prepared);
  const contested = near.kind === 'opposite' ? near.noteId : undefined;
  if (contested !== undefined) {
    await markContested(context, { caller, namespace, older: contested, newer: edited.id });
  }
  const older = before.mergeCandidate?.noteId;
  if (older !== undefined && older !== contested) {
    await endContest(context, { caller, namespace, older, newer: id });
  }
  await changeNote(context, {
    caller,
    namespace,
    id,
    change: (note) =>
      note.supersededBy === edited.id
        ? undefined
        : {
            set: { status: transition(note.status, 'supersede'), supersededBy: edited.id },
            action: 'edited',
            reason,
          },
  });
  return edited;
}

/**
 * The same text with other attributes, impact, dates or anchors. Approvals that were given before were given to other ones. What is live
 * beside it is looked at as by any approval.
 */
function editInPlace(
  context: WriteContext,
  approval: EditedApproval,
  prepared: PreparedCorrection,
): Promise<FeedbackNote> {
  const { caller, namespace, id, before } = approval;
  return context.locks.run([JSON.stringify([namespace, before.taskType])], async () => {
    const since = await context.store.notes.lastRevision();
    const lesson = await lessonOf(context, before);
    const near = await nearOfWaiting(context, lesson);
    const edited = await changeInPlace(context, approval, prepared, near);
    if (edited.status !== 'ACTIVE') return edited;
    if (near.kind === 'opposite') {
      await markContested(context, { caller, namespace, older: near.noteId, newer: id });
    }
    return lesson === undefined ? edited : settleReviewed(context, caller, since, lesson, edited);
  });
}

async function changeInPlace(
  context: WriteContext,
  { caller, namespace, id, reason }: EditedApproval,
  prepared: PreparedCorrection,
  near: NearDuplicate,
): Promise<FeedbackNote> {
  const policy = await readReviewPolicy(context.store, namespace);
  return changeNote(context, {
    caller,
    namespace,
    id,
    change: async (note): Promise<NoteChange> => {
      const at = context.clock.now();
      const { approvals, enough } = withApproval(note, caller, 'APPROVE', at);
      const set = editedFields(note, prepared);
      const shown = await showBeside(context, { ...note, ...set }, near);
      if (shown !== undefined) return { ...shown, set: { ...set, ...shown.set } };
      const status = transition(note.status, 'approve');
      const approved = { set: { ...set, status, mergeCandidate: undefined }, action: 'approved', reason };
      const after = { ...note, ...set };
      if (diffNotes(note, after).length === 0) {
        return !enough && note.review !== undefined
          ? { set: { review: { ...note.review, approvals } }, action: 'approval', reason }
          : approved;
      }
      const doubts = newDoubts(note, prepared);
      const wanted = reviewOfEdit(note, after, { policy, caller, at, doubt: doubts.length > 0 });
      if (wanted === undefined) return approved;
      // It waits since when it waited, and whoever submitted it is still its author.
      const { cause, required, byOthers, approvals: own } = wanted;
      const submittedBy = note.review?.submittedBy ?? caller.name;
      const coAuthors = [...new Set([...(note.review?.coAuthors ?? []), caller.name])];
      const review = {
        ...{ ...wanted, ...note.review },
        ...{ cause, required, byOthers, approvals: own, submittedBy, coAuthors },
      };
      return doubts.length > 0
        ? {
            set: { ...set, status: 'QUARANTINED', findings: [...note.findings, ...doubts], review },
            action: 'updated',
            reason,
          }
        : { set: { ...set, review }, action: 'approval', reason };
    },
  });
}

/** What an edit that says nothing of it leaves as it was. Whoever edits has looked: anchors are as they are now, a look that was due is done. */
function heldBy(before: FeedbackNote, namespace: string, now: Instant) {
  const { attributes, impact, expiresAt, reviewAfter, anchors = [] } = before;
  return {
    ...{ namespace, attributes, impact },
    ...(expiresAt !== undefined && { expiresAt }),
    ...(reviewAfter !== undefined && reviewAfter > now && { reviewAfter }),
    anchors: anchors.map(({ kind, ref, state, changedTo }) => ({ kind, ref, state: changedTo ?? state })),
  };
}

function editedFields(
  { anchors: held = [] }: FeedbackNote,
  { attributes, impact, expiresAt, reviewAfter, anchors }: PreparedCorrection,
): Partial<FeedbackNote> {
  const same = JSON.stringify(anchors) === JSON.stringify(held);
  return {
    ...(same ? {} : { anchors }),
    attributes,
    ...(impact === undefined ? {} : { impact }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(reviewAfter === undefined ? {} : { reviewAfter }),
  };
}

/** Lets the spread above keep the old note's values where the edit says nothing. */
function withoutAbsent(edit: CorrectionInput): Partial<CorrectionInput> {
  return Object.fromEntries(
    Object.entries(edit).filter(([, value]) => value !== undefined && value !== null),
  );
}
