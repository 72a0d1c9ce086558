/** What one golden query got. Ids best first; `expected` maps id to grade 1–3. */
export interface QueryResult {
  readonly ranking: readonly string[];
  /** The part of the ranking that passed threshold and finalK. */
  readonly answered: readonly string[];
  readonly expected: ReadonlyMap<string, number>;
}

export interface RetrievalMetrics {
  readonly queries: number;
  readonly answerable: number;
  readonly unanswerable: number;
  /** Mean share of a query's expected notes among the first 3 candidates, threshold aside; answerable queries only. */
  readonly recallAt3: number;
  /** Share of answerable queries with an expected note among the first 3 candidates. */
  readonly hitAt3: number;
  /** Mean reciprocal rank of the first expected candidate; 0 where there is none. */
  readonly mrr: number;
  /** Graded, over the first 10 candidates. */
  readonly ndcgAt10: number;
  /** Share of answerable queries whose answer, after the threshold, holds an expected note. */
  readonly answeredRight: number;
  /** Share of unanswerable queries that rightly got nothing. */
  readonly abstentionRate: number;
  /** Share of answerable queries that wrongly got nothing. */
  readonly wrongAbstentionRate: number;
  /** Share of unanswerable queries that got at least one note. */
  readonly wronglyInjectedRate: number;
}

/** Rates are 0 where their class is empty. */
export function computeMetrics(results: readonly QueryResult[]): RetrievalMetrics {
  const answerable = results.filter(({ expected }) => expected.size > 0);
  const unanswerable = results.filter(({ expected }) => expected.size === 0);
  return {
    queries: results.length,
    answerable: answerable.length,
    unanswerable: unanswerable.length,
    recallAt3: mean(answerable, recallAt3),
    hitAt3: mean(answerable, (result) => Number(recallAt3(result) > 0)),
    mrr: mean(answerable, reciprocalRank),
    ndcgAt10: mean(answerable, (result) => ndcg(result, 10)),
    answeredRight: mean(answerable, ({ answered, expected }) =>
      Number(answered.some((id) => expected.has(id))),
    ),
    abstentionRate: mean(unanswerable, ({ answered }) => Number(answered.length === 0)),
    wrongAbstentionRate: mean(answerable, ({ answered }) => Number(answered.length === 0)),
    wronglyInjectedRate: mean(unanswerable, ({ answered }) => Number(answered.length > 0)),
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

function recallAt3({ ranking, expected }: QueryResult): number {
  const found = ranking.slice(0, 3).filter((id) => expected.has(id)).length;
  // A query with five expected notes can show three at most.
  return found / Math.min(3, expected.size);
}

function reciprocalRank({ ranking, expected }: QueryResult): number {
  const index = ranking.findIndex((id) => expected.has(id));
  return index < 0 ? 0 : 1 / (index + 1);
}

/** Järvelin & Kekäläinen (2002) with gains 2^grade − 1 and log2(rank + 1) discounts. */
function ndcg({ ranking, expected }: QueryResult, k: number): number {
  const gain = (grade: number, index: number) => (2 ** grade - 1) / Math.log2(index + 2);
  const actual = ranking.slice(0, k).reduce((sum, id, index) => sum + gain(expected.get(id) ?? 0, index), 0);
  const grades = [...expected.values()].sort((a, b) => b - a).slice(0, k);
  return actual / grades.reduce((sum, grade, index) => sum + gain(grade, index), 0);
}

function mean<T>(items: readonly T[], value: (item: T) => number): number {
  return items.length === 0 ? 0 : items.reduce((sum, item) => sum + value(item), 0) / items.length;
}
