import { escapeXml as esc, type Plot, renderPlot } from '../plots/render-plot.js';
import { STYLE } from './html-style.js';

/** One self-contained page: plots inline, no script, nothing loaded. `title` is text, `sections` are HTML. */
export function htmlPage(title: string, sections: readonly string[]): string {
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>Errata: ${esc(title.toLowerCase())}</title><style>${STYLE}</style></head><body><main>`,
    `<h1>${esc(title)}</h1>`,
    ...sections,
    '</main></body></html>',
    '',
  ].join('\n');
}

/** Cells are text. */
export function htmlTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = (row: readonly string[]) => row.map((cell) => `<td>${esc(cell)}</td>`).join('');
  return `<div class="scroll"><table><thead><tr>${head.map((cell) => `<th>${esc(cell)}</th>`).join('')}</tr></thead><tbody>${rows.map((row) => `<tr>${cells(row)}</tr>`).join('')}</tbody></table></div>`;
}

/** One large figure; all three are text. */
export function htmlTile(name: string, value: string, note: string): string {
  return `<div><span>${esc(name)}</span><strong>${esc(value)}</strong><small>${esc(note)}</small></div>`;
}

export function htmlFigure(plot: Plot, caption: string): string {
  return `<figure>${renderPlot(plot)}<figcaption>${esc(caption)}</figcaption></figure>`;
}

/** Folded where the table is long; open at up to a dozen rows. */
export function htmlDetails(
  title: string,
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  return `<details${rows.length > 0 && rows.length <= 12 ? ' open' : ''}><summary>${esc(title)}: ${rows.length}</summary>${htmlTable(head, rows)}</details>`;
}
