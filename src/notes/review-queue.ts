import { randomUUID } from 'node:crypto';
import { requireGrant } from '../domain/access.js';
import type { Caller } from '../domain/api-key.js';
import { actorOf } from '../domain/audit.js';
import { checkText } from '../domain/check-text.js';
import { ErrataError, isErrataError } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import type { FeedbackNote, NoteId } from '../domain/note.js';
import { isWaiting } from '../domain/review.js';
import { checkNamespace, checkReason } from '../domain/validate-correction.js';
import { redactSecrets } from '../guard/redact-secrets.js';
import type { ReviewCommands, ReviewResult } from '../ports/review-commands.js';
import { changeNote, noteNotFound } from './change-note.js';
import type { NoteEmbedder } from './embed-notes.js';
import type { WriteContext } from './note-deps.js';
import { reviewNote } from './review-note.js';

interface OneNote {
  readonly caller: Caller;
  readonly namespace: string;
  readonly id: NoteId;
}

/** Asks one reviewer, or nobody in particular. Errors: `NOTE_NOT_FOUND`, `INVALID_TRANSITION` for a note that does not wait. */
export async function assignReview(
  context: WriteContext,
  { caller, namespace: given, id }: OneNote,
  assigneeGiven: string | undefined,
): Promise<FeedbackNote> {
  const namespace = checkNamespace(given);
  requireGrant(caller, namespace);
  const assignee =
    assigneeGiven === undefined
      ? undefined
      : checkReason(checkText(assigneeGiven, 'assignee', LIMITS.sourceFieldLength), 'assignee');
  return changeNote(context, {
    caller,
    namespace,
    id,
    change: ({ status, review }) => {
      if (!isWaiting(status) || review === undefined) {
        throw new ErrataError(
          'INVALID_TRANSITION',
          `Expected a note that waits for review, received ${status}`,
        );
      }
      return review.assignee === assignee
        ? undefined
        : { set: { review: { ...review, assignee } }, action: 'assigned' };
    },
  });
}

/** A remark in the note's history. Errors: `NOTE_NOT_FOUND`, those of the text. */
export async function commentNote(
  { store, clock, phones }: WriteContext,
  { caller, namespace: given, id }: OneNote,
  comment: string,
): Promise<void> {
  const namespace = checkNamespace(given);
  requireGrant(caller, namespace);
  const reason = redactSecrets(checkReason(comment, 'comment'), { phones }).text;
  if ((await store.notes.get(namespace, id)) === undefined) throw noteNotFound(1);
  await store.audit.append({
    ...{ id: randomUUID(), at: clock.now(), ...actorOf(caller), action: 'commented', namespace },
    ...{ noteId: id, reason, changes: [] },
  });
}

/** One after another; a note that cannot be decided leaves the others alone. Errors: `INPUT_TOO_LARGE`, `INVALID_INPUT`. */
export async function decideMany(
  context: WriteContext,
  embed: NoteEmbedder,
  caller: Caller,
  request: Parameters<ReviewCommands['decideMany']>[1],
): Promise<readonly ReviewResult[]> {
  const { namespace, ids, decision, comment } = request;
  if (ids.length === 0) {
    throw new ErrataError('INVALID_INPUT', 'Expected at least one note id for ids, received none');
  }
  if (ids.length > LIMITS.pageSize) {
    throw new ErrataError(
      'INPUT_TOO_LARGE',
      `Expected at most ${LIMITS.pageSize} ids, received ${ids.length}`,
      { details: { limit: LIMITS.pageSize } },
    );
  }
  const results: ReviewResult[] = [];
  for (const id of new Set(ids)) {
    try {
      results.push({
        id,
        note: await reviewNote(context, embed, caller, { id, namespace, decision, comment }),
      });
    } catch (error) {
      const own = isErrataError(error) && ['NOTE_NOT_FOUND', 'INVALID_TRANSITION'].includes(error.code);
      const forbidden = isErrataError(error, 'FORBIDDEN');
      // A grant that is missing is missing for all of them; the author's own note is not.
      if (!own && !(forbidden && (await context.store.notes.get(namespace, id)) !== undefined)) throw error;
      results.push({ id, refused: error.code });
    }
  }
  return results;
}
