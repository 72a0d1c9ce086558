import type { Caller, Role } from './api-key.js';
import { ErrataError } from './errors.js';

const RANK: Readonly<Record<Role, number>> = { reader: 1, reviewer: 2, admin: 3 };

/** Roles imply each other: admin > reviewer > reader. */
export function hasRole(caller: Caller, role: Role): boolean {
  return caller.roles.some((held) => RANK[held] >= RANK[role]);
}

/** Errors: `FORBIDDEN`. */
export function requireRole(caller: Caller, role: Role): void {
  if (hasRole(caller, role)) return;
  throw new ErrataError('FORBIDDEN', `Expected a key with role ${role}, received one without it`, {
    details: { role },
  });
}

/** Whether the caller's grants hold a namespace; no grants at all mean every namespace. */
export function isGranted(caller: Caller, namespace: string): boolean {
  return caller.namespaces === undefined || caller.namespaces.includes(namespace);
}

/** Errors: `FORBIDDEN`, before anything is looked up, so that an answer never tells what exists elsewhere. */
export function requireGrant(caller: Caller, namespace: string): void {
  if (isGranted(caller, namespace)) return;
  throw new ErrataError('FORBIDDEN', 'Expected a granted namespace for namespace, received another one', {
    details: { field: 'namespace' },
  });
}
