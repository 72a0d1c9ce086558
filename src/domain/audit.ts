import type { Instant, NoteId } from './note.js';

export const ORIGIN_KINDS = ['API', 'CLI', 'IMPORT', 'JOB'] as const;
export type OriginKind = (typeof ORIGIN_KINDS)[number];

/** From where a call came, as far as the server knows. */
export interface CallOrigin {
  readonly via: OriginKind;
  /** Of the connection: behind a proxy the proxy's, since what a header says of another anybody may write. */
  readonly address?: string | undefined;
  /** What the client calls itself, redacted and cut. */
  readonly client?: string | undefined;
}

/** What happened to a note (or, without a note, to the installation). Append-only. */
export interface AuditEvent {
  /** `{noteId}:{version}` for a note's change, so that writing it twice is harmless; else a random UUID. */
  readonly id: string;
  readonly at: Instant;
  /** Name of the API key, or `cli`, `import`, `job:{kind}`. */
  readonly actor: string;
  /** From where; absent from events of earlier versions, and where a use case acts by itself. */
  readonly origin?: CallOrigin | undefined;
  /** `created`, `updated`, `support-added`, `approved`, `rejected`, `merged`, `kept`, `replaced`, `deprecated`, `restored`, `edited`, `expired`, `embedded`, `erased`, `outcome`, `demoted`, `version-restored`, `answer-judged`, `key-created`, `key-revoked`. */
  readonly action: string;
  readonly namespace?: string | undefined;
  readonly noteId?: NoteId | undefined;
  readonly reason?: string | undefined;
  /** One `field: before → after` a change, without note text. */
  readonly changes: readonly string[];
}

/** What an event says of who acts, and from where. */
export function actorOf(caller: {
  readonly name: string;
  readonly origin?: CallOrigin | undefined;
}): Pick<AuditEvent, 'actor' | 'origin'> {
  return { actor: caller.name, ...(caller.origin && { origin: caller.origin }) };
}

/** The part of an event that the writer knows; the store adds id, namespace and noteId for note changes. */
export type AuditDraft = Pick<AuditEvent, 'at' | 'actor' | 'origin' | 'action' | 'reason' | 'changes'>;
