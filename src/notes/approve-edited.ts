import type { Caller } from '../domain/api-key.js';
import { ErrataError } from '../domain/errors.js';
import { transition } from '../domain/lifecycle.js';
import type { FeedbackNote, Instant, NoteId, NoteStatus } from '../domain/note.js';
import type { ReviewPolicy, ReviewState } from '../domain/review.js';
import type { CorrectionInput } from '../ports/use-cases.js';
import { withApproval } from './approvals.js';
import { changeNote } from './change-note.js';
import { draftNote } from './draft-note.js';
import type { NoteEmbedder } from './embed-notes.js';
import type { WriteContext } from './note-deps.js';
import { type PreparedCorrection, prepareCorrection } from './prepare-correction.js';
import { openReview, readReviewPolicy } from './review-policy.js';
import { screenByModel } from './screen-by-model.js';
import { joinSources } from './sources.js';

export interface EditedApproval {
  readonly caller: Caller;
  readonly namespace: string;
  readonly id: NoteId;
  readonly reason?: string | undefined;
  readonly edit: CorrectionInput;
  readonly before: FeedbackNote;
}

/**
 * Edit and approve: the corrected text goes through validation, redaction and screening like any other, becomes an active
 * note with the old one's sources, and supersedes it. An edit that the screen doubts is stored quarantined instead and
 * wants a second word. An edit that leaves the text as it was only updates and approves the note.
 *
 * The new note is written first; repeating the decision after a crash completes it.
 *
 * Errors: validation errors; `INVALID_INPUT` where the edit names another namespace; `INVALID_TRANSITION` where the edited
 * text is a deprecated note's.
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
  if (prepared.id === id) {
    return changeNote(context, {
      caller,
      namespace,
      id,
      change: (note) => {
        const { approvals, enough } = withApproval(note, caller, 'APPROVE', context.clock.now());
        const fields = editedFields(prepared);
        return !enough && note.review !== undefined
          ? { set: { ...fields, review: { ...note.review, approvals } }, action: 'approval', reason }
          : {
              set: { ...fields, status: transition(note.status, 'approve'), mergeCandidate: undefined },
              action: 'approved',
              reason,
            };
      },
    });
  }
  const edited = await storeEdited(context, embed, approval, prepared);
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

async function storeEdited(
  context: WriteContext,
  embed: NoteEmbedder,
  { caller, namespace, id, reason, before }: EditedApproval,
  prepared: PreparedCorrection,
): Promise<FeedbackNote> {
  const embedded = (await embed.embed([prepared], 'interactive')).get(prepared.id);
  if (embedded === undefined) {
    throw new TypeError('Expected an embedding for the edited note, received none');
  }
  const at = context.clock.now();
  const reviewPolicy = await readReviewPolicy(context.store, namespace);
  const draft = draftNote(prepared, { caller, at, embedded, reviewPolicy });
  const review = secondWord(before, prepared, { at, caller, reviewPolicy });
  const waits: NoteStatus = prepared.quarantined ? 'QUARANTINED' : 'PENDING';
  const status: NoteStatus = review === undefined ? 'ACTIVE' : waits;
  const { sources } = joinSources(before.sources, [prepared.source]);
  const supersedes = [id];
  const note = { ...draft.insert.note, status, review, sources, supportCount: sources.length, supersedes };
  const action = review === undefined ? 'approved' : 'created';
  const changes = [`status: none → ${status}`, `supersedes: none → ${id.slice(0, 12)}`];
  const audit = { ...draft.insert.audit, action, reason, changes };
  const [outcome] = await context.store.notes.insert([{ ...draft.insert, note, audit }]);
  return (
    outcome?.note ??
    (await changeNote(context, {
      caller,
      namespace,
      id: prepared.id,
      change: (existing) => {
        if (existing.status === 'DEPRECATED') {
          throw new ErrataError(
            'INVALID_TRANSITION',
            'Expected new text or that of a live note for edit, received that of a deprecated one',
          );
        }
        const joined = joinSources(existing.sources, sources).sources;
        const done =
          existing.status === 'ACTIVE' && existing.supersedes.includes(id) && joined === existing.sources;
        return done
          ? undefined
          : {
              set: {
                status: existing.status === 'ACTIVE' ? 'ACTIVE' : transition(existing.status, 'approve'),
                sources: joined,
                supportCount: joined.length,
                supersedes: [...new Set([...existing.supersedes, id])],
                mergeCandidate: undefined,
              },
              action: 'approved',
              reason,
            };
      },
    }))
  );
}

/** Who edits a text is its author: where two approvals are needed, the edit wants another reviewer's; where it is doubtful, one. */
function secondWord(
  before: FeedbackNote,
  prepared: PreparedCorrection,
  { at, caller, reviewPolicy }: { at: Instant; caller: Caller; reviewPolicy: ReviewPolicy },
): ReviewState | undefined {
  const byOthers = before.review?.byOthers === true;
  if (!prepared.quarantined && !byOthers) return undefined;
  const cause = prepared.quarantined ? 'screening' : 'edit';
  return { ...openReview(reviewPolicy, { required: 1, cause }, at, caller.name), byOthers };
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
