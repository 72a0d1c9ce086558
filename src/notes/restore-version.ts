import { requireGrant } from '../domain/access.js';
import type { Anchor } from '../domain/anchor.js';
import type { Caller } from '../domain/api-key.js';
import { ErrataError } from '../domain/errors.js';
import { isErased } from '../domain/lifecycle.js';
import { LIMITS } from '../domain/limits.js';
import type { FeedbackNote, NoteId } from '../domain/note.js';
import { checkNamespace } from '../domain/validate-correction.js';
import { changeNote, type NoteChange, noteNotFound } from './change-note.js';
import { cleanReason } from './clean-reason.js';
import { judgeDetails } from './merge-resubmission.js';
import type { WriteContext } from './note-deps.js';
import { diffNotes } from './note-versions.js';
import { type PreparedCorrection, prepareCorrection } from './prepare-correction.js';
import { notesAt } from './report-anchor.js';
import { screenByModel } from './screen-by-model.js';

export interface VersionRestore {
  readonly caller: Caller;
  readonly namespace: string;
  readonly id: NoteId;
  readonly version: number;
  readonly reason: string;
}

/**
 * Gives a note the attributes, impact, dates and anchors that it had at an earlier version, as a new version. They are judged as a
 * submission's would be (`judgeDetails`): redacted and screened by today's rules, held to today's policy, and an anchor that other
 * notes know in another state by now makes the note wait. Its text stays, and with it what is near it; so does its status but for
 * that: going live or being taken out is for `review`, `deprecate` and `restore`, which have their own rules.
 *
 * Errors: `NOTE_NOT_FOUND`; `INVALID_INPUT` for a version that is not kept; `INVALID_TRANSITION` for an erased note, and for a
 * deprecated one where the version would have to wait for a reviewer.
 */
export async function restoreVersion(context: WriteContext, request: VersionRestore): Promise<FeedbackNote> {
  const { caller, id, version } = request;
  const namespace = checkNamespace(request.namespace);
  requireGrant(caller, namespace);
  const reason = cleanReason(request.reason, context);
  const held = await context.store.notes.get(namespace, id);
  if (held === undefined) throw noteNotFound(1);
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
  if (isErased(held)) {
    throw new ErrataError(
      'INVALID_TRANSITION',
      'Expected a note with text for restore, received an erased one',
    );
  }
  const prepared = await prepareState(context, caller, state);
  const anchors = await anchorsToday(context, held, prepared.anchors);
  const note = await changeNote(context, {
    caller,
    namespace,
    id,
    change: (before) => changeTo(context, caller, before, { state, prepared, anchors, reason }),
  });
  await context.catchUp();
  return note;
}

/** The earlier state as a correction that comes in today. */
async function prepareState(
  context: WriteContext,
  caller: Caller,
  state: FeedbackNote,
): Promise<PreparedCorrection> {
  const { namespace, taskType, wrongAnswer, correction, lesson, attributes, impact, anchors = [] } = state;
  const { classifier, phones, clock } = context;
  const given = prepareCorrection({ now: clock.now(), classifier, phones }, caller, {
    ...{ namespace, taskType, wrongAnswer, correction, lesson, attributes, impact },
    anchors: anchors.map(({ kind, ref, state: known }) => ({ kind, ref, state: known })),
  });
  const [prepared = given] = await screenByModel(context, [given]);
  return prepared;
}

interface EarlierState {
  readonly state: FeedbackNote;
  readonly prepared: PreparedCorrection;
  readonly anchors: readonly Anchor[];
  readonly reason: string;
}

async function changeTo(
  context: WriteContext,
  caller: Caller,
  before: FeedbackNote,
  { state, prepared, anchors, reason }: EarlierState,
): Promise<NoteChange | undefined> {
  const { impact, expiresAt, reviewAfter } = state;
  const { attributes } = prepared;
  const details = {
    ...{ attributes, impact, expiresAt, reviewAfter },
    ...((anchors.length > 0 || before.anchors !== undefined) && { anchors }),
  };
  if (diffNotes(before, { ...before, ...details }).length === 0) return undefined;
  const wanted = await judgeDetails(context, caller, { before, details, prepared });
  if (wanted.set.attributes === undefined) {
    throw new ErrataError(
      'INVALID_TRANSITION',
      'Expected a note in service for a version that has to wait for a reviewer, received a deprecated one',
    );
  }
  const stale = anchors.some(({ changedTo }) => changedTo !== undefined);
  const waits = stale && before.status === 'ACTIVE' && wanted.set.status === undefined;
  return {
    ...wanted,
    ...(waits && { set: { ...wanted.set, status: 'PENDING' as const }, cause: 'anchor-changed' as const }),
    action: 'version-restored',
    reason,
  };
}

/** Anchors of an earlier version as they are known today: by the note itself, else by whichever other note was told last. */
async function anchorsToday(
  context: WriteContext,
  { anchors: held = [], id, namespace }: FeedbackNote,
  earlier: readonly Anchor[],
): Promise<readonly Anchor[]> {
  return Promise.all(
    earlier.map(async (anchor) => {
      const own = held.find(({ kind, ref }) => kind === anchor.kind && ref === anchor.ref);
      if (own !== undefined) return own;
      const others = (await notesAt(context, namespace, anchor)).filter((note) => note.id !== id);
      const newest = others.toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))[0];
      const known = newest?.anchors?.find(({ kind, ref }) => kind === anchor.kind && ref === anchor.ref);
      const now = known?.changedTo ?? known?.state ?? anchor.state;
      return now === anchor.state ? anchor : { ...anchor, changedTo: now };
    }),
  );
}
