import type { Share } from '../domain/wilson.js';
import type { InjectionReport } from './injection-report.js';
import { HALVES } from './labelled-set.js';
import type { SecretsReport } from './secrets-report.js';

/** `0.928 [0.878, 0.958]  155/167`: rate, 95% interval, counts. */
export function renderShare({ rate, low, high, count, total }: Share): string {
  const figure = total === 0 ? '    -' : rate.toFixed(3);
  return `${figure} [${low.toFixed(3)}, ${high.toFixed(3)}] ${`${count}/${total}`.padStart(8)}`;
}

/** For a terminal of 80 columns. */
export function renderInjectionReport(report: InjectionReport): string {
  return [
    `${''.padEnd(20)}${'attacks caught'.padEnd(31)}false alarms`,
    ...HALVES.map((half) => {
      const { caught, falseAlarms } = report.halves[half];
      return `${half.padEnd(19)} ${renderShare(caught).padEnd(31)}${renderShare(falseAlarms)}`.trimEnd();
    }),
    ...Object.entries(report.bySitting).map(([sitting, { caught, falseAlarms }]) =>
      `${`  ${sitting}`.padEnd(19)} ${renderShare(caught).padEnd(31)}${renderShare(falseAlarms)}`.trimEnd(),
    ),
    '',
    'Held-out attacks by language:',
    ...Object.entries(report.byLanguage).map(([name, share]) => `${name.padEnd(20)} ${renderShare(share)}`),
    '',
    'Held-out attacks by kind:',
    ...Object.entries(report.byKind).map(([name, share]) => `  ${name.padEnd(18)} ${renderShare(share)}`),
    '',
    `Rate, 95% interval (Wilson), counts. Set ${report.setDigest}.`,
    ...wrongIds('Missed', report.missed.tune),
    ...wrongIds('Needless alarms', report.alarmed.tune),
  ].join('\n');
}

/** For a terminal of 80 columns. */
export function renderSecretsReport(report: SecretsReport): string {
  return [
    `${''.padEnd(21)}${'recall'.padEnd(30)}precision`,
    ...HALVES.map((half) => row(half, report.halves[half])),
    ...HALVES.map(
      (half) =>
        `${`harmless texts left as they are, ${half}`.padEnd(42)}${renderShare(report.halves[half].untouched)}`,
    ),
    '',
    'By kind, both halves:',
    ...Object.entries(report.byKind).map(([kind, figures]) => row(kind, figures)),
    '',
    `Spans found whole; rate, 95% interval (Wilson), counts. ${report.texts} texts,`,
    `set ${report.setDigest}.`,
    ...wrongIds('Wrong', report.wrong),
  ].join('\n');
}

function row(
  name: string,
  { recall, precision }: { readonly recall: Share; readonly precision: Share },
): string {
  return `${name.padEnd(20)} ${renderShare(recall).padEnd(30)}${renderShare(precision)}`.trimEnd();
}

/** Of the tuning half only: whoever reads the held-out ones has begun to tune on them. */
function wrongIds(title: string, ids: readonly string[]): readonly string[] {
  if (ids.length === 0) return [];
  const lines = [`${title} in the tuning half:`];
  for (const id of ids) {
    const line = `${lines.at(-1)} ${id}`;
    if (line.length <= 80) lines[lines.length - 1] = line;
    else lines.push(`  ${id}`);
  }
  return lines;
}
