import { requireGrant } from '../domain/access.js';
import { type Anchor, checkAnchor } from '../domain/anchor.js';
import type { Caller } from '../domain/api-key.js';
import { transition } from '../domain/lifecycle.js';
import { LIMITS } from '../domain/limits.js';
import type { FeedbackNote } from '../domain/note.js';
import { checkNamespace } from '../domain/validate-correction.js';
import type { PersonalDataOptions } from '../guard/personal-data.js';
import { redactSecrets } from '../guard/redact-secrets.js';
import type { Keyset } from '../ports/note-store.js';
import type { AnchorReport, AnchorReportRequest } from '../ports/review-commands.js';
import { changeNote, type NoteChange } from './change-note.js';
import type { WriteContext } from './note-deps.js';

/**
 * Something that notes depend on is now in another state: live notes leave retrieval at once and wait for a reviewer, whose
 * approval accepts the new state; waiting notes keep what they wait for and say what changed. Reported in the state that a note
 * knows, a note that has not been demoted yet is told that nothing changed. With `dryRun` nothing is written.
 *
 * Errors: `INVALID_INPUT`, `INVALID_TEXT`, `INPUT_TOO_LARGE`, `FORBIDDEN`, store errors.
 */
export async function reportAnchor(
  context: WriteContext,
  caller: Caller,
  request: AnchorReportRequest,
): Promise<AnchorReport> {
  const namespace = checkNamespace(request.namespace);
  requireGrant(caller, namespace);
  const reported = cleanAnchor(checkAnchor(request), context);
  return applyAnchorChange(context, caller, {
    ...{ namespace, anchor: reported, dryRun: request.dryRun === true },
    applies: () => true,
  });
}

interface AnchorChange {
  readonly namespace: string;
  /** As it is now; clean. */
  readonly anchor: Anchor;
  readonly dryRun: boolean;
  /** Whether a note, which holds the anchor as given, is to be told. Pure. */
  readonly applies: (note: FeedbackNote, held: Anchor) => boolean;
}

/** Tells every note that depends on an anchor what it is now. Errors: `changeNote`'s. */
export async function applyAnchorChange(
  context: WriteContext,
  caller: Caller,
  { namespace, anchor, dryRun, applies }: AnchorChange,
): Promise<AnchorReport> {
  const change = (note: FeedbackNote): NoteChange | undefined => {
    const held = note.anchors?.find((other) => isAt(other, anchor));
    return held !== undefined && applies(note, held) ? changeOf(note, held, anchor) : undefined;
  };
  const notes = await notesAt(context, namespace, anchor);
  const changed = notes.filter((note) => change(note) !== undefined);
  const demoted = changed.filter(({ status }) => status === 'ACTIVE');
  if (!dryRun) {
    for (const { id } of changed) await changeNote(context, { caller, namespace, id, change });
    if (changed.length > 0) await context.catchUp();
  }
  return {
    matched: notes.length,
    changed: changed.map(({ id }) => id),
    demoted: demoted.map(({ id }) => id),
    dryRun,
  };
}

/** References may be addresses, and addresses may hold passwords. */
export function cleanAnchor({ kind, ref, state }: Anchor, { phones }: PersonalDataOptions): Anchor {
  const clean = (text: string): string => redactSecrets(text, { phones }).text;
  return { kind, ref: clean(ref), state: clean(state) };
}

/** Notes of a namespace that depend on it, oldest first. */
export async function notesAt(
  { store }: WriteContext,
  namespace: string,
  { kind, ref }: Pick<Anchor, 'kind' | 'ref'>,
): Promise<readonly FeedbackNote[]> {
  const found: FeedbackNote[] = [];
  let after: Keyset | undefined;
  for (;;) {
    const page = await store.notes.list([namespace], { anchor: { kind, ref } }, 'CREATED_ASC', {
      limit: LIMITS.pageSize,
      after,
    });
    found.push(...page.items.filter(({ anchors }) => anchors?.some((held) => isAt(held, { kind, ref }))));
    after = page.keysets.at(-1);
    if (!page.hasNext || after === undefined) return found;
  }
}

function changeOf(note: FeedbackNote, held: Anchor, reported: Anchor): NoteChange | undefined {
  if (note.status === 'DEPRECATED') return undefined;
  const changedTo = held.state === reported.state ? undefined : reported.state;
  if (changedTo === held.changedTo) return undefined;
  const anchors = note.anchors?.map((anchor) =>
    anchor === held
      ? { kind: held.kind, ref: held.ref, state: held.state, ...(changedTo && { changedTo }) }
      : anchor,
  );
  const demotes = note.status === 'ACTIVE' && changedTo !== undefined;
  return {
    set: { anchors, ...(demotes && { status: transition(note.status, 'demote') }) },
    action: demotes ? 'demoted' : 'updated',
    reason: `${held.kind} anchor ${changedTo === undefined ? 'is as it was' : 'changed'}`,
    ...(demotes && { cause: 'anchor-changed' as const }),
  };
}

function isAt(anchor: Anchor, { kind, ref }: Pick<Anchor, 'kind' | 'ref'>): boolean {
  return anchor.kind === kind && anchor.ref === ref;
}
