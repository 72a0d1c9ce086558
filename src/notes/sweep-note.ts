import type { Caller } from '../domain/api-key.js';
import { transition } from '../domain/lifecycle.js';
import { LIMITS } from '../domain/limits.js';
import type { FeedbackNote, Instant, NoteId } from '../domain/note.js';
import { daysAfter, isWaiting, type ReviewPolicy } from '../domain/review.js';
import type { Keyset, NamespaceScope } from '../ports/note-store.js';
import type { SweepAction } from '../ports/review-commands.js';
import { changeNote, type NoteChange } from './change-note.js';
import { restoreNotes } from './deprecate-restore.js';
import type { WriteContext } from './note-deps.js';
import { openReview, readReviewPolicy } from './review-policy.js';

export const SWEEPER: Caller = { name: 'job:STALENESS_SWEEP', roles: ['admin'], origin: { via: 'JOB' } };

const mark = (run: string): string => `sweep ${run}`;

/**
 * What time asks of a note: a live one expires or is due for another look; a waiting one is escalated when its due time has
 * passed, and given up when nobody has judged it for too long. Waiting notes never go live here. Pure.
 */
export function dueAction(note: FeedbackNote, policy: ReviewPolicy, now: Instant): SweepAction | undefined {
  if (note.status === 'ACTIVE') {
    if (note.expiresAt !== undefined && note.expiresAt <= now) return 'EXPIRED';
    const due = note.reviewAfter !== undefined && note.reviewAfter <= now;
    return due && policy.demoteWhenDue ? 'REVIEW_DUE' : undefined;
  }
  if (!isWaiting(note.status)) return undefined;
  if (note.review === undefined) return 'ESCALATED';
  if (daysAfter(note.review.openedAt, policy.giveUpDays) <= now) return 'GIVEN_UP';
  return note.review.dueAt <= now ? 'ESCALATED' : undefined;
}

/** Does what is due to a note as it is now; undefined where nothing is any more. `run` is what `undoSweep` takes back. */
export async function sweepNote(
  context: WriteContext,
  namespace: string,
  id: NoteId,
  run: string,
): Promise<SweepAction | undefined> {
  const policy = await readReviewPolicy(context.store, namespace);
  const now = context.clock.now();
  let action: SweepAction | undefined;
  await changeNote(context, {
    caller: SWEEPER,
    namespace,
    id,
    change: (note) => {
      action = dueAction(note, policy, now);
      return action === undefined
        ? undefined
        : { ...CHANGES[action](note, policy, now), reason: reasonOf(action, run) };
    },
  });
  return action;
}

const CHANGES: Readonly<
  Record<SweepAction, (note: FeedbackNote, policy: ReviewPolicy, now: Instant) => NoteChange>
> = {
  EXPIRED: (note) => ({ set: { status: transition(note.status, 'deprecate') }, action: 'expired' }),
  REVIEW_DUE: (note) => ({
    set: { status: transition(note.status, 'demote') },
    action: 'demoted',
    cause: 'review-due',
  }),
  ESCALATED: (note, policy, now) => {
    // Notes that began to wait before there were due times get theirs now.
    const held = note.review ?? openReview(policy, { required: 1, cause: 'policy' }, now, SWEEPER.name);
    const escalations = note.review === undefined ? 0 : held.escalations + 1;
    return {
      set: { review: { ...held, escalations, dueAt: daysAfter(now, policy.dueDays) } },
      action: note.review === undefined ? 'updated' : 'escalated',
    };
  },
  GIVEN_UP: (note) => ({ set: { status: transition(note.status, 'reject') }, action: 'expired' }),
};

/** Why, in the words of the audit log and of reports. */
export const REASONS: Readonly<Record<SweepAction, string>> = {
  EXPIRED: 'expired',
  REVIEW_DUE: 'due for another look',
  ESCALATED: 'past its due time',
  GIVEN_UP: 'nobody judged it in time',
};

const reasonOf = (action: SweepAction, run: string): string => `${REASONS[action]} (${mark(run)})`;

/** What a sweep did, by the reason that its audit event gives; undefined for events of another run. */
export function actionOfReason(reason: string | undefined, run: string): SweepAction | undefined {
  return (Object.keys(REASONS) as SweepAction[]).find((action) => reasonOf(action, run) === reason);
}

/**
 * Takes back what a sweep did: notes that it expired, gave up or demoted are what they were, unless somebody has changed them
 * since. Escalations stay: they were news, not changes. Gives how many notes came back.
 */
export async function undoSweep(
  context: WriteContext,
  scope: NamespaceScope,
  run: string,
  since: Instant,
): Promise<number> {
  const wanted = mark(run);
  let [after, undone]: [Keyset | undefined, number] = [undefined, 0];
  for (;;) {
    const page = await context.store.audit.list(
      scope,
      { actor: SWEEPER.name },
      { limit: LIMITS.pageSize, after },
    );
    for (const { id, namespace, noteId, reason, action } of page.items) {
      if (namespace === undefined || noteId === undefined || reason?.includes(wanted) !== true) continue;
      if (action !== 'expired' && action !== 'demoted') continue;
      const note = await context.store.notes.get(namespace, noteId);
      // Events carry the version they made: a later one means that somebody has decided since.
      if (note === undefined || id !== `${noteId}:${note.version}`) continue;
      await giveBack(context, note, wanted);
      undone += 1;
    }
    after = page.keysets.at(-1);
    const oldest = page.items.at(-1);
    if (!page.hasNext || after === undefined || oldest === undefined || oldest.at < since) break;
  }
  await context.catchUp();
  return undone;
}

async function giveBack(context: WriteContext, note: FeedbackNote, mark: string): Promise<void> {
  const { namespace, id } = note;
  if (note.status === 'DEPRECATED') {
    await restoreNotes(context, { caller: SWEEPER, namespace, ids: [id], reason: `undone: ${mark}` });
    return;
  }
  await changeNote(context, {
    caller: SWEEPER,
    namespace,
    id,
    change: (before) =>
      before.version === note.version
        ? {
            set: { status: transition(before.status, 'approve') },
            action: 'restored',
            reason: `undone: ${mark}`,
          }
        : undefined,
  });
}
