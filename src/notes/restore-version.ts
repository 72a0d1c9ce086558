import { requireGrant } from '../domain/access.js';
import type { Caller } from '../domain/api-key.js';
import { ErrataError } from '../domain/errors.js';
import { isErased } from '../domain/lifecycle.js';
import { LIMITS } from '../domain/limits.js';
import type { FeedbackNote, NoteId } from '../domain/note.js';
import { checkNamespace } from '../domain/validate-correction.js';
import { changeNote, noteNotFound } from './change-note.js';
import { cleanReason } from './clean-reason.js';
import type { WriteContext } from './note-deps.js';
import { diffNotes } from './note-versions.js';

export interface VersionRestore {
  readonly caller: Caller;
  readonly namespace: string;
  readonly id: NoteId;
  readonly version: number;
  readonly reason: string;
}

/**
 * Gives a note the attributes, impact and dates that it had at an earlier version, as a new version. Its status stays: going
 * live or being taken out is for `review`, `deprecate` and `restore`, which have their own rules. A note that goes from a
 * lower impact to HIGH waits for approval, as a new one would.
 *
 * Errors: `NOTE_NOT_FOUND`; `INVALID_INPUT` for a version that is not kept; `INVALID_TRANSITION` for an erased note.
 */
export async function restoreVersion(context: WriteContext, request: VersionRestore): Promise<FeedbackNote> {
  const { caller, id, version } = request;
  const namespace = checkNamespace(request.namespace);
  requireGrant(caller, namespace);
  const reason = cleanReason(request.reason, context);
  if ((await context.store.notes.get(namespace, id)) === undefined) throw noteNotFound(1);
  const states = await context.store.versions.past(namespace, id, LIMITS.keptVersions);
  const state = states.find((past) => past.version === version);
  if (state === undefined) {
    throw new ErrataError(
      'INVALID_INPUT',
      'Expected an earlier version of the note for version, received another',
      {
        details: { field: 'version' },
      },
    );
  }
  const note = await changeNote(context, {
    caller,
    namespace,
    id,
    change: (before) => {
      if (isErased(before)) {
        throw new ErrataError(
          'INVALID_TRANSITION',
          'Expected a note with text for restore, received an erased one',
        );
      }
      const { attributes, impact, expiresAt, reviewAfter } = state;
      const raised = impact === 'HIGH' && before.impact !== 'HIGH' && before.status === 'ACTIVE';
      const after: FeedbackNote = {
        ...before,
        attributes,
        impact,
        expiresAt,
        reviewAfter,
        ...(raised ? { status: 'PENDING' as const } : {}),
      };
      if (diffNotes(before, after).length === 0) return undefined;
      return {
        set: { attributes, impact, expiresAt, reviewAfter, status: after.status },
        action: 'version-restored',
        reason,
      };
    },
  });
  await context.catchUp();
  return note;
}
