import { retrieve } from '../../retrieval/retrieve.js';
import { type EvaluationOptions, evaluate } from '../evaluate.js';
import { meanMetrics, type RetrievalMetrics } from '../metrics.js';
import type { CaseResult, EvaluationReport } from '../report.js';
import { median } from '../statistics/describe-sample.js';
import { permutationTest } from '../statistics/permutation-test.js';
import type { Variant, VariantGroup } from './variants.js';

/** Enough for a median; each is asked once a variant. */
const TIMED_QUERIES = 60;

export interface SweepRow {
  readonly group: VariantGroup;
  readonly name: string;
  readonly shipped: boolean;
  /** The half to choose on, and the half to quote. */
  readonly tune: RetrievalMetrics;
  readonly test: RetrievalMetrics;
  /** Mean nDCG@10 by kind of query, both halves. */
  readonly ndcgByKind: Readonly<Record<string, number>>;
  /** Of nDCG@10 on the tuning half against the group's shipped row, paired permutation test; none for that row. */
  readonly pValue?: number | undefined;
  /** Of a query without its embedding; variants took turns query by query, so that a busy machine slows all of them. */
  readonly medianMs: number;
}

export interface SweepReport {
  readonly format: 1;
  readonly createdAt: string;
  readonly goldenDigest: string;
  readonly embeddingModel: string;
  readonly machine: string;
  readonly queries: number;
  readonly rows: readonly SweepRow[];
}

/**
 * Runs every variant over the golden set, one after the other; then all of them in turns over some queries, for times. Queries are
 * embedded by then, so that times are those of the rest.
 */
export async function runSweep(
  variants: readonly Variant[],
  options: Omit<EvaluationOptions, 'retrieval' | 'request' | 'onProgress'> & {
    /** After every variant; awaited. */
    readonly onProgress?: ((done: number, total: number) => void | Promise<void>) | undefined;
  },
): Promise<SweepReport> {
  const { onProgress, ...rest } = options;
  const reports: EvaluationReport[] = [];
  const run = ({ deps, request }: Variant) =>
    evaluate({
      ...rest,
      request,
      // A sweep shows no intervals of single runs.
      resamples: 1,
      retrieval: { retrieve: (caller, asked, how) => retrieve(deps, caller, asked, how?.signal) },
    });
  for (const variant of variants) {
    reports.push(await run(variant));
    await onProgress?.(reports.length, variants.length);
  }
  const rowOf = (variant: Variant, index: number): SweepRow[] => {
    const report = reports[index];
    if (report === undefined) return [];
    const at = variants.findIndex((one) => one.group === variant.group && one.shipped);
    const reference = at === -1 || variant.shipped ? undefined : reports[at];
    return [toRow(variant, report, reference, medians[index] ?? 0)];
  };
  const medians = await timeVariants(variants, rest);
  const [report] = reports;
  return {
    format: 1,
    createdAt: new Date().toISOString(),
    goldenDigest: options.golden.digest,
    embeddingModel: report?.embeddingModel ?? '',
    machine: report?.machine ?? '',
    queries: options.golden.queries.length,
    rows: variants.flatMap(rowOf),
  };
}

/** Median milliseconds of each variant. */
async function timeVariants(
  variants: readonly Variant[],
  { golden, namespace, caller, signal }: Omit<EvaluationOptions, 'retrieval'>,
): Promise<readonly number[]> {
  const times: number[][] = variants.map(() => []);
  for (const { query, taskType, attributes } of golden.queries.slice(0, TIMED_QUERIES)) {
    for (const [index, { deps, request }] of variants.entries()) {
      const start = performance.now();
      await retrieve(deps, caller, { ...request, namespace, query, taskType, attributes }, signal);
      times[index]?.push(performance.now() - start);
    }
  }
  return times.map(median);
}

function toRow(
  { group, name, shipped }: Variant,
  report: EvaluationReport,
  reference: EvaluationReport | undefined,
  medianMs: number,
): SweepRow {
  const kinds = [
    ...new Set(report.cases.filter(({ answerable }) => answerable).map(({ kind }) => kind)),
  ].sort();
  const ndcgOf = (kind: string) =>
    meanMetrics(report.cases.filter((one) => one.kind === kind).map(({ measures }) => measures)).ndcgAt10;
  return {
    group,
    name,
    shipped,
    tune: report.tune,
    test: report.test,
    ndcgByKind: Object.fromEntries(kinds.map((kind) => [kind, ndcgOf(kind)])),
    ...(reference === undefined
      ? {}
      : { pValue: permutationTest(differences(reference.cases, report.cases)) }),
    medianMs,
  };
}

/** Of nDCG@10, over the tuning half; both reports hold the same cases in the same order. */
function differences(before: readonly CaseResult[], after: readonly CaseResult[]): readonly number[] {
  return after.flatMap(({ half, measures }, index) => {
    const old = before[index]?.measures.ndcgAt10;
    return half !== 'tune' || old === undefined || measures.ndcgAt10 === undefined
      ? []
      : [measures.ndcgAt10 - old];
  });
}
