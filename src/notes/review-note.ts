import { requireGrant } from '../domain/access.js';
import type { Caller } from '../domain/api-key.js';
import { ErrataError } from '../domain/errors.js';
import { isErased, type LifecycleEvent, transition } from '../domain/lifecycle.js';
import type { FeedbackNote, Instant, NoteId } from '../domain/note.js';
import { checkNamespace } from '../domain/validate-correction.js';
import { REVIEW_DECISIONS, type ReviewDecision } from '../ports/review-commands.js';
import type { CorrectionInput, ReviewInput } from '../ports/use-cases.js';
import { withApproval } from './approvals.js';
import { lessonOf, nearOfWaiting, showBeside } from './approve-beside.js';
import { approveEdited } from './approve-edited.js';
import { changeNote, type NoteChange, noteNotFound } from './change-note.js';
import { cleanComment } from './clean-reason.js';
import { endContest, markContested } from './contest.js';
import type { NoteEmbedder } from './embed-notes.js';
import { candidateOf, type NearDuplicate } from './find-near-duplicate.js';
import type { WriteContext } from './note-deps.js';
import { settleReviewed } from './settle-races.js';
import { joinSources } from './sources.js';

const EVENTS: Readonly<Record<ReviewDecision, LifecycleEvent>> = {
  APPROVE: 'approve',
  REJECT: 'reject',
  MERGE: 'merge',
  KEEP_BOTH: 'keep-both',
  REPLACE: 'replace',
};
const ACTIONS: Readonly<Record<ReviewDecision, string>> = {
  APPROVE: 'approved',
  REJECT: 'rejected',
  MERGE: 'merged',
  KEEP_BOTH: 'kept',
  REPLACE: 'replaced',
};

interface Review {
  readonly caller: Caller;
  readonly namespace: string;
  readonly id: NoteId;
  readonly decision: ReviewDecision;
  readonly reason?: string | undefined;
}

/**
 * A reviewer's decision. APPROVE and REJECT take pending and quarantined notes; MERGE, KEEP_BOTH and REPLACE pending and
 * active ones that name a merge candidate. MERGE gives the candidate, live or waiting itself, the note's sources and takes the note out
 * of service; REPLACE takes the candidate out. An APPROVE that would put a note beside a live one that says the same or the
 * opposite, and that nobody was shown yet, shows it instead: the note keeps waiting, with that one as its candidate.
 *
 * Gives the note as it is after the decision (for MERGE: deprecated, `supersededBy` the candidate); for an edit the new note.
 *
 * Where two notes change, the write that can be repeated comes first, so that a crash in between leaves the reviewed note
 * waiting and the same decision completes it.
 *
 * Errors: `NOTE_NOT_FOUND`, `INVALID_TRANSITION`, `INVALID_INPUT`, validation errors of an edit, `FORBIDDEN`.
 */
export async function reviewNote(
  context: WriteContext,
  embed: NoteEmbedder,
  caller: Caller,
  input: ReviewInput,
): Promise<FeedbackNote> {
  const review = checkReview(context, caller, input);
  const before = await context.store.notes.get(review.namespace, review.id);
  if (before === undefined) {
    throw noteNotFound(1);
  }
  transition(before.status, EVENTS[review.decision]);
  const note = hasEdit(input)
    ? await approveEdited(context, embed, { ...review, edit: input.edit, before })
    : review.decision === 'APPROVE'
      ? await approveWaiting(context, review, before)
      : await decide(context, review, before);
  await context.catchUp();
  return note;
}

/**
 * Under the lock of submissions, so that of an approval and a submission of the same the later one sees the earlier; what another
 * process let go live meanwhile is settled afterwards.
 */
function approveWaiting(context: WriteContext, review: Review, before: FeedbackNote): Promise<FeedbackNote> {
  const { caller, namespace, id } = review;
  return context.locks.run([JSON.stringify([namespace, before.taskType])], async () => {
    const since = await context.store.notes.lastRevision();
    const lesson = await lessonOf(context, before);
    const near = await nearOfWaiting(context, lesson);
    const shown = await showBeside(context, before, near);
    if (shown !== undefined) {
      // Refuses the author first, whose word would not have counted.
      withApproval(before, caller, review.decision, context.clock.now());
      const change = (note: FeedbackNote) => showBeside(context, note, near);
      return changeNote(context, { caller, namespace, id, change });
    }
    const note = await decide(context, review, before, near);
    if (note.status !== 'ACTIVE') return note;
    if (near.kind === 'opposite') {
      await markContested(context, { caller, namespace, older: near.noteId, newer: id });
    }
    return lesson === undefined ? note : settleReviewed(context, caller, since, lesson, note);
  });
}

