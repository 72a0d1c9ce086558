import type { Caller } from '../domain/api-key.js';
import { DEFAULT_NAMESPACE } from '../domain/validate-correction.js';
import type { SweepReport } from '../evaluation/sweep/run-sweep.js';
import { recordSweep } from '../evaluation/sweep/sweep-runs.js';
import { VARIANT_GROUPS, type VariantGroup } from '../evaluation/sweep/variants.js';
import type { Store } from '../ports/note-store.js';
import type { JobHandler } from './job-handler.js';
import { readWords } from './option-values.js';

export interface NamespaceSweep {
  readonly caller: Caller;
  readonly namespace: string;
  /** None: all. */
  readonly groups: readonly VariantGroup[] | undefined;
  readonly onProgress: (done: number, total: number) => Promise<void>;
  readonly signal: AbortSignal;
}

export interface SweepJobDeps {
  readonly store: Pick<Store, 'settings'>;
  /** Tries stages and settings on the namespace's saved golden set. Errors: `INVALID_INPUT` where none is saved. */
  readonly sweep: (request: NamespaceSweep) => Promise<SweepReport>;
}

const SWEEPER: Caller = { name: 'job:SWEEP', roles: ['reader'] };
const GROUPS = Object.keys(VARIANT_GROUPS) as readonly VariantGroup[];

/** Sweeps the namespace's saved golden set and keeps the table. Option `only`: groups with commas between. Begins anew where it was cut off. */
export function sweepHandler({ store, sweep }: SweepJobDeps): JobHandler {
  return async ({ job, checkpoint, signal }) => {
    const namespace = job.namespace ?? DEFAULT_NAMESPACE;
    const report = await sweep({
      ...{ caller: SWEEPER, namespace, groups: readWords(job.options, 'only', GROUPS), signal },
      onProgress: (done, total) => checkpoint({ done, total }),
    });
    // By the job's id, as an evaluation: one that is killed behind this line leaves one run, not two.
    const run = await recordSweep(store.settings, namespace, report, job.id);
    const shipped = report.rows.find((row) => row.shipped)?.tune.ndcgAt10;
    const best = Math.max(...report.rows.map(({ tune }) => tune.ndcgAt10));
    const shown = shipped === undefined ? '' : `, as shipped ${shipped.toFixed(3)}`;
    return `run ${run.id}: ${report.rows.length} variants over ${report.queries} queries, best nDCG@10 ${best.toFixed(3)}${shown}`;
  };
}
