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
import { changeNote, type NoteChange } from './change-note.js';
import { newDoubts } from './new-doubts.js';
import type { WriteContext } from './note-deps.js';
import type { PreparedCorrection } from './prepare-correction.js';
import { neededApprovals, readReviewPolicy } from './review-policy.js';
import { joinSources } from './sources.js';

const finding = (rule: string, field: string, reason: string): Finding => ({ rule, field, reason });

/**
 * The same correction again: what it brings that is new (attributes, expiry, review date, a source, a higher impact) goes
 * into the stored note; when it brings nothing, no version is made. Impact never falls: an edge that fills in NORMAL must not
 * undo a reviewer's HIGH.
 *
 * What it brings besides a source is judged as a new note's would be: where the screen doubts it, or the policy asks for approvals,
 * a live note waits for a reviewer from now on, and a waiting one waits for what more is asked, without the approvals that were given
 * to what it was. A deprecated note takes it up only where nothing would have to wait. Nothing goes live here.
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
  let waits = false;
  const note = await changeNote(context, {
    caller,
    namespace: prepared.namespace,
    id: prepared.id,
    change: async (before) => {
      waits = false;
      if (isErased(before)) {
        return undefined;
      }
      const joined = joinSources(before.sources, [prepared.source]);
      dropped = joined.dropped;
      const added = joined.sources === before.sources ? {} : withSources(joined.sources);
      const details = changedDetails(before, prepared);
      const wanted =
        Object.keys(details).length === 0
          ? { set: {} }
          : await judgeDetails(context, caller, { before, details, prepared });
      const set = { ...added, ...wanted.set };
      unchanged = Object.keys(set).length === 0;
      waits = before.status === 'ACTIVE' && wanted.set.status !== undefined;
      return unchanged ? undefined : { ...wanted, set, action: 'updated' };
    },
  });
  const held = note.status === 'QUARANTINED' ? 'QUARANTINED' : 'NEEDS_REVIEW';
  return {
    outcome: waits ? held : 'UPDATED',
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

const withSources = (sources: readonly NoteSource[]) => ({ sources, supportCount: sources.length });

/** What becomes of a note's new details, as of a new note's. The policy is read only here: most that is submitted again brings none. */
export async function judgeDetails(
  { store }: WriteContext,
  caller: Caller,
  given: {
    readonly before: FeedbackNote;
    readonly details: Partial<NoteWrite>;
    readonly prepared: PreparedCorrection;
  },
): Promise<Pick<NoteChange, 'set' | 'cause' | 'required' | 'coAuthor'>> {
  const { before, details, prepared } = given;
  const doubts = newDoubts(before, prepared);
  const doubt = doubts.length > 0;
  const policy = await readReviewPolicy(store, before.namespace);
  // By its own source: a known author of the note has said nothing of these.
  const judged = { ...before, ...details, sources: [prepared.source] };
  const need = neededApprovals(policy, judged, { doubt });
  if (need.required === 0) return { set: details };
  if (before.status === 'DEPRECATED') return { set: {} };
  const status = doubt ? ('QUARANTINED' as const) : ('PENDING' as const);
  const findings = doubt ? { findings: [...before.findings, ...doubts] } : {};
  if (before.status === 'ACTIVE') {
    return { set: { ...details, ...findings, status }, ...need, coAuthor: caller.name };
  }
  const set = { ...details, ...findings, ...(doubt && { status }) };
  if (before.review === undefined) return { set };
  const { required, byOthers, submittedBy, coAuthors = [] } = before.review;
  const review = {
    ...before.review,
    required: Math.max(required, need.required),
    byOthers: byOthers || need.required >= 2,
    approvals: [],
    ...(submittedBy !== caller.name && { coAuthors: [...new Set([...coAuthors, caller.name])] }),
  };
  return { set: { ...set, review } };
}

function changedDetails(before: FeedbackNote, prepared: PreparedCorrection): Partial<NoteWrite> {
  const { attributes, impact, expiresAt, reviewAfter, anchors } = prepared;
  const higher = impact !== undefined && IMPACTS.indexOf(impact) > IMPACTS.indexOf(before.impact);
  const given = Object.keys(attributes).length > 0;
  return {
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
