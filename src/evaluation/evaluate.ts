import type { Caller } from '../domain/api-key.js';
import type { RetrievalQueries } from '../ports/use-cases.js';
import { type GoldenQuery, type GoldenSet, halfOf } from './golden-set.js';
import { areaUnderCurve, computeMetrics, type QueryResult, type RetrievalMetrics } from './metrics.js';

export interface EvaluationOptions {
  readonly retrieval: Pick<RetrievalQueries, 'retrieve'>;
  readonly caller: Caller;
  readonly namespace: string;
  readonly golden: GoldenSet;
  /** Handles of the golden set to note ids; undefined for a handle whose note is not in the store. */
  readonly resolve: (key: string) => string | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
}

export interface EvaluationReport {
  readonly goldenDigest: string;
  readonly embeddingModel: string;
  readonly scoreScale: string;
  readonly threshold: number;
  readonly all: RetrievalMetrics;
  /** The halves by hash of the query id; settings are fitted on `tune` only, so `test` is the figure to quote. */
  readonly tune: RetrievalMetrics;
  readonly test: RetrievalMetrics;
  /** Over the test half, by the query's kind. */
  readonly byKind: Readonly<Record<string, RetrievalMetrics>>;
  /** Chance that an answerable query's best score is above an unanswerable one's, test half; and the same by length alone. */
  readonly answerableAuc: number;
  readonly lengthAuc: number;
  /** Expected handles that the store lacks: those queries cannot be answered right. */
  readonly unresolved: readonly string[];
  readonly medianMs: number;
}

interface Answered extends QueryResult {
  readonly query: GoldenQuery;
  readonly best: number;
  readonly ms: number;
}

/** Runs every golden query through the real read path. */
export async function evaluate(options: EvaluationOptions): Promise<EvaluationReport> {
  const { golden, retrieval, caller, namespace } = options;
  const answers: Answered[] = [];
  const unresolved = new Set<string>();
  let last = { embeddingModel: '', scoreScale: '', threshold: 0 };
  for (const query of golden.queries) {
    const expected = new Map<string, number>();
    for (const { key, grade } of query.expected) {
      const id = options.resolve(key);
      if (id === undefined) unresolved.add(key);
      expected.set(id ?? `missing:${key}`, grade);
    }
    const { taskType, attributes } = query;
    const start = performance.now();
    const answer = await retrieval.retrieve(caller, { namespace, query: query.query, taskType, attributes });
    answers.push({
      query,
      expected,
      ranking: answer.candidates.map(({ note }) => note.id),
      answered: answer.notes.map(({ note }) => note.id),
      best: answer.candidates[0]?.score ?? Number.NEGATIVE_INFINITY,
      ms: performance.now() - start,
    });
    last = answer;
    options.onProgress?.(answers.length, golden.queries.length);
  }
  const test = answers.filter(({ query }) => halfOf(query) === 'test');
  const positives = test.filter(({ expected }) => expected.size > 0);
  const negatives = test.filter(({ expected }) => expected.size === 0);
  return {
    goldenDigest: golden.digest,
    embeddingModel: last.embeddingModel,
    scoreScale: last.scoreScale,
    threshold: last.threshold,
    all: computeMetrics(answers),
    tune: computeMetrics(answers.filter(({ query }) => halfOf(query) === 'tune')),
    test: computeMetrics(test),
    byKind: Object.fromEntries(
      [...new Set(test.map(({ query }) => query.kind))]
        .sort()
        .map((kind) => [kind, computeMetrics(test.filter(({ query }) => query.kind === kind))]),
    ),
    answerableAuc: areaUnderCurve(
      positives.map(({ best }) => best),
      negatives.map(({ best }) => best),
    ),
    lengthAuc: areaUnderCurve(positives.map(lengthOf), negatives.map(lengthOf)),
    unresolved: [...unresolved].sort(),
    medianMs: median(answers.map(({ ms }) => ms)),
  };
}

function lengthOf({ query }: Answered): number {
  return query.query.length;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
