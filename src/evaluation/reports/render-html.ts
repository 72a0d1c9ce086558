import type { ReportComparison } from '../compare-reports.js';
import type { GateResult } from '../gate.js';
import { GUARD_MEASURES } from '../guards/guard-measures.js';
import { MEASURES } from '../metrics.js';
import { escapeXml as esc, type Plot } from '../plots/render-plot.js';
import type { CaseResult, EvaluationReport } from '../report.js';
import { htmlDetails, htmlFigure, htmlPage, htmlTable, htmlTile } from './html-page.js';
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

export interface HtmlReportParts {
  readonly report: EvaluationReport;
  readonly gate?: GateResult | undefined;
  readonly comparison?: ReportComparison | undefined;
  /** More plots, such as a sweep's, with a sentence that says what they show. */
  readonly plots?: readonly { readonly plot: Plot; readonly text: string }[] | undefined;
}

/** One self-contained page: plots inline, no script, nothing loaded. */
export function renderHtml({
  report,
  gate,
  comparison = gate?.comparison,
  plots = [],
}: HtmlReportParts): string {
  const test = report.cases.filter(({ half }) => half === 'test');
  const missed = test.filter(({ measures }) => measures.hitAt3 === 0);
  const injected = test.filter(({ measures }) => measures.wronglyInjectedRate === 1);
  const empty = test.filter(({ measures }) => measures.wrongAbstentionRate === 1 && measures.hitAt3 === 1);
  return htmlPage('Retrieval report', [
    `<p class="muted">${esc(report.createdAt)} · namespace ${esc(report.namespace)} · ${report.all.queries} golden queries, ${report.test.queries} in the test half</p>`,
    ...(gate === undefined ? [] : [gateSection(gate)]),
    `<section class="tiles">${(['recallAt3', 'mrr', 'answeredRight', 'abstentionRate'] as const).map((name) => tile(report, name)).join('')}</section>`,
    `<p>${esc([aucSentence(report), ...guardSentence(report), provenance(report)].join(' '))}</p>`,
    ...(report.degraded.length === 0
      ? []
      : [`<p>Not at full strength: ${esc(report.degraded.join('; '))}.</p>`]),
    ...(report.unresolved.length === 0
      ? []
      : [`<p class="bad">Not in the store: ${esc(report.unresolved.join(', '))}.</p>`]),
    ...(comparison === undefined ? [] : [comparisonSection(comparison)]),
    '<h2>By group</h2>',
    htmlTable(
      ['', 'queries', ...SHOWN.map((name) => MEASURES[name].title)],
      reportRows(report).map(([name, metrics]) => [
        name,
        String(metrics.queries),
        ...SHOWN.map((column) => metricCell(metrics, column)),
      ]),
    ),
    ...(report.cutoffs === undefined
      ? []
      : ['<h2>By place, test half</h2>', htmlTable(CUTOFF_TITLES, cutoffRows(report))]),
    '<h2>Threshold and time</h2>',
    htmlFigure(
      tradeOff(test, report),
      'What another threshold would give: every point is one threshold. Up is more answers, right is more wrong ones.',
    ),
    htmlFigure(timePlot(report), `Share of all queries answered within a time, on ${report.machine}.`),
    ...plots.map(({ plot, text }) => htmlFigure(plot, text)),
    '<h2>Cases of the test half</h2>',
    caseSection('Right note not among the first three', missed),
    caseSection('Right note found, but held back by the threshold', empty),
    caseSection('No note applies, yet one was injected', injected),
  ]);
}

