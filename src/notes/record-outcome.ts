import type { Caller } from '../domain/api-key.js';
import { actorOf } from '../domain/audit.js';
import { checkText } from '../domain/check-text.js';
import { ErrataError } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import type { NoteId } from '../domain/note.js';
import { VERDICTS, type Verdict } from '../ports/use-cases.js';
import { noteNotFound } from './change-note.js';
import { cleanComment } from './clean-reason.js';
import { demoteIfHarmful } from './demote-harmful.js';
import type { WriteContext } from './note-deps.js';

const COUNTS = { HELPFUL: 'helpful', HARMFUL: 'harmful', IGNORED: 'ignored' } as const;

export interface OutcomeRequest {
  readonly caller: Caller;
  readonly receiptId: string;
  readonly noteId: NoteId;
  readonly verdict: Verdict;
  readonly comment?: string | undefined;
}

/**
 * Counts a verdict on a note of an answer, once a receipt and note: true when it was counted, false when one had been
 * before. The audit event comes first, so that a crash in between loses a count rather than counting twice.
 *
 * Errors: `RECEIPT_NOT_FOUND` (also for a receipt outside the caller's namespaces), `NOTE_NOT_FOUND` where the answer did
 * not hold the note, `INVALID_INPUT` for another verdict.
 */
export async function recordOutcome(context: WriteContext, request: OutcomeRequest): Promise<boolean> {
  const { caller, receiptId, noteId } = request;
  const verdict = VERDICTS.find((known) => known === request.verdict);
  if (verdict === undefined) {
    throw new ErrataError(
      'INVALID_INPUT',
      `Expected ${VERDICTS.join(', ')} for verdict, received another value`,
    );
  }
  const reason = cleanComment(request.comment, context);
  const receipt = await context.store.receipts.get(
    checkText(receiptId, 'receiptId', LIMITS.attributeValueLength),
  );
  if (
    receipt === undefined ||
    (caller.namespaces !== undefined && !caller.namespaces.includes(receipt.namespace))
  ) {
    throw new ErrataError('RECEIPT_NOT_FOUND', 'Expected the id of a stored receipt, received another');
  }
  if (!receipt.notes.some((note) => note.noteId === noteId)) {
    throw noteNotFound(1);
  }
  // The store takes an event id once, whichever process asks first: that decides who counts.
  const isFirst = await context.store.audit.append({
    id: `outcome:${receiptId}:${noteId}`,
    at: context.clock.now(),
    ...actorOf(caller),
    action: 'outcome',
    namespace: receipt.namespace,
    noteId,
    reason,
    changes: [`verdict: ${verdict}`],
  });
  if (isFirst) {
    await context.store.notes.addOutcome(receipt.namespace, noteId, { [COUNTS[verdict]]: 1 });
    if (verdict === 'HARMFUL') await demoteIfHarmful(context, receipt.namespace, noteId);
  }
  return isFirst;
}
