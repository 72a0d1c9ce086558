import type { GateResult } from '../gate.js';
import { MEASURES } from '../metrics.js';
import { escapeXml } from '../plots/render-plot.js';

/** JUnit XML: one test case a check of the gate, and one a query that got worse. */
export function renderJunit(gate: GateResult): string {
  const failed = gate.checks.filter(({ ok }) => !ok).length + gate.cases.length;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites tests="${gate.checks.length + gate.cases.length}" failures="${failed}">`,
    `<testsuite name="errata gate" tests="${gate.checks.length}" failures="${gate.checks.filter(({ ok }) => !ok).length}">`,
    ...gate.checks.map(({ name, ok, text }) => testCase('gate', name, ok ? undefined : text)),
    '</testsuite>',
    `<testsuite name="errata queries that got worse" tests="${gate.cases.length}" failures="${gate.cases.length}">`,
    ...gate.cases.map(({ id, query, worse, expected, before, after }) =>
      testCase(
        'query',
        id,
        `${worse.map((name) => MEASURES[name].title).join(', ')}: ${query}\nexpected ${list(expected)}; before ${list(before)}; now ${list(after)}`,
      ),
    ),
    '</testsuite>',
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
