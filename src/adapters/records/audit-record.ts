import type { AuditEvent } from '../../domain/audit.js';

/** An audit event from a record of any store, or undefined where a field has a wrong type. */
export function readAuditEvent(record: Readonly<Record<string, unknown>>): AuditEvent | undefined {
  const { id, at, actor, action, namespace, noteId, reason, changes } = record;
  if (![id, at, actor, action].every((value) => typeof value === 'string')) return undefined;
  if (![namespace, noteId, reason].every((value) => value == null || typeof value === 'string'))
    return undefined;
  if (!Array.isArray(changes) || !changes.every((change) => typeof change === 'string')) return undefined;
  return {
    id: id as string,
    at: at as string,
    actor: actor as string,
    action: action as string,
    ...(namespace == null ? {} : { namespace: namespace as string }),
    ...(noteId == null ? {} : { noteId: noteId as string }),
    ...(reason == null ? {} : { reason: reason as string }),
    changes,
  };
}
