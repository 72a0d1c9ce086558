import { isGranted } from '../domain/access.js';
import type { Caller } from '../domain/api-key.js';
import { actorOf } from '../domain/audit.js';
import { checkText } from '../domain/check-text.js';
import { ErrataError } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import { cleanComment } from './clean-reason.js';
import type { WriteContext } from './note-deps.js';

export interface AnswerReport {
  readonly caller: Caller;
  readonly receiptId: string;
  /** Whether what the checker said, with this answer's lessons or without, held true. */
  readonly correct: boolean;
  readonly comment?: string | undefined;
}

/**
 * Says whether the check that an answer was given to came out right: what trials (`withholdShare`) compare. Once a receipt;
 * false where it had been said before.
 *
 * Errors: `RECEIPT_NOT_FOUND`, also for a receipt outside the caller's namespaces.
 */
export async function recordAnswer(context: WriteContext, report: AnswerReport): Promise<boolean> {
  const { caller, correct } = report;
  const { store, clock } = context;
  const receiptId = checkText(report.receiptId, 'receiptId', LIMITS.attributeValueLength);
  const reason = cleanComment(report.comment, context);
  const receipt = await store.receipts.get(receiptId);
  if (receipt === undefined || !isGranted(caller, receipt.namespace)) {
    throw new ErrataError('RECEIPT_NOT_FOUND', 'Expected the id of a stored receipt, received another');
  }
  const isFirst = await store.audit.append({
    id: `answer:${receiptId}`,
    at: clock.now(),
    ...actorOf(caller),
    action: 'answer-judged',
    namespace: receipt.namespace,
    reason,
    changes: [`correct: ${correct}`],
  });
  if (isFirst) await store.trials.settle(receiptId, correct);
  return isFirst;
}
