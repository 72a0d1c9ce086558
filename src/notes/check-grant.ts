import type { Caller, Role } from '../domain/api-key.js';
import { ErrataError } from '../domain/errors.js';

/**
 * Second line behind the edges' own checks: no use case writes outside the caller's namespaces.
 * Errors: `FORBIDDEN`.
 */
export function checkGrant(caller: Caller, namespace: string): void {
  if (caller.namespaces !== undefined && !caller.namespaces.includes(namespace)) {
    throw new ErrataError(
      'FORBIDDEN',
      'Expected a key with a grant for the namespace, received one without',
      {
        details: { field: 'namespace' },
      },
    );
  }
}

/** Errors: `FORBIDDEN`. */
export function checkRole(caller: Caller, role: Role): void {
  if (!caller.roles.includes(role)) {
    throw new ErrataError('FORBIDDEN', `Expected a key with the role ${role}, received one without`);
  }
}