async function decide(
  context: WriteContext,
  review: Review,
  before: FeedbackNote,
  near?: NearDuplicate,
): Promise<FeedbackNote> {
  const { caller, namespace, decision, reason, id } = review;
  if (!withApproval(before, caller, decision, context.clock.now()).enough) {
    return approve(context, review);
  }
  const candidate =
    decision === 'MERGE' || decision === 'REPLACE' || decision === 'KEEP_BOTH'
      ? await requireCandidate(context, before)
      : undefined;
  if (decision === 'MERGE' && candidate !== undefined) {
    await changeNote(context, {
      caller,
      namespace,
      id: candidate.id,
      change: (note) => addSources(note, before, reason),
    });
  }
  if (decision === 'REPLACE' && candidate !== undefined) {
    await changeNote(context, {
      caller,
      namespace,
      id: candidate.id,
      change: (note) =>
        note.status === 'DEPRECATED' && note.supersededBy === id
          ? undefined
          : {
              set: { status: transition(note.status, 'supersede'), supersededBy: id },
              action: 'replaced',
              reason,
            },
    });
  }
  const decided = await changeNote(context, {
    caller,
    namespace,
    id,
    change: (note) => {
      if (!withApproval(note, caller, decision, context.clock.now()).enough) {
        throw new ErrataError('VERSION_CONFLICT', 'Expected the approvals as they were, received fewer');
      }
      const decided = decisionChange(note, review, candidate?.id, context.clock.now());
      // Perhaps the same in other words, and nobody has seen it yet: both are live, and proposed for a merge.
      const unseen = near?.kind === 'proposal' && near.noteId !== note.mergeCandidate?.noteId;
      if (!unseen) return decided;
      return { ...decided, set: { ...decided.set, mergeCandidate: candidateOf(near) } };
    },
  });
  // An approval lets both live, and the newest is preferred until somebody says which one holds.
  const older = before.mergeCandidate?.noteId;
  if (older !== undefined && decision !== 'APPROVE') {
    await endContest(context, { caller, namespace, older, newer: id });
  }
  return decided;
}

/** A word that is not enough alone. */
function approve(context: WriteContext, { caller, namespace, id, decision, reason }: Review) {
  return changeNote(context, {
    caller,
    namespace,
    id,
    change: (note) => {
      const { approvals } = withApproval(note, caller, decision, context.clock.now());
      return note.review === undefined
        ? undefined
        : { set: { review: { ...note.review, approvals } }, action: 'approval', reason };
    },
  });
}

function decisionChange(
  note: FeedbackNote,
  review: Review,
  candidateId: NoteId | undefined,
  now: Instant,
): NoteChange {
  const { decision, reason } = review;
  const status = transition(note.status, EVENTS[decision]);
  const base = { action: ACTIONS[decision], reason };
  if (decision === 'MERGE') {
    return { ...base, set: { status, supersededBy: candidateId } };
  }
  if (decision === 'REPLACE' && candidateId !== undefined) {
    const supersedes = [...new Set([...note.supersedes, candidateId])];
    return { ...base, set: { status, supersedes, mergeCandidate: undefined } };
  }
  if (decision === 'REJECT') return { ...base, set: { status } };
  return { ...base, set: { status, mergeCandidate: undefined, ...lookedAgain(note, now) } };
}

/** Whoever approves has looked again: a date that has passed is done with, and changed anchors are as they are now. */
function lookedAgain(
  { reviewAfter, anchors }: FeedbackNote,
  now: Instant,
): Pick<NoteChange['set'], 'reviewAfter' | 'anchors'> {
  return {
    ...(reviewAfter !== undefined && reviewAfter <= now && { reviewAfter: undefined }),
    ...(anchors?.some(({ changedTo }) => changedTo !== undefined) && {
      anchors: anchors.map(({ kind, ref, state, changedTo }) => ({ kind, ref, state: changedTo ?? state })),
    }),
  };
}

function addSources(
  note: FeedbackNote,
  merged: FeedbackNote,
  reason: string | undefined,
): NoteChange | undefined {
  // Into one that waits, too: what is merged waits with it.
  if (note.status !== 'ACTIVE' && note.status !== 'PENDING') {
    throw new ErrataError(
      'INVALID_TRANSITION',
      `Expected an active or pending merge candidate, received ${note.status}`,
    );
  }
  const { sources } = joinSources(note.sources, merged.sources);
  return sources === note.sources
    ? undefined
    : { set: { sources, supportCount: sources.length }, action: 'support-added', reason };
}

async function requireCandidate({ store }: WriteContext, note: FeedbackNote): Promise<FeedbackNote> {
  const id = note.mergeCandidate?.noteId;
  const candidate = id === undefined ? undefined : await store.notes.get(note.namespace, id);
  if (candidate === undefined || isErased(candidate)) {
    throw new ErrataError(
      'INVALID_TRANSITION',
      'Expected a note with a merge candidate, received one without',
    );
  }
  return candidate;
}

/** Edges hand on null for what was left out. */
function hasEdit(input: ReviewInput): input is ReviewInput & { readonly edit: CorrectionInput } {
  return input.edit !== undefined && input.edit !== null;
}

function checkReview(context: WriteContext, caller: Caller, input: ReviewInput): Review {
  const decision = REVIEW_DECISIONS.find((known) => known === input.decision);
  if (decision === undefined) {
    throw new ErrataError(
      'INVALID_INPUT',
      `Expected ${REVIEW_DECISIONS.join(', ')} for decision, received another value`,
    );
  }
  if (hasEdit(input) && decision !== 'APPROVE') {
    throw new ErrataError('INVALID_INPUT', `Expected decision APPROVE for an edit, received ${decision}`);
  }
  const namespace = checkNamespace(input.namespace);
  requireGrant(caller, namespace);
  const reason = cleanComment(input.comment, context);
  return { caller, namespace, id: input.id, decision, reason };
}
