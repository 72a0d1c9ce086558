import { availableParallelism, cpus } from 'node:os';
import type { Caller } from '../domain/api-key.js';
import type { Retrieval } from '../domain/retrieval.js';
import type { RetrievalQueries, RetrieveRequest } from '../ports/use-cases.js';
import { textTerms } from '../retrieval/text-terms.js';
import { type GoldenQuery, type GoldenSet, halfOf } from './golden-set.js';
import {
  areaUnderCurve,
  cutoffMetrics,
  injectedAtRecall,
  measureQuery,
  type QueryResult,
} from './metrics.js';
import {
  type CaseResult,
  type EvaluationReport,
  GROUPINGS,
  type Grouping,
  groupMetrics,
  metricIntervals,
  metricsOf,
  REPORT_FORMAT,
} from './report.js';
import { quantile } from './statistics/describe-sample.js';

export interface EvaluationOptions {
  readonly retrieval: Pick<RetrievalQueries, 'retrieve'>;
  readonly caller: Caller;
  readonly namespace: string;
  readonly golden: GoldenSet;
  /** Handles of the golden set to note ids; undefined for a handle whose note is not in the store. */
  readonly resolve: (key: string) => string | undefined;
  /** The name under which reports show a note; default: its handle in the set where it is expected, else its id. */
  readonly nameOf?: ((id: string) => string | undefined) | undefined;
  /** Texts of notes by id: tells how hard a query is where the set does not say. */
  readonly noteText?: ((id: string) => string | undefined) | undefined;
  /** Settings other than the defaults, such as a threshold: for sweeps. */
  readonly request?: Partial<RetrieveRequest> | undefined;
  /** Places of the ranking at which it is measured besides; those past the candidates that a search has find nothing more. */
  readonly cutoffs?: readonly number[] | undefined;
  /** Of the bootstrap intervals; default 2,000. */
  readonly resamples?: number | undefined;
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Candidates that a case keeps: what nDCG@10 is made of. */
const KEPT_CANDIDATES = 10;

/** Runs every golden query through the real read path. */
export async function evaluate(options: EvaluationOptions): Promise<EvaluationReport> {
  const { golden, namespace } = options;
  const cases: CaseResult[] = [];
  const answers: Retrieval[] = [];
  const testResults: QueryResult[] = [];
  const unresolved = new Set<string>();
  for (const query of golden.queries) {
    for (const { key } of query.expected) if (options.resolve(key) === undefined) unresolved.add(key);
    const { answer, ms } = await ask(options, query);
    answers.push(answer);
    const result = toResult(query, answer, options);
    if (halfOf(query) === 'test') testResults.push(result);
    cases.push(toCase(query, answer, ms, result, options));
    options.onProgress?.(cases.length, golden.queries.length);
  }
  const test = cases.filter(({ half }) => half === 'test');
  const last = answers.at(-1);
  const times = cases.map(({ ms }) => ms).sort((a, b) => a - b);
  return {
    format: REPORT_FORMAT,
    createdAt: new Date().toISOString(),
    namespace,
    goldenDigest: golden.digest,
    embeddingModel: last?.embeddingModel ?? '',
    rerankModel: last?.rerankModel,
    scoreScale: last?.scoreScale ?? '',
    threshold: last?.threshold ?? 0,
    degraded: (last?.degraded ?? []).filter((why) => answers.every(({ degraded }) => degraded.includes(why))),
    all: metricsOf(cases),
    tune: metricsOf(cases.filter(({ half }) => half === 'tune')),
    test: metricsOf(test),
    intervals: metricIntervals(test, options.resamples),
    groups: Object.fromEntries(
      GROUPINGS.map((grouping) => [grouping, groupMetrics(test, grouping)]),
    ) as Record<Grouping, ReturnType<typeof groupMetrics>>,
    cutoffs: options.cutoffs?.map((k) => cutoffMetrics(testResults, k)),
    answerableAuc: splitAuc(test, bestOf),
    lengthAuc: splitAuc(test, ({ query }) => query.length),
    injectedAt80: injectedAtRecall(
      test.filter(({ answerable }) => answerable).map(bestOf),
      test.filter(({ answerable }) => !answerable).map(bestOf),
      0.8,
    ),
    unresolved: [...unresolved].sort(),
    medianMs: quantile(times, 0.5),
    p95Ms: quantile(times, 0.95),
    machine: `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown'}`,
    cases,
  };
}

async function ask(
  { retrieval, caller, namespace, request, signal }: EvaluationOptions,
  { query, taskType, attributes }: GoldenQuery,
): Promise<{ answer: Retrieval; ms: number }> {
  const start = performance.now();
  const asked = { ...request, namespace, query, taskType, attributes };
  const answer = await retrieval.retrieve(caller, asked, signal === undefined ? {} : { signal });
  return { answer, ms: performance.now() - start };
}

const idOf = (key: string, { resolve }: EvaluationOptions): string => resolve(key) ?? `missing:${key}`;

function toResult(query: GoldenQuery, answer: Retrieval, options: EvaluationOptions): QueryResult {
  const expected = new Map<string, number>();
  for (const { key, grade } of query.expected) {
    const id = idOf(key, options);
    expected.set(id, Math.max(grade, expected.get(id) ?? 0));
  }
  return {
    ranking: answer.candidates.map(({ note }) => note.id),
    answered: answer.notes.map(({ note }) => note.id),
    expected,
  };
}

function toCase(
  query: GoldenQuery,
  answer: Retrieval,
  ms: number,
  result: QueryResult,
  options: EvaluationOptions,
): CaseResult {
  const { ranking, answered, expected } = result;
  const keys = new Map(query.expected.map(({ key }) => [idOf(key, options), key]));
  const named = (ids: readonly string[]) => ids.map((id) => keys.get(id) ?? options.nameOf?.(id) ?? id);
  return {
    id: query.id,
    half: halfOf(query),
    query: query.query,
    kind: query.kind,
    taskType: query.taskType ?? 'any',
    language: query.language,
    difficulty: query.difficulty ?? difficultyOf(query, [...expected.keys()], options),
    answerable: expected.size > 0,
    measures: measureQuery(result),
    expected: named([...expected.keys()]),
    grades: [...expected.values()],
    answered: named(answered),
    ranking: named(ranking.slice(0, KEPT_CANDIDATES)),
    best: answer.candidates[0]?.score,
    ms,
  };
}

/**
 * Where the set does not say: by the share of the query's words that the closest expected note holds. Half is easy, a fifth is
 * medium, less is hard: the words alone do not find it. `none` for queries without an answer, `unknown` without the texts.
 */
function difficultyOf(query: GoldenQuery, ids: readonly string[], { noteText }: EvaluationOptions): string {
  if (ids.length === 0) return 'none';
  const texts = ids.flatMap((id) => noteText?.(id) ?? []);
  const terms = textTerms(query.query);
  if (texts.length === 0 || terms.length === 0) return 'unknown';
  const shares = texts.map((text) => {
    const held = new Set(textTerms(text));
    return terms.filter((term) => held.has(term)).length / terms.length;
  });
  const share = Math.max(...shares);
  return share >= 0.5 ? 'easy' : share >= 0.2 ? 'medium' : 'hard';
}

const bestOf = ({ best }: CaseResult): number => best ?? Number.NEGATIVE_INFINITY;

function splitAuc(cases: readonly CaseResult[], value: (one: CaseResult) => number): number {
  return areaUnderCurve(
    cases.filter(({ answerable }) => answerable).map(value),
    cases.filter(({ answerable }) => !answerable).map(value),
  );
}
