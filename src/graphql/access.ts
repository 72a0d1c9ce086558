import { requireGrant } from '../domain/access.js';
import type { Caller } from '../domain/api-key.js';
import { ErrataError } from '../domain/errors.js';
import { checkNamespace } from '../domain/validate-correction.js';
import type { NamespaceScope } from '../ports/note-store.js';

/** Grants of a caller as a scope for lists. */
export function grantedScope(caller: Caller): NamespaceScope {
  return caller.namespaces ?? 'all';
}

/**
 * Checks a namespace that the caller named before anything is looked up, so that an answer never tells what exists elsewhere.
 *
 * Errors: `INVALID_INPUT` for what can name no namespace (an empty answer would look like an empty one), `FORBIDDEN`.
 */
export function requireNamespace(caller: Caller, namespace: string | null | undefined): string {
  const named = checkNamespace(namespace);
  requireGrant(caller, named);
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
