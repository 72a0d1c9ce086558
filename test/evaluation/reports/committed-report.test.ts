import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { renderHtml } from '../../../src/evaluation/reports/render-html.js';
import { renderMarkdown } from '../../../src/evaluation/reports/render-markdown.js';
import { parseReport } from '../../../src/evaluation/reports/report-json.js';

const read = (file: string): string => readFileSync(file, 'utf8');
const COMMAND =
  'npm run evaluate -- --guards --report sample/baseline.json docs/reports/evaluation.html docs/reports/evaluation.md';

describe('the committed report of the sample', () => {
  const report = parseReport(read('sample/baseline.json'), 'baseline.json');
  const files = {
    'docs/reports/evaluation.html': renderHtml({ report }),
    'docs/reports/evaluation.md': renderMarkdown(report),
  };

  it.each(Object.entries(files))('%s is what the present code makes of the baseline', (file, rendered) => {
    // Where this fails: `npm run build`, then the command below.
    expect(read(file) === rendered, `make it anew: ${COMMAND}`).toBe(true);
  });

  it.each(Object.keys(files))('%s is small, names no folder of a machine and is linked', (file) => {
    const text = read(file);
    expect(Buffer.byteLength(text)).toBeLessThan(200_000);
    expect(text).not.toMatch(/(?:^|[\s"'(>])(?:\/(?:home|root|tmp|work|Users)\/|[A-Z]:\\)/u);
    expect(read('README.md')).toContain(`](${file})`);
  });

  it('is made by a command that the docs name', () => {
    expect(read('docs/evaluation.md')).toContain(COMMAND);
    expect(read('sample/README.md')).toContain('docs/evaluation.md');
  });
});
