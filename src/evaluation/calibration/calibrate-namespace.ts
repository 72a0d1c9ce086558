import { randomUUID } from 'node:crypto';
import type { Caller } from '../../domain/api-key.js';
import { actorOf } from '../../domain/audit.js';
import type { Calibration } from '../../domain/calibration.js';
import { ErrataError } from '../../domain/errors.js';
import { RISKS } from '../../domain/retrieval.js';
import { checkNamespace } from '../../domain/validate-correction.js';
import type { Clock } from '../../ports/clock.js';
import type { CalibrateRequest, Evaluations } from '../../ports/evaluations.js';
import type { Store } from '../../ports/note-store.js';
import type { RetrievalQueries } from '../../ports/use-cases.js';
import type { Calibrations } from '../../retrieval/calibrations.js';
import { parseGoldenSet } from '../golden-set.js';
import { goldenSetting } from '../golden-versions.js';
import { calibrate } from './calibrate.js';
import { type CollectedScores, collectScores, splitQueries } from './collect-scores.js';

/** One in twenty. */
export const DEFAULT_ALPHA = 0.05;
/** Below, a promise needs ever more queries (999 for .001); above, it is none. */
const ALPHA_RANGE = [0.001, 0.5] as const;
/** What `retrieve` gives unless it is asked for another number. */
const FINAL_K = 3;

export interface CalibratorDeps {
  readonly store: Pick<Store, 'settings' | 'audit'>;
  readonly retrieval: Pick<RetrievalQueries, 'retrieve'>;
  readonly calibrations: Calibrations;
  readonly clock: Clock;
  /** Digest of the fitted weights in use, and the texts of queries that they were fitted on. */
  readonly scoreFit: string | null;
  readonly fittedOn: () => ReadonlySet<string>;
}

/** Fits thresholds for answers with and without reranker on a namespace's golden set. */
export function createCalibrator(
  deps: CalibratorDeps,
): Pick<Evaluations, 'calibrate' | 'calibrations' | 'clearCalibrations'> {
  const { store, calibrations, clock } = deps;
  const record = (
    caller: Caller,
    namespace: string,
    action: string,
    changes: readonly string[],
    id: string = randomUUID(),
  ) => store.audit.append({ id, at: clock.now(), ...actorOf(caller), namespace, action, changes });
  return {
    calibrations: (namespace) => calibrations.list(namespace),
    async calibrate(caller, request) {
      const namespace = checkNamespace(request.namespace);
      const made = await fitThresholds(deps, caller, namespace, request);
      if (request.dryRun === true) return made;
      for (const calibration of made) await calibrations.put(calibration);
      await record(
        caller,
        namespace,
        'calibrated',
        made.map(
          ({ rerankModel, scoreScale, pooled, alpha }) =>
            `threshold: ${pooled.value} on ${scoreScale} (${rerankModel ?? 'no reranker'}), alpha ${alpha}`,
        ),
        request.jobId === undefined ? undefined : `calibrated:${request.jobId}`,
      );
      return made;
    },
    async clearCalibrations(caller, input) {
      const namespace = checkNamespace(input);
      const cleared = await calibrations.clear(namespace);
      if (cleared) await record(caller, namespace, 'calibrations-cleared', []);
      return cleared;
    },
  };
}

async function fitThresholds(
  deps: CalibratorDeps,
  caller: Caller,
  namespace: string,
  request: CalibrateRequest,
): Promise<readonly Calibration[]> {
  const alpha = checkAlpha(request.alpha ?? DEFAULT_ALPHA);
  const jsonl = request.golden ?? (await deps.store.settings.get(goldenSetting(namespace)));
  if (jsonl === undefined) {
    throw new ErrataError('INVALID_INPUT', `Expected a saved golden set for ${namespace}, received none`, {
      details: { field: 'namespace' },
    });
  }
  const golden = parseGoldenSet(jsonl, 'the golden set');
  const queries = splitQueries(golden.queries, deps.fittedOn());
  const byOrigin = new Map<string, CollectedScores>();
  const total = queries.length * RISKS.length;
  let done = 0;
  // LOW asks without a reranker: another scale, and so a threshold of its own.
  for (const risk of RISKS) {
    const collected = await collectScores({
      retrieval: deps.retrieval,
      caller,
      namespace,
      queries,
      risk,
      resolve: (key) => key,
      signal: request.signal,
      onQuery: () => request.onProgress?.(++done, total),
    });
    byOrigin.set(JSON.stringify(collected.origin), collected);
  }
  const createdAt = deps.clock.now();
  return [...byOrigin.values()].map((collected) =>
    calibrate(collected, {
      namespace,
      alpha,
      goldenDigest: golden.digest,
      createdAt,
      createdBy: caller.name,
      scoreFit: deps.scoreFit,
      finalK: FINAL_K,
    }),
  );
}

function checkAlpha(alpha: number): number {
  const [low, high] = ALPHA_RANGE;
  if (alpha >= low && alpha <= high) return alpha;
  throw new ErrataError(
    'INVALID_INPUT',
    `Expected a share from ${low} to ${high} for alpha, received ${alpha}`,
    {
      details: { field: 'alpha' },
    },
  );
}
