import { ErrataError } from '../../domain/errors.js';
import type { FeedbackNote, Impact, Instant, NoteStatus } from '../../domain/note.js';
import type { Keyset, NoteOrder } from '../../ports/note-store.js';

/** Names of sort keys as records hold them. The note's id always comes last. */
export type NoteSortKey = 'createdAt' | 'updatedAt' | 'openedAt' | 'risk' | 'id';

export interface SortOrder<Key extends string> {
  readonly keys: readonly Key[];
  /** One direction for all keys, so that one index serves both directions and positions compare as tuples. */
  readonly descending: boolean;
}

export const NOTE_ORDERS: Readonly<Record<NoteOrder, SortOrder<NoteSortKey>>> = {
  CREATED_DESC: { keys: ['createdAt', 'id'], descending: true },
  CREATED_ASC: { keys: ['createdAt', 'id'], descending: false },
  UPDATED_DESC: { keys: ['updatedAt', 'id'], descending: true },
  RISK_DESC: { keys: ['risk', 'openedAt', 'id'], descending: false },
};

/** `version` is 0 for events of no note; it keeps the events of one note in order within a millisecond. */
export type AuditSortKey = 'at' | 'version' | 'id';
export const AUDIT_ORDER: SortOrder<AuditSortKey> = { keys: ['at', 'version', 'id'], descending: true };

const IMPACT_RANK: Readonly<Record<Impact, number>> = { HIGH: 0, NORMAL: 1, LOW: 2 };

/** 0 is what a reviewer should see first: quarantined notes by impact, then all others by impact. */
export function riskRank(note: { status: NoteStatus; impact: Impact }): number {
  return (note.status === 'QUARANTINED' ? 0 : 3) + IMPACT_RANK[note.impact];
}

/** When a note entered the queue; of one that does not wait when it was made. */
export function openedAtOf({ review, createdAt }: Pick<FeedbackNote, 'review' | 'createdAt'>): Instant {
  return review?.openedAt ?? createdAt;
}

/** Position of a note in an order. */
export function noteKeyset(note: FeedbackNote, order: NoteOrder): Keyset {
  return NOTE_ORDERS[order].keys.map((key) => {
    if (key === 'risk') return riskRank(note);
    return key === 'openedAt' ? openedAtOf(note) : note[key];
  });
}

const NUMERIC_KEYS: ReadonlySet<string> = new Set<NoteSortKey | AuditSortKey>(['risk', 'version']);

/** Refuses a position of another order or with other types (`INVALID_CURSOR`), before it reaches a query. */
export function checkKeyset<Key extends string>(keyset: Keyset | undefined, order: SortOrder<Key>): void {
  if (keyset === undefined) return;
  const fits =
    keyset.length === order.keys.length &&
    order.keys.every((key, i) => typeof keyset[i] === (NUMERIC_KEYS.has(key) ? 'number' : 'string'));
  if (fits) return;
  const message = `Expected a position of (${order.keys.join(', ')}) for the page, received another shape`;
  throw new ErrataError('INVALID_CURSOR', message);
}

/** < 0 where `a` comes first in ascending order. Text compares by code unit: keys are ASCII. */
export function compareKeysets(a: Keyset, b: Keyset): number {
  for (let i = 0; i < a.length; i += 1) {
    const [x, y] = [a[i] as string | number, b[i] as string | number];
    if (x !== y) return x < y ? -1 : 1;
  }
  return 0;
}
