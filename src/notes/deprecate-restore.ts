import { requireGrant } from '../domain/access.js';
import type { Caller } from '../domain/api-key.js';
import { isNoteId } from '../domain/content-hash.js';
import { ErrataError } from '../domain/errors.js';
import { isErased, restoredStatus, transition } from '../domain/lifecycle.js';
import { LIMITS } from '../domain/limits.js';
import { type FeedbackNote, NOTE_STATUSES, type NoteId, type NoteStatus } from '../domain/note.js';
import { checkNamespace } from '../domain/validate-correction.js';
import type { Keyset } from '../ports/note-store.js';
import { changeNote, noteNotFound } from './change-note.js';
import { cleanReason } from './clean-reason.js';
import type { WriteContext } from './note-deps.js';
import { doubtsAboutStored } from './screen-stored.js';

/** Which notes, and why. */
export interface BulkRequest {
  readonly caller: Caller;
  readonly namespace: string;
  readonly ids: readonly NoteId[];
  readonly reason: string;
}

/**
 * Takes notes out of service, whatever their status; deprecated ones stay as they are, without a new version. When it
 * resolves, the store says DEPRECATED, which every read asks, and this process's index has dropped them.
 *
 * Errors: `NOTE_NOT_FOUND` naming how many are missing, before anything is written; `INVALID_INPUT`, `INVALID_TEXT`,
 * `INPUT_TOO_LARGE`, `FORBIDDEN`.
 */
export async function deprecateNotes(
  context: WriteContext,
  request: BulkRequest,
): Promise<readonly FeedbackNote[]> {
  const { caller, namespace, ids, reason } = checkBulk(context, request);
  await requireAll(context, namespace, ids);
  const notes: FeedbackNote[] = [];
  for (const id of ids) {
    notes.push(
      await changeNote(context, {
        caller,
        namespace,
        id,
        change: (before) =>
          before.status === 'DEPRECATED'
            ? undefined
            : { set: { status: transition(before.status, 'deprecate') }, action: 'deprecated', reason },
      }),
    );
  }
  await context.catchUp();
  return notes;
}

/**
 * Undoes the last deprecation: a note that was active is active again; one that was never approved goes back to waiting
 * for a reviewer (PENDING or QUARANTINED). A restored note is no longer superseded, and the note that superseded it no
 * longer says so: restoring is the word that both may stand. What today's screen doubts anew is QUARANTINED. Active notes
 * stay as they are.
 *
 * Errors: as `deprecateNotes`; `INVALID_TRANSITION` for erased, pending and quarantined notes, before anything is written.
 */
export async function restoreNotes(
  context: WriteContext,
  request: BulkRequest,
): Promise<readonly FeedbackNote[]> {
  const { caller, namespace, ids, reason } = checkBulk(context, request);
  for (const note of await requireAll(context, namespace, ids)) {
    checkRestorable(note);
  }
  const notes: FeedbackNote[] = [];
  for (const id of ids) {
    notes.push(await restoreOne(context, { caller, namespace, id, reason }));
  }
  await context.catchUp();
  return notes;
}

async function restoreOne(
  context: WriteContext,
  { caller, namespace, id, reason }: { caller: Caller; namespace: string; id: NoteId; reason: string },
): Promise<FeedbackNote> {
  const before = await context.store.notes.get(namespace, id);
  if (before?.status === 'DEPRECATED' && before.supersededBy !== undefined) {
    await releaseFrom(context, { caller, namespace, id: before.supersededBy, reason }, id);
  }
  const status = restoredStatus(await statusBeforeDeprecation(context, namespace, id));
  return changeNote(context, {
    caller,
    namespace,
    id,
    change: async (note) => {
      checkRestorable(note);
      if (note.status === 'ACTIVE') return undefined;
      const set = { status, supersededBy: undefined };
      const doubts = await doubtsAboutStored(context, note);
      if (doubts.length === 0) return { set, action: 'restored', reason };
      const findings = [...note.findings, ...doubts];
      const held = { ...set, status: 'QUARANTINED' as const, findings };
      return { set: held, action: 'restored', reason, cause: 'screening' };
    },
  });
}

/** Takes `restored` out of the superseding note's list; a note that is gone has nothing to release. */
async function releaseFrom(
  context: WriteContext,
  { caller, namespace, id, reason }: { caller: Caller; namespace: string; id: NoteId; reason: string },
  restored: NoteId,
): Promise<void> {
  if ((await context.store.notes.get(namespace, id)) === undefined) {
    return;
  }
  await changeNote(context, {
    caller,
    namespace,
    id,
    change: ({ supersedes }) =>
      supersedes.includes(restored)
        ? { set: { supersedes: supersedes.filter((other) => other !== restored) }, action: 'updated', reason }
        : undefined,
  });
}

/** The status that the newest `status: X → DEPRECATED` line of the note's history names, however much was said since; none: unknown. */
async function statusBeforeDeprecation(
  { store }: WriteContext,
  namespace: string,
  id: NoteId,
): Promise<NoteStatus | undefined> {
  let after: Keyset | undefined;
  for (;;) {
    const page = await store.audit.list([namespace], { noteId: id }, { limit: LIMITS.pageSize, after });
    for (const change of page.items.flatMap(({ changes }) => changes)) {
      const from = /^status: (\w+) → DEPRECATED$/u.exec(change)?.[1];
      if (from !== undefined) return NOTE_STATUSES.find((status) => status === from);
    }
    after = page.keysets.at(-1);
    if (!page.hasNext || after === undefined) return undefined;
  }
}

function checkRestorable(note: FeedbackNote): void {
  transition(note.status, 'restore');
  if (isErased(note)) {
    throw new ErrataError(
      'INVALID_TRANSITION',
      'Expected a note with text for restore, received an erased one',
    );
  }
}

function checkBulk(context: WriteContext, request: BulkRequest): BulkRequest {
  const { caller, ids } = request;
  const namespace = checkNamespace(request.namespace);
  requireGrant(caller, namespace);
  const reason = cleanReason(request.reason, context);
  if (!Array.isArray(ids) || ids.length === 0) {
    throw new ErrataError('INVALID_INPUT', 'Expected at least one note id for ids, received none');
  }
  if (ids.length > LIMITS.batchSize) {
    throw new ErrataError(
      'INPUT_TOO_LARGE',
      `Expected at most ${LIMITS.batchSize} ids, received ${ids.length}`,
    );
  }
  return { caller, namespace, ids: [...new Set(ids)], reason };
}

async function requireAll(
  { store }: WriteContext,
  namespace: string,
  ids: readonly NoteId[],
): Promise<readonly FeedbackNote[]> {
  const notes = await store.notes.getMany(namespace, ids.filter(isNoteId));
  if (notes.length < ids.length) {
    throw noteNotFound(ids.length - notes.length);
  }
  return notes;
}
