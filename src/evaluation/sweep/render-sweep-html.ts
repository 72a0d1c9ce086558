import { escapeXml as esc } from '../plots/render-plot.js';
import { htmlFigure, htmlPage, htmlTable } from '../reports/html-page.js';
import { SWEEP_GROUPS, SWEEP_HEAD, SWEEP_NOTES, sweepCells, sweepPlots } from './render-sweep.js';
import type { SweepReport } from './run-sweep.js';
import { VARIANT_GROUPS } from './variants.js';

/** One self-contained page: both plots and a table a group. */
export function renderSweepHtml(report: SweepReport): string {
  const { qualityByTime, answeredByInjected } = sweepPlots(report);
  return htmlPage('Sweep', [
    `<p class="muted">${esc(`${report.createdAt} · golden set ${report.goldenDigest}, ${report.queries} queries · model ${report.embeddingModel} · ${report.machine}`)}</p>`,
    `<p>${esc(SWEEP_NOTES.join(' '))}</p>`,
    htmlFigure(
      qualityByTime,
      'Every point is one way to answer; up and to the left is better. Joined: what no other one beats in both.',
    ),
    htmlFigure(
      answeredByInjected,
      'The same for thresholds: up is more right answers, right is more notes where none applies.',
    ),
    ...SWEEP_GROUPS.flatMap((group) => {
      const rows = report.rows.filter((row) => row.group === group);
      return rows.length === 0
        ? []
        : [`<h2>${esc(VARIANT_GROUPS[group])}</h2>`, htmlTable(SWEEP_HEAD, rows.map(sweepCells))];
    }),
  ]);
}
