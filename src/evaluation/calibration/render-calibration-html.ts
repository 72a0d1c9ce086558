import type { Calibration, HeldOutFigures } from '../../domain/calibration.js';
import type { Share } from '../../domain/wilson.js';
import { escapeXml as htmlText, type Plot } from '../plots/render-plot.js';
import { htmlFigure, htmlPage, htmlTable, htmlTile } from '../reports/html-page.js';
import { mappingLines } from './render-calibration.js';

/** One self-contained page for the calibrations of a run: thresholds, and what they do on queries that nothing was fitted on. */
export function renderCalibrationsHtml(calibrations: readonly Calibration[]): string {
  return htmlPage('Calibration', calibrations.flatMap(section));
}

function section(calibration: Calibration): readonly string[] {
  const { heldOut, alpha } = calibration;
  const types = Object.entries(heldOut.byTaskType);
  return [
    `<h2>${htmlText(calibration.embeddingModel)} + ${htmlText(calibration.rerankModel ?? 'no reranker')}</h2>`,
    `<p class="muted">${htmlText(calibration.createdAt)} · namespace ${htmlText(calibration.namespace)} · ${calibration.scoreScale} · golden set ${htmlText(calibration.goldenDigest)}</p>`,
    `<section class="tiles">${[
      htmlTile(
        'wrongly injected, held out',
        percent(heldOut.after.wronglyInjected),
        interval(heldOut.after.wronglyInjected),
      ),
      htmlTile('answered, held out', percent(heldOut.after.answered), interval(heldOut.after.answered)),
      htmlTile(
        'promised at most',
        `${Number((100 * alpha).toFixed(2))}%`,
        'wrongly injected, on average over such sets',
      ),
    ].join('')}</section>`,
    htmlTable(
      ['threshold for', 'value', 'queries without an answer', 'of them pass'],
      [['all task types', calibration.pooled] as const, ...Object.entries(calibration.byTaskType)].map(
        ([name, { value, queries, passed }]) => [
          name,
          Math.abs(value) > 1e6 ? 'none' : value.toFixed(4),
          String(queries),
          String(passed),
        ],
      ),
    ),
    htmlTable(
      ['held out', 'wrongly injected', '95%', 'answered', '95%', 'recall'],
      [
        row('before', heldOut.before),
        row('after', heldOut.after),
        row('threshold off', heldOut.ceiling),
        ...types.map(([type, figures]) => row(type, figures)),
      ],
    ),
    htmlFigure(
      tradeOff(calibration),
      'Up is more answers, right is more wrong ones. The vertical line is what was asked for; a task type with few queries lies where chance put it.',
    ),
    ...mappingLines(calibration).map((line) => `<p>${htmlText(line)}</p>`),
  ];
}

function row(name: string, { wronglyInjected, answered, recall }: HeldOutFigures): readonly string[] {
  return [
    name,
    percent(wronglyInjected),
    interval(wronglyInjected),
    percent(answered),
    interval(answered),
    answered.total === 0 ? '-' : recall.toFixed(3),
  ];
}

const percent = ({ rate, total }: Share): string => (total === 0 ? '-' : `${(100 * rate).toFixed(1)}%`);

const interval = ({ count, total, low, high }: Share): string =>
  total === 0 ? '-' : `${count} of ${total}, 95% ${(100 * low).toFixed(1)} to ${(100 * high).toFixed(1)}`;

function tradeOff({ alpha, heldOut }: Calibration): Plot {
  const shown = ([name, figures]: readonly [string, HeldOutFigures]) => ({
    name,
    point: [100 * figures.wronglyInjected.rate, 100 * figures.answered.rate] as const,
    ok: figures.wronglyInjected.total > 0 && figures.answered.total > 0,
  });
  const settings = (
    [
      ['before', heldOut.before],
      ['after', heldOut.after],
      ['threshold off', heldOut.ceiling],
    ] as const
  )
    .map(shown)
    .filter(({ ok }) => ok);
  const types = Object.entries(heldOut.byTaskType)
    .map(shown)
    .filter(({ ok }) => ok);
  const cloud = (name: string, list: typeof settings) => ({
    name,
    mark: 'points' as const,
    points: list.map(({ point }) => point),
    labels: list.map((one) => one.name),
  });
  return {
    title: 'Held out: answered against wrongly injected',
    x: { title: 'wrongly injected, % of queries without an answer' },
    y: { title: 'answered, % of queries with one' },
    series: [
      cloud('all task types', settings),
      cloud('after, by task type', types),
      {
        name: 'promised',
        points: [
          [100 * alpha, 0],
          [100 * alpha, 100],
        ],
      },
    ],
  };
}
