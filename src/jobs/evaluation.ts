import type { Caller } from '../domain/api-key.js';
import { evaluate } from '../evaluation/evaluate.js';
import { savedGoldenSet } from '../evaluation/golden-versions.js';
import { recordRun } from '../evaluation/run-history.js';
import type { Store } from '../ports/note-store.js';
import type { RetrievalQueries } from '../ports/use-cases.js';
import type { JobHandler } from './job-handler.js';

const EVALUATOR: Caller = { name: 'job:EVALUATION', roles: ['reader'], origin: { via: 'JOB' } };

export interface EvaluationJobDeps {
  readonly store: Store;
  readonly retrieval: Pick<RetrievalQueries, 'retrieve'>;
}

/** Runs the namespace's saved golden set (by note id) through the read path and records the run. */
export function evaluationHandler({ store, retrieval }: EvaluationJobDeps): JobHandler {
  return async ({ job, checkpoint }) => {
    const namespace = job.namespace ?? 'default';
    const golden = await savedGoldenSet(store.settings, namespace);
    let pending: Promise<void> = Promise.resolve();
    let failure: unknown;
    const report = await evaluate({
      retrieval: {
        async retrieve(caller, request) {
          await pending;
          if (failure !== undefined) throw failure;
          return retrieval.retrieve(caller, request);
        },
      },
      caller: EVALUATOR,
      namespace,
      golden,
      resolve: (key) => key,
      onProgress: (done, total) => {
        pending = checkpoint({ done, total }).catch((error: unknown) => {
          failure = error;
        });
      },
    });
    await pending;
    // By the job's id: one that was killed behind this line and is run again leaves one run, not two.
    await recordRun(store.settings, report, job.id);
    const { recallAt3, mrr, abstentionRate } = report.all;
    return `recall@3 ${recallAt3.toFixed(3)}, MRR ${mrr.toFixed(3)}, abstained ${abstentionRate.toFixed(3)} over ${report.all.queries} queries`;
  };
}
