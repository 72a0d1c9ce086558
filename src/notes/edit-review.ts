import type { Caller } from '../domain/api-key.js';
import type { FeedbackNote, Impact, Instant, NoteId } from '../domain/note.js';
import type { ReviewPolicy, ReviewState } from '../domain/review.js';
import type { CorrectionInput } from '../ports/use-cases.js';
import { isAuthor } from './approvals.js';
import { neededApprovals, openReview } from './review-policy.js';

export interface EditedApproval {
  readonly caller: Caller;
  readonly namespace: string;
  readonly id: NoteId;
  readonly reason?: string | undefined;
  readonly edit: CorrectionInput;
  readonly before: FeedbackNote;
}

export interface EditSigns {
  readonly policy: ReviewPolicy;
  readonly caller: Caller;
  readonly at: Instant;
  /** Whether the screen doubts what the edit brings. */
  readonly doubt: boolean;
  /** Impact of a live note that the edited text turns around. */
  readonly reverses?: Impact | undefined;
  /** Whether the editor could not know of that note. */
  readonly unseen?: boolean | undefined;
}

/**
 * What an edited note still waits for; undefined where the editor's word is all it takes. An edit never needs less than the note did
 * before it, and as much as a new note of its impact, scope and sources would. Its editor is its author; the word counts as a
 * reviewer's, beside another's, only where the text before was somebody else's and the edit asks for no more than that did. A doubt
 * and a reversal that holds back and that nobody has seen yet always want a second word. Pure.
 */
export function reviewOfEdit(
  before: FeedbackNote,
  edited: Pick<FeedbackNote, 'impact' | 'attributes' | 'sources'>,
  { policy, caller, at, doubt, reverses, unseen }: EditSigns,
): ReviewState | undefined {
  const need = neededApprovals(policy, edited, { doubt, reverses });
  const held = before.review;
  const required = Math.max(need.required, held?.required ?? 0);
  const byOthers = required >= 2 || held?.byOthers === true;
  const surprise = unseen === true && need.cause === 'contradiction';
  if (!doubt && !byOthers && !surprise) return undefined;
  const counts = !doubt && !surprise && !isAuthor(before, caller) && need.required <= (held?.required ?? 0);
  const authors = [held?.submittedBy, ...(held?.coAuthors ?? [])];
  const coAuthors = [...new Set(authors)].filter(
    (name): name is string => name !== undefined && name !== caller.name,
  );
  return {
    ...openReview(
      policy,
      { required, cause: doubt ? 'screening' : surprise ? 'contradiction' : 'edit' },
      at,
      caller.name,
    ),
    byOthers,
    approvals: counts ? [{ by: caller.name, at, decision: 'APPROVE' }] : [],
    ...(coAuthors.length > 0 && { coAuthors }),
  };
}
