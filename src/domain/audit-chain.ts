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

/** Lower-case hex SHA-256 over the event's fields as a JSON list: lists keep their order, unlike objects. */
export function eventDigest(event: AuditEvent): string {
  const { id, at, actor, action, namespace, noteId, reason, changes } = event;
  return sha256(
    JSON.stringify([id, at, actor, action, namespace ?? null, noteId ?? null, reason ?? null, changes]),
  );
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
