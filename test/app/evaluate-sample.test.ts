import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseReport } from '../../src/evaluation/reports/report-json.js';

const ready = existsSync('dist/app/main.js') && existsSync('.cache/models/all-MiniLM-L6-v2');
const folder = mkdtempSync(path.join(tmpdir(), 'errata-gate-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function evaluate(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(process.execPath, ['dist/app/main.js', 'evaluate', ...args], { encoding: 'utf8' });
}

/** The figures of the test half in a Markdown report. */
function headline(markdown: string): readonly number[] {
  const row = markdown.split('\n').find((line) => line.startsWith('| test |')) ?? '';
  return row.split('|').slice(2, -1).map(Number);
}

describe.skipIf(!ready)(
  `errata evaluate --gate${ready ? '' : ' (skipped: dist or the model is missing)'}`,
  () => {
    const gate = ['--gate', 'sample/gate.json'];

    it('passes the project’s own sample against its committed baseline, with the figures of the committed report', () => {
      const made = ['report.html', 'report.md', 'report.xml', 'report.json'].map((name) =>
        path.join(folder, 'made', name),
      );
      const { status, stdout, stderr } = evaluate(
        ...gate,
        '--baseline',
        'sample/baseline.json',
        '--report',
        ...made,
      );
      expect(stdout + stderr).toContain('ok    recall@3');
      expect(status).toBe(0);
      const [html = '', markdown = '', junit = '', json = ''] = made.map((file) =>
        readFileSync(file, 'utf8'),
      );
      expect(html).toMatch(/^<!doctype html>[\s\S]*Gate passed/u);
      expect(markdown).toContain('✅');
      expect(junit).toContain('<testsuites');
      expect(parseReport(json, 'report.json').cases).toHaveLength(513);
      // Another processor may round a score to the other side of a threshold: a query of a half, as the gate allows.
      const fresh = headline(markdown);
      const committed = headline(readFileSync('docs/reports/evaluation.md', 'utf8'));
      expect(fresh).toHaveLength(9);
      for (const [index, value] of committed.entries())
        expect(Math.abs((fresh[index] ?? 0) - value)).toBeLessThanOrEqual(0.02);
    });

    it('fails on a planted regression and names the queries', () => {
      // What a bad change does to a note set: every third lesson now says something else.
      const rows = readFileSync('sample/notes.jsonl', 'utf8').trim().split('\n');
      const broken = rows.map((row, index) => {
        const note = JSON.parse(row) as { lesson: string; wrongAnswer: string; correction: string };
        const text = `Spring cleaning number ${index} of the office plants happens in March.`;
        return index % 3 === 0
          ? JSON.stringify({ ...note, lesson: text, wrongAnswer: text, correction: text })
          : row;
      });
      const notes = path.join(folder, 'broken.jsonl');
      writeFileSync(notes, broken.join('\n'));
      const out = path.join(folder, 'out');
      const { status, stdout } = evaluate(
        ...gate,
        '--baseline',
        'sample/baseline.json',
        '--notes',
        notes,
        '--out',
        out,
      );
      expect(status).toBe(1);
      expect(stdout).toContain('regression: recall@3');
      expect(stdout).toMatch(/q-\d+ \(.*recallAt3/u);
      expect(readFileSync(path.join(out, 'junit.xml'), 'utf8')).toContain('<failure');
      expect(readFileSync(path.join(out, 'report.md'), 'utf8')).toContain('❌');
    });

    it('says 2 where it could not run, whatever the reason', () => {
      const missing = evaluate(...gate, '--baseline', path.join(folder, 'none.json'));
      expect(missing.status).toBe(2);
      const noModel = evaluate(...gate, '--baseline', 'sample/baseline.json', '--models-dir', folder);
      expect(noModel.stderr).toContain('MODEL_NOT_INSTALLED');
      expect(noModel.status).toBe(2);
    });
  },
);
