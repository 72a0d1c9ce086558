import type { Caller } from '../domain/api-key.js';
import { checkText } from '../domain/check-text.js';
import { ErrataError } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import type { NoteId } from '../domain/note.js';
import type { Receipt } from '../domain/retrieval.js';
import type { Keyset } from '../ports/note-store.js';
import { VERDICTS, type Verdict } from '../ports/use-cases.js';
import { noteNotFound } from './change-note.js';
import { cleanComment } from './clean-reason.js';
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
  const reason = cleanComment(request.comment);
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
  return context.locks.run([`outcome ${receiptId}`], async () => {
    const id = `outcome:${receiptId}:${noteId}`;
    if (await isRecorded(context, receipt, noteId, id)) {
      return false;
    }
    await context.store.audit.append({
      id,
      at: context.clock.now(),
      actor: caller.name,
      action: 'outcome',
      namespace: receipt.namespace,
      noteId,
      reason,
      changes: [`verdict: ${verdict}`],
    });
    await context.store.notes.addOutcome(receipt.namespace, noteId, { [COUNTS[verdict]]: 1 });
    return true;
  });
}

/** Goes back through the note's history as far as the receipt's making: a verdict cannot be older. */
async function isRecorded(
  { store }: WriteContext,
  receipt: Receipt,
  noteId: NoteId,
  eventId: string,
): Promise<boolean> {
  let after: Keyset | undefined;
  for (;;) {
    const page = await store.audit.list([receipt.namespace], { noteId }, { limit: LIMITS.pageSize, after });
    if (page.items.some(({ id }) => id === eventId)) {
      return true;
    }
    after = page.keysets.at(-1);
    const oldest = page.items.at(-1);
    if (!page.hasNext || after === undefined || oldest === undefined || oldest.at < receipt.createdAt) {
      return false;
    }
  }
}
