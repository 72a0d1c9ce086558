import type { Caller } from '../domain/api-key.js';
import { ErrataError } from '../domain/errors.js';
import type { FeedbackNote, Instant } from '../domain/note.js';
import { type Approval, isWaiting } from '../domain/review.js';

/** Decisions that let a note go live. */
const ADMITS: readonly string[] = ['APPROVE', 'KEEP_BOTH', 'REPLACE'];

/** Whether a note's words, or changes that wait with it, are the caller's. */
export function isAuthor(
  { review, sources }: Pick<FeedbackNote, 'review' | 'sources'>,
  { name }: Caller,
): boolean {
  return (
    review?.submittedBy === name ||
    review?.coAuthors?.includes(name) === true ||
    sources.some(({ author }) => author === name)
  );
}

/**
 * The approvals of a note with the caller's among them, and whether they are enough for the decision to be carried out. Only the
 * same decision adds up; repeating one's own adds nothing.
 *
 * Errors: `FORBIDDEN` for the author of a note that others have to approve.
 */
export function withApproval(
  note: FeedbackNote,
  caller: Caller,
  decision: string,
  at: Instant,
): { readonly approvals: readonly Approval[]; readonly enough: boolean } {
  const review = isWaiting(note.status) && ADMITS.includes(decision) ? note.review : undefined;
  if (review === undefined) return { approvals: [], enough: true };
  if (review.byOthers && isAuthor(note, caller)) {
    throw new ErrataError(
      'FORBIDDEN',
      "Expected a reviewer other than the note's author where two approvals are needed, received the author",
    );
  }
  const others = review.approvals.filter(({ by }) => by !== caller.name);
  const approvals = [...others, { by: caller.name, at, decision }];
  const agreeing = approvals.filter((approval) => approval.decision === decision).length;
  return { approvals, enough: agreeing >= review.required };
}
