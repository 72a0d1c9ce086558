import type { Caller } from '../domain/api-key.js';
import type { Finding, Impact, Instant, MergeCandidate, NoteStatus } from '../domain/note.js';
import { NO_OUTCOMES } from '../domain/note.js';
import { isWaiting, type ReviewPolicy } from '../domain/review.js';
import type { NoteInsert, NoteWrite } from '../ports/note-store.js';
import type { SubmitOutcome } from '../ports/use-cases.js';
import { auditDraft } from './audit-changes.js';
import type { EmbeddedNote } from './embed-notes.js';
import type { PreparedCorrection } from './prepare-correction.js';
import { type Need, neededApprovals, openReview } from './review-policy.js';

export interface DraftContext {
  readonly caller: Caller;
  readonly at: Instant;
  readonly embedded: EmbeddedNote;
  readonly mergeCandidate?: MergeCandidate | undefined;
  readonly reviewPolicy: ReviewPolicy;
  /** Impact of the candidate where it says the opposite: then the policy says whether the new note waits. */
  readonly reverses?: Impact | undefined;
}

/** A new note as it will be inserted, and the outcome that its submitter is told if the insert wins. */
export interface NoteDraft {
  readonly insert: NoteInsert;
  readonly outcome: SubmitOutcome;
}

/**
 * What keeps a new note from going live, worst first. A lesson that is only proposed for a merge goes live: a wrong proposal
 * must not withhold it until somebody has looked.
 */
function firstStatus(
  prepared: PreparedCorrection,
  { mergeCandidate }: DraftContext,
  { required }: Need,
): { readonly status: NoteStatus; readonly outcome: SubmitOutcome } {
  if (prepared.quarantined) {
    return { status: 'QUARANTINED', outcome: 'QUARANTINED' };
  }
  const waits = required > 0;
  if (mergeCandidate !== undefined) {
    return { status: waits ? 'PENDING' : 'ACTIVE', outcome: 'MERGE_PROPOSED' };
  }
  return waits ? { status: 'PENDING', outcome: 'NEEDS_REVIEW' } : { status: 'ACTIVE', outcome: 'CREATED' };
}

/** Makes the note of a prepared correction that the store does not hold yet. Pure. */
export function draftNote(prepared: PreparedCorrection, context: DraftContext): NoteDraft {
  const { caller, at, embedded, mergeCandidate, reviewPolicy } = context;
  const impact = prepared.impact ?? 'NORMAL';
  const need = neededApprovals(
    reviewPolicy,
    { impact, attributes: prepared.attributes, sources: [prepared.source] },
    { doubt: prepared.quarantined, reverses: context.reverses },
  );
  const { status, outcome } = firstStatus(prepared, context, need);
  const truncated: readonly Finding[] = embedded.lessonTruncated
    ? [
        {
          rule: 'embedding.truncated',
          field: 'lesson',
          reason: 'The embedding model reads only the beginning of this lesson',
        },
      ]
    : [];
  const note: NoteWrite = {
    id: prepared.id,
    namespace: prepared.namespace,
    taskType: prepared.taskType,
    wrongAnswer: prepared.wrongAnswer,
    correction: prepared.correction,
    lesson: prepared.lesson,
    attributes: prepared.attributes,
    impact,
    status,
    sources: [prepared.source],
    supportCount: 1,
    findings: [...prepared.findings, ...truncated],
    createdAt: prepared.createdAt ?? at,
    updatedAt: at,
    expiresAt: prepared.expiresAt,
    reviewAfter: prepared.reviewAfter,
    supersedes: [],
    mergeCandidate,
    ...(prepared.anchors.length > 0 && { anchors: prepared.anchors }),
    ...(isWaiting(status) && { review: openReview(reviewPolicy, need, at, caller.name) }),
    outcomes: NO_OUTCOMES,
  };
  const audit = auditDraft({ caller, at, action: 'created' }, undefined, note);
  return { insert: { note, vectors: embedded.vectors, audit }, outcome };
}
