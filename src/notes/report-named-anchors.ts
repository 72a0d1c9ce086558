import type { Anchor } from '../domain/anchor.js';
import type { Caller } from '../domain/api-key.js';
import type { Instant, NoteId } from '../domain/note.js';
import type { SubmitResult } from '../ports/use-cases.js';
import type { WriteContext } from './note-deps.js';
import type { PreparedCorrection } from './prepare-correction.js';
import { applyAnchorChange } from './report-anchor.js';

/** What one correction of a chunk says about something that notes depend on. */
interface Named {
  /** Of the correction in its chunk. */
  readonly index: number;
  readonly namespace: string;
  readonly anchor: Anchor;
  /** Since when it is known: notes that were made later know better. */
  readonly knownAt: Instant;
}

/**
 * A correction that names an anchor in another state than stored notes do reports that it changed: those notes leave retrieval
 * at once and wait for a reviewer, as after `reportAnchor`. Notes made after the correction's `createdAt` (none: now) are left
 * alone, and so are all by a repeat that says what its note says already, so that reading an old file once more changes
 * nothing. What the screen doubts reports nothing. Of one chunk the newest word on an anchor counts, at equal times the last.
 *
 * Nothing is asked of the store where no correction names an anchor; one list an anchor otherwise. Errors: `changeNote`'s.
 */
export async function reportNamedAnchors(
  context: WriteContext,
  caller: Caller,
  chunk: readonly PreparedCorrection[],
  results: readonly SubmitResult[],
): Promise<readonly SubmitResult[]> {
  const demoted = new Map<number, NoteId[]>();
  for (const { index, namespace, anchor, knownAt } of newestWords(context, chunk, results)) {
    const { demoted: ids } = await applyAnchorChange(context, caller, {
      ...{ namespace, anchor, dryRun: false },
      applies: (note, { state }) => note.createdAt <= knownAt && state !== anchor.state,
    });
    if (ids.length > 0) demoted.set(index, [...(demoted.get(index) ?? []), ...ids]);
  }
  if (demoted.size === 0) return results;
  const all = new Set([...demoted.values()].flat());
  return Promise.all(
    results.map(async (result, index) => {
      const { note, duplicateOf } = result;
      const current = async (held: typeof note) =>
        held !== undefined && all.has(held.id) ? context.store.notes.get(held.namespace, held.id) : held;
      return {
        ...result,
        ...(note !== undefined && { note: await current(note) }),
        ...(duplicateOf !== undefined && { duplicateOf: await current(duplicateOf) }),
        ...(demoted.has(index) && { demoted: demoted.get(index) }),
      };
    }),
  );
}

function newestWords(
  context: WriteContext,
  chunk: readonly PreparedCorrection[],
  results: readonly SubmitResult[],
): readonly Named[] {
  const newest = new Map<string, Named>();
  for (const [index, { namespace, anchors, createdAt, quarantined }] of chunk.entries()) {
    const { note, unchanged } = results[index] ?? {};
    for (const anchor of quarantined ? [] : anchors) {
      const held = note?.anchors?.find(({ kind, ref }) => kind === anchor.kind && ref === anchor.ref);
      const repeats = unchanged === true && held?.state === anchor.state;
      const knownAt = (repeats ? note?.createdAt : createdAt) ?? context.clock.now();
      const key = JSON.stringify([namespace, anchor.kind, anchor.ref]);
      const other = newest.get(key);
      if (other === undefined || other.knownAt <= knownAt) {
        newest.set(key, { index, namespace, anchor, knownAt });
      }
    }
  }
  return [...newest.values()];
}
