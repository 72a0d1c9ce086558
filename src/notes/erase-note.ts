import { requireGrant, requireRole } from '../domain/access.js';
import type { Caller } from '../domain/api-key.js';
import { ERASED_TEXT, isErased, transition } from '../domain/lifecycle.js';
import type { FeedbackNote, NoteId, NoteSource } from '../domain/note.js';
import { checkNamespace } from '../domain/validate-correction.js';
import { changeNote } from './change-note.js';
import { cleanReason } from './clean-reason.js';
import type { WriteContext } from './note-deps.js';

/**
 * For law and leaked secrets: texts, attributes, anchors, findings, vectors and what names a person or a place in the sources go;
 * id, namespace, task type, dates, kinds of source and the audit trail stay as a tombstone, so that the same correction
 * cannot come back unseen. Receipts hold ids and digests only, never text. Every process that
 * follows the store removes its snapshot of the index. Erasing twice changes nothing.
 *
 * Errors: `FORBIDDEN` without the role admin, `NOTE_NOT_FOUND`, `INVALID_TEXT` for an empty reason.
 */
export async function eraseNote(
  context: WriteContext,
  caller: Caller,
  namespace: string,
  id: NoteId,
  reason: string,
): Promise<FeedbackNote> {
  requireRole(caller, 'admin');
  const scope = checkNamespace(namespace);
  requireGrant(caller, scope);
  const why = cleanReason(reason, context);
  const note = await changeNote(context, {
    caller,
    namespace: scope,
    id,
    change: (before) =>
      isErased(before)
        ? undefined
        : {
            set: {
              status: transition(before.status, 'erase'),
              wrongAnswer: ERASED_TEXT,
              correction: ERASED_TEXT,
              lesson: ERASED_TEXT,
              attributes: {},
              sources: before.sources.map(anonymous),
              findings: [],
              mergeCandidate: undefined,
              contestedBy: undefined,
              anchors: undefined,
            },
            vectors: null,
            action: 'erased',
            reason: why,
          },
  });
  await context.catchUp();
  return note;
}

const anonymous = ({ kind, tool, at }: NoteSource): NoteSource => ({
  kind,
  ...(tool === undefined ? {} : { tool }),
  ...(at === undefined ? {} : { at }),
});
