// `npm run bench [-- SUITE…] [--case NAME…] [--quick] [--out FOLDER] [--json]`, `npm run bench -- compare A.json B.json`, `… -- list`.
import { parseArgs } from 'node:util';
import { compareFiles, DEFAULT_TOLERANCE } from './harness/compare.mjs';
import { describeRun } from './harness/machine.mjs';
import { unjudged } from './harness/promises.mjs';
import { failures, renderText, writeReport } from './harness/report.mjs';
import { runSuites } from './harness/run-suites.mjs';
import { loadSuites } from './harness/suites.mjs';

const OPTIONS = {
  quick: { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  case: { type: 'string', multiple: true },
  out: { type: 'string', default: 'build/bench' },
  tolerance: { type: 'string', default: String(DEFAULT_TOLERANCE) },
  'any-machine': { type: 'boolean', default: false },
  partial: { type: 'boolean', default: false },
};

async function main() {
  const { values, positionals } = parseArgs({ options: OPTIONS, allowPositionals: true });
  if (positionals[0] === 'compare') {
    const tolerance = Number(values.tolerance);
    if (!(tolerance >= 0)) throw new Error('Expected a number of at least 0 for --tolerance');
    return compareFiles(positionals.slice(1), {
      tolerance,
      anyMachine: values['any-machine'],
      partial: values.partial,
      print: (text) => console.log(text),
    });
  }
  const suites = await loadSuites();
  if (positionals[0] === 'list') {
    for (const { name, title, cases } of suites) {
      console.log(
        `${name}: ${title}; cases ${cases({ quick: values.quick })
          .map((one) => one.name)
          .join(', ')}`,
      );
    }
    return 0;
  }
  const unknown = positionals.filter((name) => !suites.some((suite) => suite.name === name));
  if (unknown.length > 0) {
    throw new Error(
      `Expected suites of ${suites.map(({ name }) => name).join(', ')}, received ${unknown.join(', ')}`,
    );
  }
  const chosen = positionals.length === 0 ? suites : suites.filter(({ name }) => positionals.includes(name));
  const known = chosen.flatMap((suite) => suite.cases(values).map(({ name }) => name));
  const absent = (values.case ?? []).filter((name) => !known.includes(name));
  if (absent.length > 0)
    throw new Error(`Expected cases of ${known.join(', ')}, received ${absent.join(', ')}`);
  const run = describeRun();
  const report = { format: 1, quick: values.quick, run, suites: await runSuites(chosen, values) };
  writeReport(values.out, report, chosen);
  console.log(values.json ? JSON.stringify(report, undefined, 2) : renderText(report));
  const { held, missed: notJudged } = unjudged(report);
  if (held.length + notJudged.length > 0) {
    console.error(
      `bench: ${held.length + notJudged.length} promises were measured and not judged, since they are stated for the full form; ${held.length} held here, missed here were:`,
    );
    for (const line of notJudged) console.error(`bench:   ${line}`);
  }
  const missed = failures(report);
  for (const line of missed) console.error(`bench: ${line}`);
  console.error(`bench: results, plots and bench.md are in ${values.out}`);
  return missed.length === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(`bench: ${error.message}`);
  process.exitCode = 2;
}
