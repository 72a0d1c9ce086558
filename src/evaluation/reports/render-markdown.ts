import type { CaseChange, ReportComparison } from '../compare-reports.js';
import type { GateResult } from '../gate.js';
import { GUARD_MEASURES, type GuardFault } from '../guards/guard-measures.js';
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
  SHOWN,
  signed,
} from './rows.js';

/** More than a pull request's reader looks at; the HTML report has all. */
const MAX_CASES = 20;

/** A report for a pull request. Query texts are untrusted: they stand in code spans. */
export function renderMarkdown(
  report: EvaluationReport,
  gate?: GateResult,
  comparison?: ReportComparison,
): string {
  const title =
    gate === undefined ? 'Retrieval' : gate.ok ? '✅ Retrieval gate passed' : '❌ Retrieval gate failed';
  const compared = comparison ?? gate?.comparison;
  return [
    `## ${title}`,
    ...(gate === undefined
      ? []
      : ['', ...gate.checks.map(({ ok, text }) => `- ${ok ? 'ok' : '**failed**'}: ${text}`)]),
    ...(compared === undefined ? [] : ['', ...comparisonTable(compared)]),
    ...(gate === undefined || gate.cases.length === 0 ? [] : ['', ...caseList(gate.cases)]),
    ...(gate === undefined || gate.guardFaults.length === 0 ? [] : ['', ...faultList(gate.guardFaults)]),
    '',
    `| | queries | ${SHOWN.map((name) => MEASURES[name].title).join(' | ')} |`,
    `|---|--:|${SHOWN.map(() => '--:|').join('')}`,
    ...reportRows(report).map(
      ([name, metrics]) =>
        `| ${name} | ${metrics.queries} | ${SHOWN.map((column) => metricCell(metrics, column)).join(' | ')} |`,
    ),
    ...cutoffTable(report),
    '',
    aucSentence(report),
    ...guardSentence(report),
    provenance(report),
    '',
  ].join('\n');
}

function cutoffTable(report: EvaluationReport): readonly string[] {
  const rows = cutoffRows(report);
  if (rows.length === 0) return [];
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return ['', line(CUTOFF_TITLES), `|${CUTOFF_TITLES.map(() => '--:|').join('')}`, ...rows.map(line)];
}

function faultList(faults: readonly GuardFault[]): readonly string[] {
  const more = faults.length > MAX_CASES ? [`- and ${faults.length - MAX_CASES} more`] : [];
  return [
    `**${faults.length} labelled texts that the guards got wrong:**`,
    '',
    ...faults
      .slice(0, MAX_CASES)
      .map(({ id, half, measure }) => `- \`${code(id)}\` (${half}): ${GUARD_MEASURES[measure].title}`),
    ...more,
  ];
}

function comparisonTable({ half, measures, unpaired }: ReportComparison): readonly string[] {
  const moved = measures.filter(({ before, after }) => before !== after);
  const left =
    unpaired.length === 0 ? '' : ` ${unpaired.length} queries are in one report only and take no part.`;
  if (moved.length === 0) return [`No measure differs from the baseline (${half}).${left}`];
  return [
    `Against the baseline (${half}):${left}`,
    '',
    '| | before | after | difference (95%) | p | detectable |',
    '|---|--:|--:|--:|--:|--:|',
    ...moved.map(
      ({ title, before, after, difference, pValue, detectable }) =>
        `| ${title} | ${before.toFixed(3)} | ${after.toFixed(3)} | ${signed(difference.estimate)} (${signed(difference.low)} to ${signed(difference.high)}) | ${pValue.toFixed(3)} | ${detectable.toFixed(3)} |`,
    ),
  ];
}

function caseList(cases: readonly CaseChange[]): readonly string[] {
  const shown = cases.slice(0, MAX_CASES).map(({ id, query, worse, expected, before, after }) => {
    const measures = worse.map((name) => MEASURES[name].title).join(', ');
    return `- \`${code(id)}\` ${measures}: \`${code(query)}\`<br>expected ${names(expected)}; before ${names(before)}; now ${names(after)}`;
  });
  const rest = cases.length > MAX_CASES ? [`- and ${cases.length - MAX_CASES} more, in the HTML report`] : [];
  return [`${cases.length} queries got worse:`, '', ...shown, ...rest];
}

function names(ids: readonly string[]): string {
  return ids.length === 0 ? 'nothing' : ids.map((id) => `\`${code(id.slice(0, 16))}\``).join(' ');
}

/** One line without what would end a code span. */
function code(text: string): string {
  const line = text.replace(/\s+/g, ' ').replaceAll('`', "'");
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}
