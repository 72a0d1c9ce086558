import { type AuditEvent, type CallOrigin, ORIGIN_KINDS } from '../../domain/audit.js';
import type { AuditLink, SealedEvent } from '../../domain/audit-chain.js';

/** An audit event from a record of any store, or undefined where a field has a wrong type. */
export function readAuditEvent(record: Readonly<Record<string, unknown>>): AuditEvent | undefined {
  const { id, at, actor, action, namespace, noteId, reason, changes } = record;
  const origin = record.origin == null ? null : readOrigin(record.origin);
  if (origin === undefined) return undefined;
  if (![id, at, actor, action].every((value) => typeof value === 'string')) return undefined;
  if (![namespace, noteId, reason].every((value) => value == null || typeof value === 'string'))
    return undefined;
  if (!Array.isArray(changes) || !changes.every((change) => typeof change === 'string')) return undefined;
  return {
    id: id as string,
    at: at as string,
    actor: actor as string,
    ...(origin !== null && { origin }),
    action: action as string,
    ...(namespace == null ? {} : { namespace: namespace as string }),
    ...(noteId == null ? {} : { noteId: noteId as string }),
    ...(reason == null ? {} : { reason: reason as string }),
    changes,
  };
}

function readOrigin(value: unknown): CallOrigin | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const { via, address, client } = value as Readonly<Record<string, unknown>>;
  const known = ORIGIN_KINDS.find((kind) => kind === via);
  if (known === undefined) return undefined;
  if (![address, client].every((field) => field == null || typeof field === 'string')) return undefined;
  return {
    via: known,
    ...(address == null ? {} : { address: address as string }),
    ...(client == null ? {} : { client: client as string }),
  };
}

/** A link from a record of any store. A list that cannot be read is empty, which verification sees as a broken link. */
export function readAuditLink(record: {
  readonly number?: unknown;
  readonly events: string;
  readonly previous?: unknown;
  readonly hash?: unknown;
}): AuditLink {
  return {
    number: Number(record.number),
    events: parseSealed(record.events),
    previous: String(record.previous),
    hash: String(record.hash),
  };
}

function parseSealed(json: string): readonly SealedEvent[] {
  try {
    const list: unknown = JSON.parse(json);
    return Array.isArray(list) ? list.map((entry) => [String(entry?.[0]), String(entry?.[1])] as const) : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}
