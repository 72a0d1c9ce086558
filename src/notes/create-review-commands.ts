import { silentLogger } from '../ports/logger.js';
import type { ReviewCommands } from '../ports/review-commands.js';
import { createNoteEmbedder } from './embed-notes.js';
import { KeyedMutex } from './keyed-mutex.js';
import { DEFAULT_WRITE_POLICY, type NoteCommandDeps, type WriteContext } from './note-deps.js';
import { reportAnchor } from './report-anchor.js';
import { reviewMetrics } from './review-metrics.js';
import { readReviewPolicy, saveReviewPolicy } from './review-policy.js';
import { assignReview, commentNote, decideMany } from './review-queue.js';
import { sweepNote, undoSweep } from './sweep-note.js';
import { countSwept, keepDryRun, sweepReport } from './sweep-report.js';

/** The queue of notes that wait, and what puts notes there: time and changed anchors. */
export function createReviewCommands(deps: NoteCommandDeps): ReviewCommands {
  const context: WriteContext = {
    ...deps,
    policy: { ...DEFAULT_WRITE_POLICY, ...deps.policy },
    logger: deps.logger ?? silentLogger,
    locks: deps.locks ?? new KeyedMutex(),
  };
  const embed = createNoteEmbedder(deps.embedder);
  return {
    policy: (namespace) => readReviewPolicy(deps.store, namespace),
    setPolicy: (caller, namespace, policy) => saveReviewPolicy(context, caller, namespace, policy),
    assign: (caller, namespace, id, assignee) => assignReview(context, { caller, namespace, id }, assignee),
    comment: (caller, namespace, id, comment) => commentNote(context, { caller, namespace, id }, comment),
    decideMany: (caller, request) => decideMany(context, embed, caller, request),
    metrics: (scope, days) => reviewMetrics(context, scope, days),
    reportAnchor: (caller, request) => reportAnchor(context, caller, request),
    async sweepNote(namespace, id, run) {
      const action = await sweepNote(context, namespace, id, run);
      if (action !== undefined && action !== 'ESCALATED') await context.catchUp();
      return action;
    },
    keepDryRun: (run, entries) => keepDryRun(deps.store.settings, run, entries),
    sweepReport: (scope, run, window) => sweepReport(context, scope, run, window),
    swept: (scope, run, since) => countSwept(context, scope, run, since),
    undoSweep: (scope, run, since) => undoSweep(context, scope, run, since),
  };
}
