import { SaxesParser } from 'saxes';
import { describe, expect, it } from 'vitest';
import { judge, parseGate } from '../../../src/evaluation/gate.js';
import { renderHtml } from '../../../src/evaluation/reports/render-html.js';
import { renderJunit, renderUngatedJunit } from '../../../src/evaluation/reports/render-junit.js';
import { renderMarkdown } from '../../../src/evaluation/reports/render-markdown.js';
import { renderText } from '../../../src/evaluation/reports/render-text.js';
import { parseReport, reportToJson } from '../../../src/evaluation/reports/report-json.js';
import { caseOf, reportOf, reportWith } from '../case-results.js';

const HOSTILE = '<script>alert(1)</script> `code` "quoted" \u0007 | pipe';
const hostile = caseOf({ id: 'q"<1', query: HOSTILE, ranking: ['a'], answered: [], expected: ['a'] });
const before = reportOf([...reportWith(9, 10).cases, caseOf({ ...hostile, answered: ['a'] })]);
const after = reportOf([...reportWith(7, 10).cases, hostile]);
const gate = judge(parseGate('{"drops":{"recallAt3":0.05,"answeredRight":0}}', 'g'), after, before);

describe('reports', () => {
  it('are read back from JSON as they were, and older formats are refused', () => {
    expect(parseReport(reportToJson(after), 'r')).toEqual(JSON.parse(JSON.stringify(after)));
    for (const text of ['{', '{"format":1}', '{"format":2,"cases":[]}']) {
      expect(() => parseReport(text, 'r')).toThrow(expect.objectContaining({ code: 'INVALID_FILE' }));
    }
  });

  it('the page loads nothing, runs nothing and escapes what it shows', () => {
    const html = renderHtml({ report: after, gate });
    expect(html).toContain('Gate failed');
    expect(html).not.toMatch(/<script|<link|<img|@import|url\(/iu);
    expect(html.match(/https?:\/\/[^"< ]+/gu)?.every((url) => url === 'http://www.w3.org/2000/svg')).toBe(
      true,
    );
    expect(html).toContain('&#60;script&#62;');
    expect(html).toContain('<svg');
    expect(html).not.toMatch(/NaN|undefined/u);
  });

  it('show the places that were asked for, and no such table otherwise', () => {
    const cutoffs = [
      { k: 1, recall: 0.25, precision: 0.5, hit: 0.5, ndcg: 0.5 },
      { k: 20, recall: 0.875, precision: 0.0625, hit: 1, ndcg: 0.75 },
    ];
    const report = { ...after, cutoffs };
    expect(renderText(report)).toMatch(/^ +20 {3}0\.875 {3}0\.06\d {3}1\.000 {3}0\.750$/mu);
    expect(renderMarkdown(report)).toContain('| 1 | 0.250 | 0.500 | 0.500 | 0.500 |');
    expect(renderHtml({ report })).toContain('<td>0.875</td>');
    expect(parseReport(reportToJson(report), 'r').cutoffs).toEqual(cutoffs);
    for (const text of [renderText(after), renderMarkdown(after), renderHtml({ report: after })])
      expect(text).not.toMatch(/By place|\| k \||^ +k /mu);
  });

  it('JUnit is well-formed XML with one case a check and one a query that got worse', () => {
    const cases: string[] = [];
    let failures = 0;
    const parser = new SaxesParser();
    parser.on('error', (error) => {
      throw error;
    });
    parser.on('opentag', ({ name, attributes }) => {
      if (name === 'testcase') cases.push(String((attributes as Record<string, string>).name));
      if (name === 'failure') failures += 1;
    });
    parser.write(renderJunit(gate)).close();
    expect(cases).toEqual(['drop recall@3', 'drop answered', 'q7', 'q8', 'q"<1']);
    expect(failures).toBe(5);
  });

  it('JUnit of a run that nothing judged is one case that passes, with the figures', () => {
    const names: string[] = [];
    let failures = 0;
    let text = '';
    const parser = new SaxesParser();
    parser.on('error', (error) => {
      throw error;
    });
    parser.on('opentag', ({ name }) => {
      if (name === 'testcase') names.push(name);
      if (name === 'failure') failures += 1;
    });
    parser.on('text', (part) => {
      text += part;
    });
    parser.write(renderUngatedJunit(after)).close();
    expect(names).toHaveLength(1);
    expect(failures).toBe(0);
    expect(text).toContain(
      `${after.cases.length} queries; test half: recall@3 ${after.test.recallAt3.toFixed(3)}`,
    );
  });

  it('Markdown says what failed and cannot be broken out of', () => {
    const markdown = renderMarkdown(after, gate);
    expect(markdown).toContain('❌ Retrieval gate failed');
    expect(markdown).toContain('3 queries got worse');
    expect(markdown).toContain("`<script>alert(1)</script> 'code' ");
    expect(
      renderMarkdown(before, judge(parseGate('{"bounds":{"mrr":0.1}}', 'g'), before, undefined)),
    ).toContain('✅');
  });

  it('a terminal of 100 columns holds the table', () => {
    const lines = renderText(after, gate).split('\n');
    expect(lines[0]).toContain('recall@3');
    expect(lines.some((line) => line.startsWith('FAIL  recall@3'))).toBe(true);
    const table = lines.slice(0, lines.indexOf(''));
    expect(Math.max(...table.map((line) => line.length))).toBeLessThanOrEqual(100);
  });
});
