import type { Instant, NoteId } from './note.js';

/** What happened to a note (or, without a note, to the installation). Append-only. */
export interface AuditEvent {
  /** `{noteId}:{version}` for a note's change, so that writing it twice is harmless; else a random UUID. */
  readonly id: string;
  readonly at: Instant;
  /** Name of the API key, or `cli`, `import`, `job:{kind}`. */
  readonly actor: string;
  /** `created`, `updated`, `support-added`, `approved`, `rejected`, `merged`, `kept`, `replaced`, `deprecated`, `restored`, `edited`, `expired`, `embedded`, `erased`, `outcome`, `demoted`, `version-restored`, `answer-judged`, `key-created`, `key-revoked`. */
  readonly action: string;
  readonly namespace?: string | undefined;
  readonly noteId?: NoteId | undefined;
  readonly reason?: string | undefined;
  /** One `field: before → after` a change, without note text. */
  readonly changes: readonly string[];
}

/** The part of an event that the writer knows; the store adds id, namespace and noteId for note changes. */
export type AuditDraft = Pick<AuditEvent, 'at' | 'actor' | 'action' | 'reason' | 'changes'>;
