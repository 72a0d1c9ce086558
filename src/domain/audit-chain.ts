import { createHash } from 'node:crypto';
import type { AuditEvent } from './audit.js';

/** What a link says of one event: its id and the digest of all its fields. */
export type SealedEvent = readonly [id: string, digest: string];

/** One link of the chain: `number` grows by exactly 1 from 1 on, `hash` covers everything before it. */
export interface AuditLink {
  readonly number: number;
  readonly events: readonly SealedEvent[];
  /** Hash of the link before; of the first link `GENESIS`. */
  readonly previous: string;
  readonly hash: string;
}

export const GENESIS = '0'.repeat(64);

/**
 * Lower-case hex SHA-256 over the event's fields as a JSON list: lists keep their order, unlike objects. Events that say from where
 * they came are digested in the second form, `2:` before it, which covers that as well; others in the first, as they were before
 * there were origins, so that old links still fit. Taking an origin away, or adding one, changes the form and so the digest.
 */
export function eventDigest(event: AuditEvent): string {
  const { id, at, actor, action, namespace, noteId, reason, changes, origin } = event;
  const fields = [id, at, actor, action, namespace ?? null, noteId ?? null, reason ?? null, changes];
  if (origin === undefined) return sha256(JSON.stringify(fields));
  const { via, address, client } = origin;
  return `2:${sha256(JSON.stringify([2, ...fields, [via, address ?? null, client ?? null]]))}`;
}

/** The link that follows; none before it: the first. */
export function nextLink(
  last: Pick<AuditLink, 'number' | 'hash'> | undefined,
  events: readonly SealedEvent[],
): AuditLink {
  const [number, previous] = [(last?.number ?? 0) + 1, last?.hash ?? GENESIS];
  return { number, events, previous, hash: linkHash(number, events, previous) };
}

/** Whether a link is what its own fields say it is. */
export function isIntact(link: AuditLink): boolean {
  return link.hash === linkHash(link.number, link.events, link.previous);
}

export function sealed(event: AuditEvent): SealedEvent {
  return [event.id, eventDigest(event)];
}

function linkHash(number: number, events: readonly SealedEvent[], previous: string): string {
  return sha256(JSON.stringify([number, previous, events]));
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
