import { GUARD_MEASURE_NAMES, GUARD_MEASURES } from '../guards/guard-measures.js';
import { MEASURES, type MeasureName, type RetrievalMetrics } from '../metrics.js';
import type { EvaluationReport } from '../report.js';

/** What every table shows, in this order. */
export const SHOWN: readonly MeasureName[] = [
  'recallAt3',
  'precisionAt3',
  'hitAt3',
  'mrr',
  'ndcgAt10',
  'map',
  'answeredRight',
  'abstentionRate',
];

/** `-` where a group has no query that the measure is defined for. */
export function metricCell(metrics: RetrievalMetrics, name: MeasureName): string {
  return metrics[MEASURES[name].over] === 0 ? '-' : metrics[name].toFixed(3);
}

/** All, the halves, and the test half by kind, task type, language and difficulty. A grouping with one value says nothing new. */
export function reportRows(report: EvaluationReport): readonly (readonly [string, RetrievalMetrics])[] {
  const grouped = Object.values(report.groups).flatMap((groups): [string, RetrievalMetrics][] => {
    const entries = Object.entries(groups);
    return entries.length < 2 ? [] : entries.map(([value, metrics]) => [`test/${value}`, metrics]);
  });
  const seen = new Set<string>();
  const distinct = grouped.filter(([name]) => !seen.has(name) && seen.add(name));
  return [['all', report.all], ['tune', report.tune], ['test', report.test], ...distinct];
}

export const CUTOFF_TITLES = ['k', 'recall', 'P', 'hit', 'nDCG'] as const;

/** Cells under `CUTOFF_TITLES`, a row a place that was asked for. */
export function cutoffRows({ cutoffs = [] }: EvaluationReport): readonly (readonly string[])[] {
  return cutoffs.map(({ k, recall, precision, hit, ndcg }) => [
    String(k),
    ...[recall, precision, hit, ndcg].map((value) => value.toFixed(3)),
  ]);
}

/** What the figures belong to, one sentence. */
export function provenance(report: EvaluationReport): string {
  const reranker = report.rerankModel === undefined ? '' : `, reranker ${report.rerankModel}`;
  return `Threshold ${report.threshold} on ${report.scoreScale}; model ${report.embeddingModel}${reranker}; golden set ${report.goldenDigest}; median ${report.medianMs.toFixed(1)} ms, p95 ${report.p95Ms.toFixed(1)} ms a query.`;
}

export function aucSentence({ answerableAuc, lengthAuc, injectedAt80 }: EvaluationReport): string {
  return `Answerable against unanswerable, AUC of the best score: ${answerableAuc.toFixed(3)} (length alone: ${lengthAuc.toFixed(3)}); wrongly answered where 80% of the answerable ones are answered: ${injectedAt80.toFixed(3)}.`;
}

/** The guards on the half of their labelled sets that nothing was tuned on; nothing where they were not measured. */
export function guardSentence({ guards }: EvaluationReport): readonly string[] {
  if (guards === undefined) return [];
  const shown = GUARD_MEASURE_NAMES.map((name) => {
    const { count, total } = guards.measures[name]['held-out'];
    return `${GUARD_MEASURES[name].title} ${total === 0 ? '-' : (count / total).toFixed(3)} (${count} of ${total})`;
  });
  return [`Guards, held-out texts: ${shown.join(', ')}.`];
}

/** With a sign and the minus that type-setters use. */
export function signed(value: number): string {
  return `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(3)}`;
}
