// `bench compare A B`: what got slower or larger from run A to run B, with intervals.
import { readFileSync } from 'node:fs';
import { bootstrapRatio } from '../../dist/evaluation/statistics/bootstrap.js';
import { median } from '../../dist/evaluation/statistics/describe-sample.js';

/** Two quiet runs of one commit differ by up to 8% in a suite's medians; see bench/README.md. */
export const DEFAULT_TOLERANCE = 0.1;

export function readReport(file) {
  const report = JSON.parse(readFileSync(file, 'utf8'));
  if (report.format !== 1 || !Array.isArray(report.suites))
    throw new Error(`Expected results of npm run bench in ${file}`);
  return report;
}

function byName(report) {
  return new Map(
    report.suites.flatMap((suite) =>
      suite.cases.flatMap((one) =>
        one.metrics.map((metric) => [`${suite.name}/${one.name}/${metric.name}`, metric]),
      ),
    ),
  );
}

function checksByName(report) {
  return new Map(
    report.suites.flatMap((suite) =>
      suite.cases.flatMap((one) =>
        one.checks.map((check) => [`${suite.name}/${one.name}/${check.what}`, check.ok]),
      ),
    ),
  );
}

/**
 * A metric is `worse` (or `better`) where the whole 95% interval of B ÷ A lies beyond the tolerance, so that noise is not
 * called a change. Checks that passed in A must pass in B.
 */
export function compareReports(a, b, tolerance = DEFAULT_TOLERANCE) {
  const before = byName(a);
  const rows = [];
  for (const [name, metric] of byName(b)) {
    const old = before.get(name);
    if (old === undefined || old.value === 0) continue;
    const { estimate, low, high } = bootstrapRatio(old.rounds, metric.rounds, median);
    const [gain, loss] =
      metric.better === 'lower'
        ? [high < 1 - tolerance, low > 1 + tolerance]
        : [low > 1 + tolerance, high < 1 - tolerance];
    rows.push({
      name,
      unit: metric.unit,
      before: old.value,
      after: metric.value,
      estimate,
      low,
      high,
      verdict: loss ? 'worse' : gain ? 'better' : 'same',
    });
  }
  const passed = checksByName(a);
  const broken = [...checksByName(b)]
    .filter(([name, ok]) => ok === false && passed.get(name) === true)
    .map(([name]) => name);
  return { rows, broken, worse: rows.some(({ verdict }) => verdict === 'worse') || broken.length > 0 };
}

function renderComparison({ rows, broken }) {
  const lines = rows.map(
    ({ name, unit, before, after, estimate, low, high, verdict }) =>
      `${verdict.padEnd(6)}  ${name}: ${before} → ${after} ${unit}, × ${estimate.toFixed(3)} (95%: ${low.toFixed(3)}–${high.toFixed(3)})`,
  );
  return [...lines, ...broken.map((name) => `worse   check no longer met: ${name}`)].join('\n');
}

/** Exit code: 0 nothing got worse, 1 something did, 2 the two cannot be compared. */
export function compareFiles(files, { tolerance, anyMachine, print }) {
  if (files.length !== 2) {
    print('Expected two files of results: npm run bench -- compare A.json B.json');
    return 2;
  }
  let reports;
  try {
    reports = files.map(readReport);
  } catch (error) {
    print(error.message);
    return 2;
  }
  const [a, b] = reports;
  if (!anyMachine && (a.run.machine !== b.run.machine || a.run.isa !== b.run.isa)) {
    print(
      `Expected two runs of one machine, received ${a.run.machine} ${a.run.isa} and ${b.run.machine} ${b.run.isa}; --any-machine compares all the same`,
    );
    return 2;
  }
  const comparison = compareReports(a, b, tolerance);
  if (comparison.rows.length === 0) {
    print('Expected metrics that both runs have, received none');
    return 2;
  }
  print(renderComparison(comparison));
  return comparison.worse ? 1 : 0;
}
