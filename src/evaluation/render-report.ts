import type { EvaluationReport } from './evaluate.js';
import type { RetrievalMetrics } from './metrics.js';

const COLUMNS = [
  ['recall@3', 'recallAt3'],
  ['hit@3', 'hitAt3'],
  ['MRR', 'mrr'],
  ['nDCG@10', 'ndcgAt10'],
  ['answered', 'answeredRight'],
  ['abstained', 'abstentionRate'],
] as const satisfies readonly (readonly [string, keyof RetrievalMetrics])[];

/** A report for a terminal of 80 columns. */
export function renderReport(report: EvaluationReport): string {
  const rows: [string, RetrievalMetrics][] = [
    ['all', report.all],
    ['tune', report.tune],
    ['test', report.test],
    ...Object.entries(report.byKind).map(([kind, metrics]): [string, RetrievalMetrics] => [
      `test/${kind}`,
      metrics,
    ]),
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  const header = [''.padEnd(width), 'queries', ...COLUMNS.map(([title]) => title)].join('  ');
  const lines = rows.map(([name, metrics]) => {
    const cells = COLUMNS.map(([title, key]) => cell(metrics, key).padStart(title.length));
    return [name.padEnd(width), String(metrics.queries).padStart(7), ...cells].join('  ');
  });
  return [
    header,
    ...lines,
    '',
    'answered: answerable queries whose answer holds a right note.',
    'abstained: unanswerable queries that rightly got nothing.',
    `Answerable against unanswerable, AUC of the best score: ${report.answerableAuc.toFixed(3)} (length alone: ${report.lengthAuc.toFixed(3)}).`,
    `Threshold ${report.threshold} on ${report.scoreScale}; model ${report.embeddingModel}; golden set ${report.goldenDigest}; median ${report.medianMs.toFixed(1)} ms a query.`,
    ...(report.unresolved.length === 0 ? [] : [`Not in the store: ${report.unresolved.join(', ')}.`]),
  ].join('\n');
}

function cell(metrics: RetrievalMetrics, key: (typeof COLUMNS)[number][1]): string {
  const empty = key === 'abstentionRate' ? metrics.unanswerable === 0 : metrics.answerable === 0;
  return empty ? '-' : metrics[key].toFixed(3);
}
