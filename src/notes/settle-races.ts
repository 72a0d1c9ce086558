import type { Caller } from '../domain/api-key.js';
import type { FeedbackNote, NoteId } from '../domain/note.js';
import type { SubmitResult } from '../ports/use-cases.js';
import { changeNote } from './change-note.js';
import { markContested } from './contest.js';
import {
  candidateOf,
  findNearDuplicateAmong,
  type NearDuplicate,
  type NewLesson,
} from './find-near-duplicate.js';
import type { WriteContext } from './note-deps.js';
import type { Plan } from './plan-chunk.js';
import { neededApprovals, readReviewPolicy } from './review-policy.js';
import { joinSources } from './sources.js';

/** Change entries read at once; more than this in the milliseconds of one write means that an import runs beside it. */
const WINDOW = 200;

/**
 * Two processes that submit near duplicates at once cannot see each other's note when they look for neighbours. The dense
 * change log settles it afterwards: entries between the look-up (`since`) and this write's own entry are the ones that were
 * missed, and whoever stands later in the log gives way. The earlier one finds nothing before it, so exactly one does.
 *
 * One read of the log a chunk; more only where another process has written.
 */
export async function settleRaces(
  context: WriteContext,
  caller: Caller,
  since: number,
  plans: readonly Plan[],
  results: readonly SubmitResult[],
): Promise<readonly SubmitResult[]> {
  const own = new Set(
    plans.flatMap((plan, index) =>
      plan.kind === 'insert' && results[index]?.note?.version === 1 ? [plan.lesson.id] : [],
    ),
  );
  if (own.size === 0) return results;
  const missed = await writtenBefore(context, since, own, 'first');
  if (missed.length === 0) return results;
  const settled: SubmitResult[] = [];
  for (const [index, result] of results.entries()) {
    const plan = plans[index];
    const near =
      plan?.kind === 'insert' && own.has(plan.lesson.id)
        ? await nearOfMissed(context, plan.lesson, result.note, missed)
        : NOTHING;
    settled.push(near.kind === 'none' ? result : await giveWay(context, caller, result, near));
  }
  await context.catchUp();
  return settled;
}

/**
 * The same for one note that a reviewer has just let go live, or edited: what another process wrote since its look-up, and before it,
 * is proposed beside it. It is never merged away: somebody has just said that it is wanted.
 */
export async function settleReviewed(
  context: WriteContext,
  caller: Caller,
  since: number,
  lesson: NewLesson,
  note: FeedbackNote,
): Promise<FeedbackNote> {
  const missed = await writtenBefore(context, since, new Set([note.id]), 'last');
  const others = missed.filter((id) => !note.supersedes.includes(id));
  const near = await nearOfMissed(context, lesson, note, others);
  if (near.kind === 'none') return note;
  return (await propose(context, caller, note, near)).proposed;
}

const NOTHING: NearDuplicate = { kind: 'none' };

/** A waiting note is compared with what waits, too, unless it has a candidate already. */
async function nearOfMissed(
  context: WriteContext,
  lesson: NewLesson,
  note: FeedbackNote | undefined,
  missed: readonly NoteId[],
): Promise<NearDuplicate> {
  if (missed.length === 0) return NOTHING;
  if (note?.status === 'ACTIVE') return findNearDuplicateAmong(context, lesson, missed);
  if (note?.status !== 'PENDING' || note.mergeCandidate !== undefined) return NOTHING;
  return findNearDuplicateAmong(context, lesson, missed, ['ACTIVE', 'PENDING']);
}

/** Ids of the entries after `since` and before the first, or the last, that holds one of `own`. */
async function writtenBefore(
  { store }: WriteContext,
  since: number,
  own: ReadonlySet<NoteId>,
  which: 'first' | 'last',
): Promise<readonly NoteId[]> {
  const seen: NoteId[] = [];
  let [revision, before] = [since, 0];
  for (;;) {
    const { changes } = await store.notes.changesSince(revision, WINDOW);
    for (const change of changes) {
      if (change.noteIds.some((id) => own.has(id))) {
        before = seen.length;
        if (which === 'first') return seen;
      } else seen.push(...change.noteIds);
    }
    const last = changes.at(-1);
    if (last === undefined) return which === 'first' ? seen : seen.slice(0, before);
    revision = last.revision;
  }
}

/** The later note becomes the earlier one's support, or a proposal that waits beside it. */
async function giveWay(
  context: WriteContext,
  caller: Caller,
  result: SubmitResult,
  near: Exclude<NearDuplicate, { readonly kind: 'none' }>,
): Promise<SubmitResult> {
  const { note } = result;
  if (note === undefined) return result;
  const { namespace, id } = note;
  const { noteId, similarity } = near;
  if (near.kind === 'duplicate' && !near.waiting) {
    const duplicateOf = await changeNote(context, {
      caller,
      namespace,
      id: noteId,
      change: (before) => {
        const { sources } = joinSources(before.sources, note.sources);
        return sources === before.sources
          ? undefined
          : { set: { sources, supportCount: sources.length }, action: 'support-added' };
      },
    });
    await changeNote(context, {
      caller,
      namespace,
      id,
      change: () => ({ set: { status: 'DEPRECATED', supersededBy: noteId }, action: 'merged' }),
    });
    return { outcome: 'DUPLICATE', duplicateOf, similarity, findings: result.findings };
  }
  const { proposed, duplicateOf } = await propose(context, caller, note, near);
  return { ...result, outcome: 'MERGE_PROPOSED', note: proposed, duplicateOf, similarity };
}

/** Shows a note beside the one that was missed; one that reverses it waits where the policy says so. */
async function propose(
  context: WriteContext,
  caller: Caller,
  { namespace, id }: FeedbackNote,
  near: Exclude<NearDuplicate, { readonly kind: 'none' }>,
): Promise<{ readonly proposed: FeedbackNote; readonly duplicateOf: FeedbackNote | undefined }> {
  const policy = await readReviewPolicy(context.store, namespace);
  const reverses = near.kind === 'opposite' ? near.impact : undefined;
  const proposed = await changeNote(context, {
    caller,
    namespace,
    id,
    change: (note) => {
      if (note.status === 'DEPRECATED') return undefined;
      const set = { mergeCandidate: candidateOf(near) };
      // What went live needs nothing but for what it reverses.
      const { required } = neededApprovals(policy, note, { reverses });
      if (required === 0 || reverses === undefined) return { set, action: 'updated' };
      if (note.review === undefined) {
        return { set: { ...set, status: 'PENDING' }, action: 'updated', cause: 'contradiction', required };
      }
      const review = {
        ...note.review,
        required: Math.max(note.review.required, required),
        byOthers: note.review.byOthers || required >= 2,
      };
      return { set: { ...set, review }, action: 'updated' };
    },
  });
  const duplicateOf =
    near.kind === 'opposite'
      ? await markContested(context, { caller, namespace, older: near.noteId, newer: id })
      : await context.store.notes.get(namespace, near.noteId);
  return { proposed, duplicateOf };
}
