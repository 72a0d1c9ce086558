import { mean } from './statistics/describe-sample.js';

/** What one golden query got. Ids best first; `expected` maps id to grade 1–3. */
export interface QueryResult {
  readonly ranking: readonly string[];
  /** The part of the ranking that passed threshold and finalK. */
  readonly answered: readonly string[];
  readonly expected: ReadonlyMap<string, number>;
}

/** Which queries a measure is defined for: those that some note answers, or those that none does. */
export type MeasuredOver = 'answerable' | 'unanswerable';

export interface Measure {
  readonly title: string;
  readonly over: MeasuredOver;
  readonly better: 'higher' | 'lower';
  /** One query's value, 0…1. */
  readonly of: (result: QueryResult) => number;
}

/**
 * Ranking measures are those of trec_eval (`recall_3`, `P_3`, `recip_rank`, `ndcg_cut_10` with the grade as gain, `map`) over the
 * candidates, threshold aside; the others are over what was injected.
 */
export const MEASURES = {
  recallAt3: {
    title: 'recall@3',
    over: 'answerable',
    better: 'higher',
    of: (result) => relevantWithin(result, 3) / result.expected.size,
  },
  precisionAt3: {
    title: 'P@3',
    over: 'answerable',
    better: 'higher',
    of: (result) => relevantWithin(result, 3) / 3,
  },
  hitAt1: {
    title: 'hit@1',
    over: 'answerable',
    better: 'higher',
    of: (result) => relevantWithin(result, 1),
  },
  hitAt3: {
    title: 'hit@3',
    over: 'answerable',
    better: 'higher',
    of: (result) => Number(relevantWithin(result, 3) > 0),
  },
  recallAt10: {
    title: 'recall@10',
    over: 'answerable',
    better: 'higher',
    of: (result) => relevantWithin(result, 10) / result.expected.size,
  },
  mrr: { title: 'MRR', over: 'answerable', better: 'higher', of: reciprocalRank },
  ndcgAt10: { title: 'nDCG@10', over: 'answerable', better: 'higher', of: (result) => ndcg(result, 10) },
  map: { title: 'MAP', over: 'answerable', better: 'higher', of: averagePrecision },
  /** Share of answerable queries whose answer, after the threshold, holds an expected note. */
  answeredRight: {
    title: 'answered',
    over: 'answerable',
    better: 'higher',
    of: ({ answered, expected }) => Number(answered.some((id) => expected.has(id))),
  },
  /** Share of answerable queries that wrongly got nothing. */
  wrongAbstentionRate: {
    title: 'wrongly empty',
    over: 'answerable',
    better: 'lower',
    of: ({ answered }) => Number(answered.length === 0),
  },
  /** Share of unanswerable queries that rightly got nothing. */
  abstentionRate: {
    title: 'abstained',
    over: 'unanswerable',
    better: 'higher',
    of: ({ answered }) => Number(answered.length === 0),
  },
  /** Share of unanswerable queries that got at least one note. */
  wronglyInjectedRate: {
    title: 'wrongly injected',
    over: 'unanswerable',
    better: 'lower',
    of: ({ answered }) => Number(answered.length > 0),
  },
  /** Share of the injected notes that are expected (Ragas' id-based context precision); an empty answer counts 0. */
  contextPrecision: {
    title: 'context precision',
    over: 'answerable',
    better: 'higher',
    of: ({ answered, expected }) =>
      answered.length === 0 ? 0 : answered.filter((id) => expected.has(id)).length / answered.length,
  },
  /** Share of the expected notes that were injected (Ragas' id-based context recall). */
  contextRecall: {
    title: 'context recall',
    over: 'answerable',
    better: 'higher',
    of: ({ answered, expected }) => answered.filter((id) => expected.has(id)).length / expected.size,
  },
  /** Whether a note that is not expected was injected. */
  noiseRate: {
    title: 'noise',
    over: 'answerable',
    better: 'lower',
    of: ({ answered, expected }) => Number(answered.some((id) => !expected.has(id))),
  },
} as const satisfies Readonly<Record<string, Measure>>;

export type MeasureName = keyof typeof MEASURES;
export const MEASURE_NAMES = Object.keys(MEASURES) as readonly MeasureName[];

/** Means over the queries that each measure is defined for; 0 where there are none. */
export type RetrievalMetrics = Readonly<Record<MeasureName, number>> & {
  readonly queries: number;
  readonly answerable: number;
  readonly unanswerable: number;
};

