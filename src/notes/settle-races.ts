import type { Caller } from '../domain/api-key.js';
import type { NoteId } from '../domain/note.js';
import type { SubmitResult } from '../ports/use-cases.js';
import { changeNote } from './change-note.js';
import { markContested } from './contest.js';
import { findNearDuplicateAmong, type NearDuplicate } from './find-near-duplicate.js';
import type { WriteContext } from './note-deps.js';
import type { Plan } from './plan-chunk.js';
import { neededApprovals, openReview, readReviewPolicy } from './review-policy.js';
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
  const missed = await writtenBefore(context, since, own);
  if (missed.length === 0) return results;
  const settled: SubmitResult[] = [];
  for (const [index, result] of results.entries()) {
    const plan = plans[index];
    if (plan?.kind !== 'insert' || result.note?.status !== 'ACTIVE' || !own.has(plan.lesson.id)) {
      settled.push(result);
      continue;
    }
    const near = await findNearDuplicateAmong(context, plan.lesson, missed);
    settled.push(near.kind === 'none' ? result : await giveWay(context, caller, result, near));
  }
  await context.catchUp();
  return settled;
}

/** Ids of the entries after `since` and before the first that holds one of `own`. */
async function writtenBefore(
  { store }: WriteContext,
  since: number,
  own: ReadonlySet<NoteId>,
): Promise<readonly NoteId[]> {
  const missed: NoteId[] = [];
  let revision = since;
  for (;;) {
    const { changes } = await store.notes.changesSince(revision, WINDOW);
    for (const change of changes) {
      if (change.noteIds.some((id) => own.has(id))) return missed;
      missed.push(...change.noteIds);
    }
    const last = changes.at(-1);
    if (last === undefined) return missed;
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
  if (near.kind === 'duplicate') {
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
  const policy = await readReviewPolicy(context.store, namespace);
  // What went live needs nothing but for what it reverses.
  const need = neededApprovals(policy, note, {
    reverses: near.kind === 'opposite' ? near.impact : undefined,
  });
  const held = {
    status: 'PENDING' as const,
    review: openReview(policy, need, context.clock.now(), caller.name),
  };
  const proposed = await changeNote(context, {
    caller,
    namespace,
    id,
    change: () => ({
      set: { mergeCandidate: { noteId, similarity }, ...(need.required > 0 && held) },
      action: 'updated',
    }),
  });
  const duplicateOf =
    near.kind === 'opposite'
      ? await markContested(context, { caller, namespace, older: noteId, newer: id })
      : await context.store.notes.get(namespace, noteId);
  return { ...result, outcome: 'MERGE_PROPOSED', note: proposed, duplicateOf, similarity };
}
