import { ErrataError } from '../domain/errors.js';
import { transition } from '../domain/lifecycle.js';
import type { FeedbackNote } from '../domain/note.js';
import type { CorrectionInput } from '../ports/use-cases.js';
import { withApproval } from './approvals.js';
import { changeNote, type NoteChange } from './change-note.js';
import { endContest, markContested } from './contest.js';
import { type EditedApproval, reviewOfEdit } from './edit-review.js';
import type { NoteEmbedder } from './embed-notes.js';
import { newDoubts } from './new-doubts.js';
import type { WriteContext } from './note-deps.js';
import { diffNotes } from './note-versions.js';
import { type PreparedCorrection, prepareCorrection } from './prepare-correction.js';
import { readReviewPolicy } from './review-policy.js';
import { screenByModel } from './screen-by-model.js';
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
  const { caller, namespace, id, reason, edit, before } = approval;
  const filled = { namespace, attributes: before.attributes, impact: before.impact, ...withoutAbsent(edit) };
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
  if (prepared.id === id) return editInPlace(context, approval, prepared);
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

/** The same text with other attributes, impact or dates. Approvals that were given before were given to other ones. */
async function editInPlace(
  context: WriteContext,
  { caller, namespace, id, reason }: EditedApproval,
  prepared: PreparedCorrection,
): Promise<FeedbackNote> {
  const policy = await readReviewPolicy(context.store, namespace);
  return changeNote(context, {
    caller,
    namespace,
    id,
    change: (note): NoteChange => {
      const at = context.clock.now();
      const { approvals, enough } = withApproval(note, caller, 'APPROVE', at);
      const set = editedFields(prepared);
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

function editedFields({
  attributes,
  impact,
  expiresAt,
  reviewAfter,
}: PreparedCorrection): Partial<FeedbackNote> {
  return {
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
