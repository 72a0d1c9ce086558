import { type Plot, renderPlot } from '../plots/render-plot.js';
import type { SweepReport, SweepRow } from './run-sweep.js';
import { VARIANT_GROUPS, type VariantGroup } from './variants.js';

export const SWEEP_GROUPS = Object.keys(VARIANT_GROUPS) as readonly VariantGroup[];
export const SWEEP_HEAD = [
  '',
  'nDCG@10',
  'p',
  'paraphrase',
  'identifier',
  'answered',
  'injected',
  'recall',
  'ms',
];

/** Cells of the tuning half, which is what settings are chosen on. `*` marks what is shipped. */
export function sweepCells(row: SweepRow): readonly string[] {
  const { tune, ndcgByKind, pValue, medianMs, name, shipped } = row;
  const kind = (key: string) => ndcgByKind[key]?.toFixed(3) ?? '-';
  return [
    `${name}${shipped ? ' *' : ''}`,
    tune.ndcgAt10.toFixed(3),
    pValue?.toFixed(3) ?? '',
    kind('paraphrase'),
    kind('identifier'),
    tune.answeredRight.toFixed(3),
    tune.wronglyInjectedRate.toFixed(3),
    tune.contextRecall.toFixed(3),
    medianMs.toFixed(1),
  ];
}

/** For a terminal, at most 80 columns. */
export function renderSweepText(report: SweepReport): readonly string[] {
  const line = ([name = '', ...rest]: readonly string[]) =>
    `${name.padEnd(15)}${rest.map((cell, index) => cell.padStart([8, 6, 11, 11, 9, 9, 7, 5][index] ?? 8)).join('')}`;
  return [
    line(SWEEP_HEAD),
    ...SWEEP_GROUPS.flatMap((group) => {
      const rows = report.rows.filter((row) => row.group === group);
      return rows.length === 0
        ? []
        : ['', `${VARIANT_GROUPS[group]}:`, ...rows.map((row) => line(sweepCells(row)))];
    }),
    '',
    ...SWEEP_NOTES,
    `Golden set ${report.goldenDigest}, ${report.queries} queries, model ${report.embeddingModel}.`,
  ];
}

export const SWEEP_NOTES = [
  'Tuning half, except paraphrase and identifier: nDCG@10 over both halves. p: of nDCG@10',
  'against the shipped setting (*). answered: a right note in the answer; injected: a note',
  'though none applies; recall: expected notes in the answer. ms: median without embedding.',
];

export function renderSweepMarkdown(report: SweepReport): string {
  const row = (list: readonly string[]) => `| ${list.join(' | ')} |`;
  return [
    '## Sweep',
    ...SWEEP_GROUPS.flatMap((group) => {
      const rows = report.rows.filter((one) => one.group === group);
      if (rows.length === 0) return [];
      return [
        '',
        `### ${VARIANT_GROUPS[group]}`,
        '',
        row(SWEEP_HEAD),
        row(SWEEP_HEAD.map(() => '--:')),
        ...rows.map((one) => row(sweepCells(one))),
      ];
    }),
    '',
    ...SWEEP_NOTES,
    `Golden set ${report.goldenDigest}, ${report.queries} queries, model ${report.embeddingModel}, ${report.machine}.`,
    '',
  ].join('\n');
}

/** Rows that no other row beats in both: more of `value` in no more of `cost`. By rising cost. */
export function paretoFront(
  rows: readonly SweepRow[],
  cost: (row: SweepRow) => number,
  value: (row: SweepRow) => number,
): readonly SweepRow[] {
  const sorted = [...rows].sort((a, b) => cost(a) - cost(b) || value(b) - value(a));
  let best = Number.NEGATIVE_INFINITY;
  return sorted.filter((row) => {
    if (value(row) <= best) return false;
    best = value(row);
    return true;
  });
}

/** SVG files by name. */
export function renderSweepPlots(report: SweepReport): Readonly<Record<string, string>> {
  const { qualityByTime, answeredByInjected } = sweepPlots(report);
  return {
    'quality-by-time.svg': renderPlot(qualityByTime),
    'answered-by-injected.svg': renderPlot(answeredByInjected),
  };
}

/** Quality against time, and right answers against wrong injections. */
export function sweepPlots(report: SweepReport): {
  readonly qualityByTime: Plot;
  readonly answeredByInjected: Plot;
} {
  const ranking = report.rows.filter(({ group }) => group !== 'threshold' && group !== 'finalK');
  const answering = report.rows.filter(({ group, name }) => group === 'threshold' || name === '+ reranker');
  return {
    qualityByTime: frontPlot(ranking, {
      title: 'nDCG@10 by median time (tuning half)',
      x: ['median ms without embedding', ({ medianMs }) => medianMs],
      y: ['nDCG@10', ({ tune }) => tune.ndcgAt10],
    }),
    answeredByInjected: frontPlot(answering, {
      title: 'Right answers by wrong injections (tuning half)',
      x: ['share of queries without an answer that get a note', ({ tune }) => tune.wronglyInjectedRate],
      y: ['share of the others answered right', ({ tune }) => tune.answeredRight],
    }),
  };
}

function frontPlot(
  rows: readonly SweepRow[],
  axes: {
    readonly title: string;
    readonly x: readonly [string, (row: SweepRow) => number];
    readonly y: readonly [string, (row: SweepRow) => number];
  },
): Plot {
  const [xTitle, x] = axes.x;
  const [yTitle, y] = axes.y;
  const front = paretoFront(rows, x, y);
  const point = (row: SweepRow) => [x(row), y(row)] as const;
  const label = ({ group, name }: SweepRow) => (group === 'stages' ? name : `${group} ${name}`);
  const shipped = rows.filter((row) => row.shipped);
  return {
    title: axes.title,
    x: { title: xTitle },
    y: { title: yTitle },
    series: [
      { name: 'tried', mark: 'points', points: rows.map(point) },
      { name: 'not beaten in both', points: front.map(point), labels: front.map(label) },
      { name: 'shipped', mark: 'points', points: shipped.map(point) },
    ],
  };
}