/** A query's own values: only of the measures that are defined for it. */
export type QueryMeasures = Readonly<Partial<Record<MeasureName, number>>>;

export function measureQuery(result: QueryResult): QueryMeasures {
  const over: MeasuredOver = result.expected.size > 0 ? 'answerable' : 'unanswerable';
  const names = MEASURE_NAMES.filter((name) => MEASURES[name].over === over);
  return Object.fromEntries(names.map((name) => [name, MEASURES[name].of(result)]));
}

/** Means of measured queries. */
export function meanMetrics(cases: readonly QueryMeasures[]): RetrievalMetrics {
  const means = Object.fromEntries(
    MEASURE_NAMES.map((name) => [name, mean(cases.flatMap((one) => one[name] ?? []))]),
  ) as Record<MeasureName, number>;
  const answerable = cases.filter(({ recallAt3 }) => recallAt3 !== undefined).length;
  return { ...means, queries: cases.length, answerable, unanswerable: cases.length - answerable };
}

export function computeMetrics(results: readonly QueryResult[]): RetrievalMetrics {
  return meanMetrics(results.map(measureQuery));
}

/** What a ranking gives down to one place; means over answerable queries. */
export interface CutoffMetrics {
  readonly k: number;
  readonly recall: number;
  readonly precision: number;
  readonly hit: number;
  readonly ndcg: number;
}

/** `recall_k`, `P_k`, `success_k` and `ndcg_cut_k` of trec_eval over the candidates, threshold aside; 0 where no query is answerable. */
export function cutoffMetrics(results: readonly QueryResult[], k: number): CutoffMetrics {
  const answerable = results.filter(({ expected }) => expected.size > 0);
  const over = (of: (result: QueryResult) => number): number => mean(answerable.map(of));
  return {
    k,
    recall: over((result) => relevantWithin(result, k) / result.expected.size),
    precision: over((result) => relevantWithin(result, k) / k),
    hit: over((result) => Number(relevantWithin(result, k) > 0)),
    ndcg: over((result) => ndcg(result, k)),
  };
}

/** Area under the ROC curve: the chance that a positive scores above a negative, ties counted half. 0.5 where a class is empty. */
export function areaUnderCurve(positives: readonly number[], negatives: readonly number[]): number {
  if (positives.length === 0 || negatives.length === 0) return 0.5;
  let wins = 0;
  for (const positive of positives) {
    for (const negative of negatives) wins += positive > negative ? 1 : positive === negative ? 0.5 : 0;
  }
  return wins / (positives.length * negatives.length);
}

/**
 * Share of unanswerable queries that would be answered by a threshold low enough for `recall` of the answerable ones. 0 where
 * a class is empty.
 */
export function injectedAtRecall(
  positives: readonly number[],
  negatives: readonly number[],
  recall: number,
): number {
  const sorted = [...positives].sort((a, b) => b - a);
  const threshold = sorted[Math.ceil(sorted.length * recall) - 1];
  if (threshold === undefined || negatives.length === 0) return 0;
  return negatives.filter((score) => score >= threshold).length / negatives.length;
}

function relevantWithin({ ranking, expected }: QueryResult, k: number): number {
  return ranking.slice(0, k).filter((id) => expected.has(id)).length;
}

/** 1 / rank of the first expected candidate; 0 where there is none. */
function reciprocalRank({ ranking, expected }: QueryResult): number {
  const index = ranking.findIndex((id) => expected.has(id));
  return index < 0 ? 0 : 1 / (index + 1);
}

/** Mean, over the expected notes, of the precision at each one's rank; 0 for one that is no candidate. */
function averagePrecision({ ranking, expected }: QueryResult): number {
  let found = 0;
  let sum = 0;
  ranking.forEach((id, index) => {
    if (!expected.has(id)) return;
    found += 1;
    sum += found / (index + 1);
  });
  return sum / expected.size;
}

/** Järvelin & Kekäläinen (2002) as in trec_eval: the grade is the gain, log2(rank + 1) the discount. */
function ndcg({ ranking, expected }: QueryResult, k: number): number {
  const gain = (grade: number, index: number) => grade / Math.log2(index + 2);
  const actual = ranking.slice(0, k).reduce((sum, id, index) => sum + gain(expected.get(id) ?? 0, index), 0);
  const grades = [...expected.values()].sort((a, b) => b - a).slice(0, k);
  return actual / grades.reduce((sum, grade, index) => sum + gain(grade, index), 0);
}
