import type { GateResult } from '../gate.js';
import { MEASURES } from '../metrics.js';
import type { EvaluationReport } from '../report.js';
import {
  aucSentence,
  CUTOFF_TITLES,
  cutoffRows,
  guardSentence,
  metricCell,
  provenance,
  reportRows,
} from './rows.js';

const COLUMNS = ['recallAt3', 'hitAt3', 'mrr', 'ndcgAt10', 'answeredRight', 'abstentionRate'] as const;

/** A report for a terminal of 80 columns. */
export function renderText(report: EvaluationReport, gate?: GateResult): string {
  const rows = reportRows(report);
  const width = Math.max(...rows.map(([name]) => name.length));
  const titles = COLUMNS.map((name) => MEASURES[name].title);
  const header = [''.padEnd(width), 'queries', ...titles].join('  ');
  const lines = rows.map(([name, metrics]) => {
    const cells = COLUMNS.map((column, index) =>
      metricCell(metrics, column).padStart(titles[index]?.length ?? 0),
    );
    return [name.padEnd(width), String(metrics.queries).padStart(7), ...cells].join('  ');
  });
  const { low, high } = report.intervals.recallAt3;
  return [
    header,
    ...lines,
    ...cutoffTable(report),
    '',
    'answered: answerable queries whose answer holds a right note.',
    'abstained: unanswerable queries that rightly got nothing.',
    `Recall@3 of the test half, 95% interval over queries: ${low.toFixed(3)}–${high.toFixed(3)}.`,
    aucSentence(report),
    ...guardSentence(report),
    provenance(report),
    ...(report.unresolved.length === 0 ? [] : [`Not in the store: ${report.unresolved.join(', ')}.`]),
    ...(gate === undefined
      ? []
      : ['', ...gate.checks.map(({ ok, text }) => `${ok ? 'ok  ' : 'FAIL'}  ${text}`)]),
  ].join('\n');
}

function cutoffTable(report: EvaluationReport): readonly string[] {
  const rows = cutoffRows(report);
  const line = (cells: readonly string[]) => cells.map((cell) => cell.padStart(6)).join('  ');
  return rows.length === 0 ? [] : ['', `${line(CUTOFF_TITLES)}   (test half, answerable)`, ...rows.map(line)];
}