function gateSection({ ok, checks, cases, guardFaults }: GateResult): string {
  const items = checks.map(
    (check) =>
      `<li class="${check.ok ? 'ok' : 'bad'}">${check.ok ? 'ok' : 'failed'}: ${esc(check.text)}</li>`,
  );
  const worse = cases.map(({ id, query, worse, expected, before, after }) => [
    id,
    query,
    worse.map((name) => MEASURES[name].title).join(', '),
    expected.join(' '),
    before.join(' '),
    after.join(' '),
  ]);
  const wrong = guardFaults.map(({ id, half, measure }) => [id, half, GUARD_MEASURES[measure].title]);
  return [
    `<section class="gate ${ok ? 'ok' : 'bad'}"><h2>Gate ${ok ? 'passed' : 'failed'}</h2><ul>${items.join('')}</ul>`,
    ...(worse.length === 0
      ? []
      : [
          '<h3>Queries that got worse</h3>',
          htmlTable(['id', 'query', 'in', 'expected', 'before', 'now'], worse),
        ]),
    ...(wrong.length === 0
      ? []
      : ['<h3>Texts that the guards got wrong</h3>', htmlTable(['id', 'half', 'in'], wrong)]),
    '</section>',
  ].join('');
}

function tile(
  report: EvaluationReport,
  name: 'recallAt3' | 'mrr' | 'answeredRight' | 'abstentionRate',
): string {
  const { low, high } = report.intervals[name];
  return htmlTile(
    MEASURES[name].title,
    metricCell(report.test, name),
    `95%: ${low.toFixed(3)}–${high.toFixed(3)}`,
  );
}

function comparisonSection({ half, measures, unpaired }: ReportComparison): string {
  const rows = measures.map(({ title, pairs, before, after, difference, pValue, detectable }) => [
    title,
    String(pairs),
    before.toFixed(3),
    after.toFixed(3),
    `${signed(difference.estimate)} (${signed(difference.low)} to ${signed(difference.high)})`,
    pValue.toFixed(3),
    detectable.toFixed(3),
  ]);
  return `<h2>Against the baseline (${half})</h2>${htmlTable(['', 'pairs', 'before', 'after', 'difference (95%)', 'p', 'detectable'], rows)}<p class="muted">Paired bootstrap intervals and sign-flip permutation tests, not adjusted for the number of measures. Detectable: the difference that a set of this size finds in 80 of 100 cases.${unpaired.length === 0 ? '' : ` ${unpaired.length} queries are in one report only.`}</p>`;
}

function caseSection(title: string, cases: readonly CaseResult[]): string {
  const rows = cases.map(({ id, taskType, query, expected, answered, best }) => [
    id,
    taskType,
    query,
    expected.join(' ') || '–',
    answered.join(' ') || '–',
    best?.toFixed(3) ?? '–',
  ]);
  return htmlDetails(title, ['id', 'task type', 'query', 'expected', 'injected', 'best score'], rows);
}

/** Share of queries whose best score reaches a threshold, unanswerable against answerable, for every threshold that occurs. */
function tradeOff(cases: readonly CaseResult[], { threshold }: EvaluationReport): Plot {
  const bestOf = (answerable: boolean) =>
    cases.filter((one) => one.answerable === answerable).map(({ best }) => best ?? Number.NEGATIVE_INFINITY);
  const [answerable, unanswerable] = [bestOf(true), bestOf(false)];
  const share = (scores: readonly number[], at: number) =>
    scores.length === 0 ? 0 : scores.filter((score) => score >= at).length / scores.length;
  const at = (value: number) => [share(unanswerable, value), share(answerable, value)] as const;
  const thresholds = [...new Set([...answerable, ...unanswerable])].sort((a, b) => b - a);
  return {
    title: 'Answers given, by threshold',
    x: { title: 'share of unanswerable queries that get a note' },
    y: { title: 'share of answerable queries that get one' },
    series: [
      { name: 'thresholds', points: [[0, 0], ...thresholds.map(at)] },
      {
        name: 'in use',
        points: [at(threshold)],
        mark: 'points',
        labels: [`threshold ${threshold.toFixed(3)}`],
      },
    ],
  };
}

function timePlot({ cases }: EvaluationReport): Plot {
  const times = cases.map(({ ms }) => ms).sort((a, b) => a - b);
  return {
    title: 'Time of a query',
    x: { title: 'ms', scale: 'log' },
    y: { title: 'share of queries' },
    series: [
      { name: 'queries', mark: 'points', points: times.map((ms, index) => [ms, (index + 1) / times.length]) },
    ],
  };
}
