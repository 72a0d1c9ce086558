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

/**
 * Blocks of calls that a metric needs on either side before it is judged: the bootstrap's interval over one value has no width, so
 * that any noise beyond the tolerance would be a change, and over three it is the span from the least to the greatest.
 */
const MIN_ROUNDS = 5;

const casesOf = (report) =>
  report.suites.flatMap((suite) => suite.cases.map((one) => [`${suite.name}/${one.name}`, one]));

/** Of every case: its metrics by full name. */
function metricsByName(report) {
  return new Map(
    casesOf(report).flatMap(([name, { metrics }]) =>
      metrics.map((metric) => [`${name}/${metric.name}`, metric]),
    ),
  );
}

function checksByName(report) {
  return new Map(
    casesOf(report).flatMap(([name, { checks }]) => checks.map((check) => [`${name}/${check.what}`, check])),
  );
}

/** `{ estimate, low, high }` of B ÷ A, or `{ reason }` where the two values say nothing about each other. */
function ratioOf(old, metric) {
  // Counts and shares that no run changes are what they are: one value is enough.
  if (old.exact && metric.exact) {
    const estimate = old.value === metric.value ? 1 : metric.value / old.value;
    return { estimate, low: estimate, high: estimate };
  }
  const rounds = Math.min(old.rounds.length, metric.rounds.length);
  if (rounds < MIN_ROUNDS) return { reason: `${rounds} ${rounds === 1 ? 'round' : 'rounds'}` };
  if (old.value === 0) return { reason: '0 before' };
  return bootstrapRatio(old.rounds, metric.rounds, median);
}

function compareMetric(name, old, metric, tolerance) {
  const { reason, estimate, low, high } = ratioOf(old, metric);
  const row = { name, unit: metric.unit, before: old.value, after: metric.value };
  if (reason !== undefined) return { ...row, verdict: 'n/a', reason };
  const [gain, loss] =
    metric.better === 'lower'
      ? [high < 1 - tolerance, low > 1 + tolerance]
      : [low > 1 + tolerance, high < 1 - tolerance];
  return { ...row, estimate, low, high, verdict: loss ? 'worse' : gain ? 'better' : 'same' };
}

/** What run A has and run B does not: one line each. A case that is missing as a whole is one line, not one a metric. */
function missingOf(a, b) {
  const after = new Map(casesOf(b));
  return casesOf(a).flatMap(([name, { metrics, checks }]) => {
    const now = after.get(name);
    if (now === undefined) return [`case missing: ${name}`];
    if (now.error !== undefined) return [];
    if (now.skipped !== undefined)
      return metrics.length + checks.length > 0 ? [`case skipped: ${name}: ${now.skipped}`] : [];
    const left = new Set(now.metrics.map((metric) => metric.name));
    return metrics
      .filter((metric) => !left.has(metric.name))
      .map((metric) => `metric missing: ${name}/${metric.name}`);
  });
}

/** Checks that passed in A and do not in B: missed, not measured any more, or gone from a case that ran. */
function brokenChecks(a, b) {
  const ran = new Set(
    casesOf(b).flatMap(([name, { error, skipped }]) => ((error ?? skipped) === undefined ? [name] : [])),
  );
  const after = checksByName(b);
  return casesOf(a).flatMap(([name, { checks }]) => {
    if (!ran.has(name)) return [];
    return checks.flatMap(({ what, ok }) => {
      const now = after.get(`${name}/${what}`);
      if (ok !== true || now?.ok === true) return [];
      if (now === undefined) return [`check missing: ${name}/${what}`];
      return now.ok === false
        ? [`check no longer met: ${name}/${what}`]
        : [`check no longer measured: ${name}/${what}: ${now.value}`];
    });
  });
}

/**
 * A metric is `worse` (or `better`) where the whole 95% interval of B ÷ A lies beyond the tolerance, so that noise is not
 * called a change; with fewer than five rounds it is `n/a`. `broken` names what proves nothing any more: cases of B that ended
 * with an error, and cases, metrics and passed checks of A that B lacks (`partial`: B was run for a part, so only what it has counts).
 */
export function compareReports(a, b, { tolerance = DEFAULT_TOLERANCE, partial = false } = {}) {
  const before = metricsByName(a);
  const rows = [...metricsByName(b)].flatMap(([name, metric]) => {
    const old = before.get(name);
    return old === undefined ? [] : [compareMetric(name, old, metric, tolerance)];
  });
  const errors = casesOf(b).flatMap(([name, { error }]) =>
    error === undefined ? [] : [`case broke: ${name}: ${error}`],
  );
  const missing = missingOf(a, b).filter((line) => !(partial && line.startsWith('case missing')));
  const broken = [...errors, ...missing, ...brokenChecks(a, b)];
  return { rows, broken, worse: rows.some(({ verdict }) => verdict === 'worse') || broken.length > 0 };
}

function renderComparison({ rows, broken }) {
  const lines = rows.map(({ name, unit, before, after, estimate, low, high, verdict, reason }) => {
    const change = `${verdict.padEnd(6)}  ${name}: ${before} → ${after} ${unit}`;
    return reason === undefined
      ? `${change}, × ${estimate.toFixed(3)} (95%: ${low.toFixed(3)}–${high.toFixed(3)})`
      : `${change}, not comparable: ${reason}`;
  });
  return [...lines, ...broken.map((line) => `worse   ${line}`)].join('\n');
}

/** Exit code: 0 nothing got worse, 1 something did or broke, 2 the two cannot be compared. */
export function compareFiles(files, { tolerance, anyMachine, partial, print }) {
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
  if (a.quick !== b.quick) {
    print('Expected two full runs or two quick ones, received one of each');
    return 2;
  }
  const comparison = compareReports(a, b, { tolerance, partial });
  print(renderComparison(comparison));
  if (comparison.worse) return 1;
  if (comparison.rows.every(({ verdict }) => verdict === 'n/a')) {
    print('Expected metrics of several rounds that both runs have, received none');
    return 2;
  }
  return 0;
}
