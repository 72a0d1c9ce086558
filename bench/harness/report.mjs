// Everything that is made of a run's JSON: the terminal's text, Markdown and SVG plots.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { renderPlot } from '../../dist/evaluation/plots/render-plot.js';

/** Where things failed: a case that broke or a check that missed. One line each. */
export function failures(report) {
  return report.suites.flatMap((suite) =>
    suite.cases.flatMap(({ name, error, checks }) => [
      ...(error === undefined ? [] : [`${suite.name}/${name}: ${error}`]),
      ...checks
        .filter(({ ok }) => ok === false)
        .map(({ what, value }) => `${suite.name}/${name}: ${what}, received ${value}`),
    ]),
  );
}

/** A check without an `ok` was not measured; its value is the reason. */
const VERDICTS = { true: 'ok', false: 'MISS', undefined: 'n/a' };

export function renderText(report) {
  const { machine, node, isa, commit, load1 } = report.run;
  const lines = [`${machine}, Node ${node}, ${isa}, commit ${commit}, load ${load1}`];
  for (const suite of report.suites) {
    for (const { name, setup, skipped, error, seconds, metrics, checks } of suite.cases) {
      lines.push('', `${suite.name}/${name} (${seconds} s): ${error ?? skipped ?? setup ?? ''}`);
      for (const row of table(metrics)) lines.push(`  ${row}`);
      for (const { what, ok, value } of checks) lines.push(`  ${VERDICTS[ok].padEnd(4)} ${what}: ${value}`);
    }
  }
  return lines.join('\n');
}

const COLUMNS = ['value', 'unit', 'p95', 'p99', 'perSecond', 'recall'];

function table(metrics) {
  const rows = metrics.map((metric) => [
    metric.name,
    ...COLUMNS.map((column) => String(metric[column] ?? '')),
  ]);
  if (rows.length === 0) return [];
  const all = [['', 'median', ...COLUMNS.slice(1)], ...rows];
  const widths = all[0].map((_, column) => Math.max(...all.map((row) => row[column].length)));
  return all.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column])))
      .join('  '),
  );
}

function renderMarkdown(report, plots) {
  const { machine, memoryGiB, node, isa, commit, dirty, load1, startedAt } = report.run;
  const lines = [
    '# Bench results',
    '',
    `Made by \`npm run bench${report.quick ? ' -- --quick' : ''}\` from [bench.json](bench.json): ${machine}, ${memoryGiB} GiB, Node ${node}, ${isa}, commit ${commit}${dirty ? ' with changes' : ''}, ${startedAt}, load before the run ${load1}.`,
    'Absolute figures belong to this machine. Median unless a column says otherwise.',
  ];
  for (const suite of report.suites) {
    lines.push('', `## ${suite.name}: ${suite.title}`);
    for (const { file, title } of plots.filter((plot) => plot.suite === suite.name))
      lines.push('', `![${title}](${file})`);
    for (const { name, setup, skipped, error, metrics, checks, versions = {} } of suite.cases) {
      lines.push('', `### ${name}`, '', error ?? skipped ?? setup ?? '');
      const beside = Object.entries(versions).map(([rival, version]) => `${rival} ${version}`);
      if (beside.length > 0) lines.push('', `Beside: ${beside.join(', ')}.`);
      if (metrics.length > 0) {
        lines.push('', '| | median | unit | p95 | p99 | calls/s | recall |', '|---|--:|---|--:|--:|--:|--:|');
        for (const metric of metrics) {
          lines.push(`| ${metric.name} | ${COLUMNS.map((column) => metric[column] ?? '').join(' | ')} |`);
        }
      }
      if (checks.length > 0) lines.push('');
      for (const { what, ok, value } of checks)
        lines.push(`- ${ok === false ? '**missed**' : VERDICTS[ok]}: ${what}: ${value}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

/** Writes bench.json, bench.md and one SVG a plot into the folder. */
export function writeReport(folder, report, suites) {
  mkdirSync(folder, { recursive: true });
  const plots = [];
  for (const suite of report.suites) {
    const drawn = suites.find(({ name }) => name === suite.name)?.plots?.(suite.cases) ?? [];
    for (const { name, ...plot } of drawn) {
      const file = `${suite.name}-${name}.svg`;
      writeFileSync(path.join(folder, file), `${renderPlot(plot)}\n`);
      plots.push({ suite: suite.name, file, title: plot.title });
    }
  }
  writeFileSync(path.join(folder, 'bench.json'), `${JSON.stringify(report, undefined, 1)}\n`);
  writeFileSync(path.join(folder, 'bench.md'), renderMarkdown(report, plots));
}
