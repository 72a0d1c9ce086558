import type { Instant, NoteId } from './note.js';

/**
 * A coin that was tossed over one eligible note of one answer: served as always, or withheld. Only trials are compared with
 * each other, so that what made a note eligible cannot pass for its effect.
 */
export interface Trial {
  readonly receiptId: string;
  readonly namespace: string;
  readonly noteId: NoteId;
  readonly withheld: boolean;
  readonly at: Instant;
  /** Whether the check came out right; absent until somebody has said so. */
  readonly correct?: boolean | undefined;
}
