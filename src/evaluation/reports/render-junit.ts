import type { GateResult } from '../gate.js';
import { GUARD_MEASURES } from '../guards/guard-measures.js';
import { MEASURES } from '../metrics.js';
import { escapeXml } from '../plots/render-plot.js';
import type { EvaluationReport } from '../report.js';

/** JUnit XML: one test case a check of the gate, and one a query that got worse. */
export function renderJunit({ checks, cases, guardFaults }: GateResult): string {
  const missed = checks.filter(({ ok }) => !ok).length;
  const wrong = cases.length + guardFaults.length;
  return suites(checks.length + wrong, missed + wrong, [
    `<testsuite name="errata gate" tests="${checks.length}" failures="${missed}">`,
    ...checks.map(({ name, ok, text }) => testCase('gate', name, ok ? undefined : text)),
    '</testsuite>',
    `<testsuite name="errata queries that got worse" tests="${cases.length}" failures="${cases.length}">`,
    ...cases.map(({ id, query, worse, expected, before, after }) =>
      testCase(
        'query',
        id,
        `${worse.map((name) => MEASURES[name].title).join(', ')}: ${query}\nexpected ${list(expected)}; before ${list(before)}; now ${list(after)}`,
      ),
    ),
    '</testsuite>',
    ...(guardFaults.length === 0
      ? []
      : [
          `<testsuite name="errata guards" tests="${guardFaults.length}" failures="${guardFaults.length}">`,
          ...guardFaults.map(({ id, half, measure }) =>
            testCase('guard', id, `${GUARD_MEASURES[measure].title} (${half})`),
          ),
          '</testsuite>',
        ]),
  ]);
}

/** The same for a run that nothing judged: one case that passes, with the figures, so that a step that collects the file finds one. */
export function renderUngatedJunit({ cases, test, goldenDigest }: EvaluationReport): string {
  const { recallAt3, mrr, answeredRight, abstentionRate } = test;
  const figures = `${cases.length} queries; test half: recall@3 ${recallAt3.toFixed(3)}, MRR ${mrr.toFixed(3)}, answered ${answeredRight.toFixed(3)}, abstained ${abstentionRate.toFixed(3)}`;
  return suites(1, 0, [
    '<testsuite name="errata evaluation" tests="1" failures="0">',
    testCase('evaluation', `golden set ${goldenDigest}, no gate`, undefined),
    `<system-out>${clean(figures)}</system-out>`,
    '</testsuite>',
  ]);
}

function suites(tests: number, failures: number, lines: readonly string[]): string {
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites tests="${tests}" failures="${failures}">`,
    ...lines,
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase(className: string, name: string, failure: string | undefined): string {
  const open = `<testcase classname="errata.${className}" name="${clean(name)}"`;
  if (failure === undefined) return `${open}/>`;
  const [first = ''] = failure.split('\n');
  return `${open}><failure message="${clean(first)}">${clean(failure)}</failure></testcase>`;
}

function list(ids: readonly string[]): string {
  return ids.length === 0 ? 'nothing' : ids.join(', ');
}

/** XML 1.0 has no place for control characters, not even escaped. */
function clean(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
  return escapeXml(text.replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '\ufffd'));
}
