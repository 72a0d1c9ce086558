import { ErrataError } from './errors.js';
import type { NoteStatus } from './note.js';

/** What can happen to a note's status. Everything else about a note changes without touching it. */
export type LifecycleEvent =
  | 'approve'
  | 'reject'
  | 'merge'
  | 'keep-both'
  | 'replace'
  | 'deprecate'
  | 'supersede'
  | 'restore'
  | 'demote'
  | 'erase';

/**
 * The whole life of a note. A missing cell is refused with `INVALID_TRANSITION`. `restore` names the furthest a restored
 * note may come; see `restoredStatus` for where it comes to. Nothing leaves QUARANTINED towards ACTIVE but an approval.
 */
const TRANSITIONS: Readonly<Record<LifecycleEvent, Partial<Record<NoteStatus, NoteStatus>>>> = {
  approve: { PENDING: 'ACTIVE', QUARANTINED: 'ACTIVE' },
  reject: { PENDING: 'DEPRECATED', QUARANTINED: 'DEPRECATED' },
  // From ACTIVE: a note that went live with a proposal to merge it.
  merge: { PENDING: 'DEPRECATED', ACTIVE: 'DEPRECATED' },
  'keep-both': { PENDING: 'ACTIVE', ACTIVE: 'ACTIVE' },
  replace: { PENDING: 'ACTIVE', ACTIVE: 'ACTIVE' },
  deprecate: {
    PENDING: 'DEPRECATED',
    ACTIVE: 'DEPRECATED',
    QUARANTINED: 'DEPRECATED',
    DEPRECATED: 'DEPRECATED',
  },
  supersede: {
    PENDING: 'DEPRECATED',
    ACTIVE: 'DEPRECATED',
    QUARANTINED: 'DEPRECATED',
    DEPRECATED: 'DEPRECATED',
  },
  // Out of retrieval and before a reviewer at once: too many verdicts of harm.
  demote: { ACTIVE: 'PENDING' },
  restore: { DEPRECATED: 'ACTIVE', ACTIVE: 'ACTIVE' },
  erase: {
    PENDING: 'DEPRECATED',
    ACTIVE: 'DEPRECATED',
    QUARANTINED: 'DEPRECATED',
    DEPRECATED: 'DEPRECATED',
  },
};

/** The status after an event. Errors: `INVALID_TRANSITION` naming the statuses that would do. */
export function transition(from: NoteStatus, event: LifecycleEvent): NoteStatus {
  const to = TRANSITIONS[event][from];
  if (to === undefined) {
    const allowed = Object.keys(TRANSITIONS[event]).join(' or ');
    throw new ErrataError('INVALID_TRANSITION', `Expected status ${allowed} for ${event}, received ${from}`, {
      details: { status: from, event },
    });
  }
  return to;
}

/**
 * Where a restored note comes to, given the status that its last deprecation took it from: a note that no reviewer had
 * approved waits for one again instead of going live by the back door.
 */
export function restoredStatus(before: NoteStatus | undefined): NoteStatus {
  return before === 'PENDING' || before === 'QUARANTINED' ? before : 'ACTIVE';
}

/** Texts of an erased note. Its id stays, so that the same correction cannot come back unseen. */
export const ERASED_TEXT = '[ERASED]';

/** Whether a note is the tombstone of an erasure. */
export function isErased(note: {
  readonly lesson: string;
  readonly wrongAnswer: string;
  readonly correction: string;
  readonly status: NoteStatus;
}): boolean {
  return (
    note.status === 'DEPRECATED' &&
    note.lesson === ERASED_TEXT &&
    note.correction === ERASED_TEXT &&
    note.wrongAnswer === ERASED_TEXT
  );
}
