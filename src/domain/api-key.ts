import type { CallOrigin } from './audit.js';
import type { Instant } from './note.js';

export const ROLES = ['reader', 'reviewer', 'admin'] as const;
/** reader: queries; reviewer: also writes and decisions; admin: also keys, jobs and erasure. */
export type Role = (typeof ROLES)[number];

/** A stored key. The key itself is never stored, only its SHA-256 (keys hold 256 random bits, so no slow hash is needed). */
export interface ApiKeyRecord {
  readonly name: string;
  readonly keyHash: string;
  readonly roles: readonly Role[];
  /** None: every namespace. */
  readonly namespaces?: readonly string[] | undefined;
  readonly createdAt: Instant;
  readonly revokedAt?: Instant | undefined;
}

/** Who calls: what authentication found, and what use cases write into the audit log. */
export interface Caller {
  readonly name: string;
  readonly roles: readonly Role[];
  readonly namespaces?: readonly string[] | undefined;
  /** From where the call comes, for the audit log. */
  readonly origin?: CallOrigin | undefined;
}
