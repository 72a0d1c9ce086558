import type { Anchor } from '../domain/anchor.js';
import type { Caller } from '../domain/api-key.js';
import { isErased } from '../domain/lifecycle.js';
import {
  type Attributes,
  type FeedbackNote,
  type Finding,
  IMPACTS,
  type NoteId,
  type NoteSource,
} from '../domain/note.js';
import type { NoteWrite } from '../ports/note-store.js';
import type { SubmitResult } from '../ports/use-cases.js';
import { changeNote } from './change-note.js';
import type { WriteContext } from './note-deps.js';
import type { PreparedCorrection } from './prepare-correction.js';
import { joinSources } from './sources.js';

const finding = (rule: string, field: string, reason: string): Finding => ({ rule, field, reason });

/**
 * The same correction again: what it brings that is new (attributes, expiry, review date, a source, a higher impact) goes
 * into the stored note; when it brings nothing, no version is made. Status never changes here. Impact never falls: an edge
 * that fills in NORMAL must not undo a reviewer's HIGH.
 *
 * Errors: `VERSION_CONFLICT` after the policy's attempts, store errors.
 */
export async function mergeResubmission(
  context: WriteContext,
  caller: Caller,
  prepared: PreparedCorrection,
): Promise<SubmitResult> {
  let dropped = 0;
  let unchanged = true;
  const note = await changeNote(context, {
    caller,
    namespace: prepared.namespace,
    id: prepared.id,
    change: (before) => {
      if (isErased(before)) {
        return undefined;
      }
      const joined = joinSources(before.sources, [prepared.source]);
      dropped = joined.dropped;
      const set = resubmissionChanges(before, prepared, joined.sources);
      unchanged = Object.keys(set).length === 0;
      return unchanged ? undefined : { set, action: 'updated' };
    },
  });
  return {
    outcome: 'UPDATED',
    ...(unchanged ? { unchanged } : {}),
    note,
    findings: [...prepared.findings, ...stateFindings(note), ...fullFindings(dropped)],
  };
}

/**
 * A near duplicate's source goes to the note that says the same; its own text is not stored. Undefined, and nothing
 * written, where that note has meanwhile been taken out of service: then the correction must not vanish into it.
 */
export async function addSupport(
  context: WriteContext,
  caller: Caller,
  prepared: PreparedCorrection,
  target: { readonly noteId: NoteId; readonly similarity: number },
): Promise<SubmitResult | undefined> {
  let dropped = 0;
  let alive = true;
  const duplicateOf = await changeNote(context, {
    caller,
    namespace: prepared.namespace,
    id: target.noteId,
    change: (before) => {
      const joined = joinSources(before.sources, [prepared.source]);
      dropped = joined.dropped;
      alive = before.status === 'ACTIVE';
      return !alive || joined.sources === before.sources
        ? undefined
        : {
            set: { sources: joined.sources, supportCount: joined.sources.length },
            action: 'support-added',
          };
    },
  });
  if (!alive) {
    return undefined;
  }
  return {
    outcome: 'DUPLICATE',
    duplicateOf,
    similarity: target.similarity,
    findings: [...prepared.findings, ...fullFindings(dropped)],
  };
}

function resubmissionChanges(
  before: FeedbackNote,
  prepared: PreparedCorrection,
  sources: readonly NoteSource[],
): Partial<NoteWrite> {
  const { attributes, impact, expiresAt, reviewAfter, anchors } = prepared;
  const higher = impact !== undefined && IMPACTS.indexOf(impact) > IMPACTS.indexOf(before.impact);
  const given = Object.keys(attributes).length > 0;
  return {
    ...(sources === before.sources ? {} : { sources, supportCount: sources.length }),
    ...(given && !sameAttributes(before.attributes, attributes) ? { attributes } : {}),
    ...(higher ? { impact } : {}),
    ...(expiresAt === undefined || expiresAt === before.expiresAt ? {} : { expiresAt }),
    ...(reviewAfter === undefined || reviewAfter === before.reviewAfter ? {} : { reviewAfter }),
    ...changedAnchors(before.anchors ?? [], anchors),
  };
}

function fullFindings(dropped: number): readonly Finding[] {
  return dropped > 0 ? [finding('limits.sources', 'source', 'The note holds as many sources as it may')] : [];
}

function stateFindings(note: FeedbackNote): readonly Finding[] {
  if (isErased(note)) {
    return [finding('lifecycle.erased-resubmitted', 'status', 'This correction was erased; it stays so')];
  }
  return note.status === 'DEPRECATED'
    ? [
        finding(
          'lifecycle.deprecated-resubmitted',
          'status',
          'This correction is deprecated; submitting it again does not bring it back, restoring it does',
        ),
      ]
    : [];
}

/**
 * The anchors given take the place of those held; none given: they stay. Another state of one that is held is no edit but a
 * change for a reviewer to judge (`report-named-anchors.ts`), and one that was reported since stays reported.
 */
function changedAnchors(
  held: readonly Anchor[],
  given: readonly Anchor[],
): { readonly anchors?: readonly Anchor[] } {
  if (given.length === 0 || held.some(({ changedTo }) => changedTo !== undefined)) return {};
  const anchors = given.map(
    (anchor) => held.find(({ kind, ref }) => kind === anchor.kind && ref === anchor.ref) ?? anchor,
  );
  const same = anchors.length === held.length && anchors.every((anchor) => held.includes(anchor));
  return same ? {} : { anchors };
}

function sameAttributes(a: Attributes, b: Attributes): boolean {
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key])
  );
}
