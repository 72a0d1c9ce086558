import type {
  Calibration,
  ConformalThreshold,
  HeldOutFigures,
  HeldOutReport,
} from '../../domain/calibration.js';
import { type Share, wilson } from '../../domain/wilson.js';
import { mean } from '../statistics/describe-sample.js';
import type { CollectedScores, ScoredQuery } from './collect-scores.js';
import { conformalThreshold, queriesNeeded } from './conformal-threshold.js';
import { brierScores, fitMapping, type JudgedScore } from './probability-mapping.js';

export interface CalibrationFacts {
  readonly namespace: string;
  readonly alpha: number;
  readonly goldenDigest: string;
  readonly createdAt: string;
  readonly createdBy: string;
  readonly scoreFit: string | null;
  /** How many notes an answer holds at most: 3, unless callers ask for another number. */
  readonly finalK: number;
}

/** Fits thresholds and mapping on one half and reports on the other. Errors: `INVALID_INPUT` for too few queries without an answer. */
export function calibrate({ origin, queries }: CollectedScores, facts: CalibrationFacts): Calibration {
  const { finalK, ...kept } = facts;
  const fit = queries.filter((query) => query.fit);
  const held = queries.filter((query) => !query.fit);
  const without = fit.filter(({ expected }) => expected === 0);
  const pooled = conformalThreshold(without.map(bestScore), facts.alpha);
  const byTaskType: Record<string, ConformalThreshold> = {};
  for (const [taskType, own] of groupByTaskType(without)) {
    if (own.length >= queriesNeeded(facts.alpha)) {
      byTaskType[taskType] = conformalThreshold(own.map(bestScore), facts.alpha);
    }
  }
  const injectable = (list: readonly ScoredQuery[]): readonly JudgedScore[] =>
    list.flatMap(({ candidates }) => candidates.slice(0, finalK));
  const mapping = fitMapping(injectable(fit), origin.scoreScale);
  const thresholdFor = ({ taskType }: ScoredQuery): number =>
    ((taskType === undefined ? undefined : byTaskType[taskType]) ?? pooled).value;
  const base = mean(injectable(fit).map(({ expected }) => Number(expected)));
  const brier =
    mapping === undefined ? undefined : brierScores(mapping, origin.scoreScale, injectable(held), base);
  const heldOut: HeldOutReport = {
    after: figures(held, thresholdFor, finalK),
    before: figures(held, ({ threshold }) => threshold, finalK),
    ceiling: figures(held, () => Number.NEGATIVE_INFINITY, finalK),
    byTaskType: Object.fromEntries(
      [...groupByTaskType(held)].map(([taskType, own]) => [taskType, figures(own, thresholdFor, finalK)]),
    ),
    ...(brier === undefined ? {} : { brier }),
  };
  return { ...kept, ...origin, pooled, byTaskType, ...(mapping === undefined ? {} : { mapping }), heldOut };
}

function figures(
  queries: readonly ScoredQuery[],
  thresholdFor: (query: ScoredQuery) => number,
  finalK: number,
): HeldOutFigures {
  const injected = queries.map((query) => {
    const threshold = thresholdFor(query);
    const notes = query.candidates.filter(({ score }) => score >= threshold).slice(0, finalK);
    return {
      expected: query.expected,
      notes: notes.length,
      right: notes.filter(({ expected }) => expected).length,
    };
  });
  const unanswerable = injected.filter(({ expected }) => expected === 0);
  const answerable = injected.filter(({ expected }) => expected > 0);
  return {
    wronglyInjected: share(unanswerable, ({ notes }) => notes > 0),
    answered: share(answerable, ({ right }) => right > 0),
    recall: mean(answerable.map(({ right, expected }) => right / expected)),
  };
}

function share<T>(items: readonly T[], holds: (item: T) => boolean): Share {
  return wilson(items.filter(holds).length, items.length);
}

function bestScore({ candidates }: ScoredQuery): number {
  return candidates[0]?.score ?? Number.NEGATIVE_INFINITY;
}

/** Queries that name a task type, by it. */
function groupByTaskType(queries: readonly ScoredQuery[]): ReadonlyMap<string, readonly ScoredQuery[]> {
  const groups = new Map<string, ScoredQuery[]>();
  for (const query of queries) {
    if (query.taskType === undefined) continue;
    const group = groups.get(query.taskType);
    if (group === undefined) groups.set(query.taskType, [query]);
    else group.push(query);
  }
  return new Map([...groups].sort(([a], [b]) => (a < b ? -1 : 1)));
}
