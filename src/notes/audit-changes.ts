import type { Caller } from '../domain/api-key.js';
import { type AuditDraft, actorOf } from '../domain/audit.js';
import type { FeedbackNote, Instant } from '../domain/note.js';
import type { NoteWrite } from '../ports/note-store.js';

const NONE = 'none';
const short = (id: string): string => id.slice(0, 12);

/** Fields whose values may stand in the audit log: none of them holds a note's text. */
const SHOWN: readonly [string, (note: NoteWrite) => string][] = [
  ['status', (note) => note.status],
  ['impact', (note) => note.impact],
  ['supportCount', (note) => String(note.supportCount)],
  ['expiresAt', (note) => note.expiresAt ?? NONE],
  ['reviewAfter', (note) => note.reviewAfter ?? NONE],
  ['supersedes', (note) => note.supersedes.map(short).join(' ') || NONE],
  ['supersededBy', (note) => (note.supersededBy === undefined ? NONE : short(note.supersededBy))],
  [
    'mergeCandidate',
    (note) => (note.mergeCandidate === undefined ? NONE : short(note.mergeCandidate.noteId)),
  ],
  ['contestedBy', (note) => (note.contestedBy === undefined ? NONE : short(note.contestedBy))],
  [
    'anchors',
    (note) =>
      note.anchors
        ?.map(({ kind, changedTo }) => `${kind}${changedTo === undefined ? '' : ' changed'}`)
        .join(' ') || NONE,
  ],
  ['assignee', (note) => note.review?.assignee ?? NONE],
  ['approvals', (note) => String(note.review?.approvals.length ?? 0)],
  ['dueAt', (note) => note.review?.dueAt ?? NONE],
  ['escalations', (note) => String(note.review?.escalations ?? 0)],
  ['findings', (note) => note.findings.map(({ rule }) => rule).join(' ') || NONE],
];

/** `field: before → after` lines, attributes by key only; for a new note, what differs from nothing. */
export function describeChanges(before: NoteWrite | undefined, after: NoteWrite): readonly string[] {
  const lines = SHOWN.flatMap(([field, show]) => {
    const [from, to] = [before === undefined ? NONE : show(before), show(after)];
    return from === to ? [] : [`${field}: ${from} → ${to}`];
  });
  const keys = new Set([...Object.keys(before?.attributes ?? {}), ...Object.keys(after.attributes)]);
  const changed = [...keys].filter((key) => before?.attributes[key] !== after.attributes[key]).sort();
  return changed.length === 0 ? lines : [...lines, `attributes: ${changed.join(', ')}`];
}

export interface AuditInput {
  readonly caller: Caller;
  readonly at: Instant;
  readonly action: string;
  readonly reason?: string | undefined;
}

/** The audit event of a change. */
export function auditDraft(
  { caller, at, action, reason }: AuditInput,
  before: FeedbackNote | undefined,
  after: NoteWrite,
): AuditDraft {
  return { at, ...actorOf(caller), action, reason, changes: describeChanges(before, after) };
}
