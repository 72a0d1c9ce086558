import type { Caller, Role } from '../domain/api-key.js';
import { ErrataError } from '../domain/errors.js';
import type { NamespaceScope } from '../ports/note-store.js';

export const DEFAULT_NAMESPACE = 'default';

const RANK: Readonly<Record<Role, number>> = { reader: 1, reviewer: 2, admin: 3 };

/** Roles imply each other: admin > reviewer > reader. */
export function hasRole(caller: Caller, role: Role): boolean {
  return caller.roles.some((held) => RANK[held] >= RANK[role]);
}

/** Errors: `FORBIDDEN`. Every resolver of Query, Mutation and Subscription calls it first; a test walks them all. */
export function requireRole(caller: Caller, role: Role): void {
  if (!hasRole(caller, role)) {
    throw new ErrataError(
      'FORBIDDEN',
      `Expected role ${role} for this operation, received a key without it`,
      {
        details: { role },
      },
    );
  }
}

/** Grants of a caller as a scope for lists. */
export function grantedScope(caller: Caller): NamespaceScope {
  return caller.namespaces ?? 'all';
}

export function isGranted(caller: Caller, namespace: string): boolean {
  return caller.namespaces === undefined || caller.namespaces.includes(namespace);
}

/**
 * Checks a namespace that the caller named before anything is looked up, so that an answer never tells what exists elsewhere.
 *
 * Errors: `FORBIDDEN`.
 */
export function requireNamespace(caller: Caller, namespace: string | null | undefined): string {
  const named = namespace ?? DEFAULT_NAMESPACE;
  if (!isGranted(caller, named)) {
    throw new ErrataError('FORBIDDEN', 'Expected a granted namespace for namespace, received another one', {
      details: { field: 'namespace' },
    });
  }
  return named;
}

/** A list's scope: the namespace asked for, else everything that the caller may see. Errors: `FORBIDDEN`. */
export function scopeFor(caller: Caller, namespace: string | null | undefined): NamespaceScope {
  return namespace == null ? grantedScope(caller) : [requireNamespace(caller, namespace)];
}

/** For what spans every namespace, such as a job without one. Errors: `FORBIDDEN` for a key with limited grants. */
export function requireEveryNamespace(caller: Caller): void {
  if (caller.namespaces !== undefined) {
    throw new ErrataError(
      'FORBIDDEN',
      'Expected a namespace for namespace, received none from a limited key',
      {
        details: { field: 'namespace' },
      },
    );
  }
}
