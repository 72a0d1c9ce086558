import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { evaluateNamespace } from '../../src/app/evaluate-namespace.js';
import { evaluateSample } from '../../src/app/evaluate-sample.js';
import { exportNotes } from '../../src/notes/import/export-notes.js';
import { openRealApp, type RealApp } from './real-app.js';

const ready = existsSync('dist/app/main.js') && existsSync('.cache/models/all-MiniLM-L6-v2');
const folder = mkdtempSync(path.join(tmpdir(), 'errata-own-'));
const data = path.join(folder, 'data');
afterAll(() => rmSync(folder, { recursive: true, force: true }));
/** Each start of the program takes seconds on a loaded machine. */
const TIMEOUT_MS = 180_000;

const LESSONS = [
  'CVE-2021-44228 sits in log4j-core; log4j-api without log4j-core is not affected.',
  'Connections of the pool are closed by the pool itself, so a missing close() is no leak.',
  'A clause that renews for one month at a time needs no notice period of its own.',
  'Dates before 1970 in the ledger export are entry errors, not fraud.',
];
const QUERIES = [
  'CVE-2021-44228 reported for a jar that holds only log4j-api',
  'leak reported: no close() on a pooled connection',
  'contract renews month by month without a notice period',
  'ledger export holds a date in 1901',
];
const REVIEWER = { name: 'rita', roles: ['reviewer'] } as const;
const namespace = 'team-a';

function errata(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const flags = ['--data', data, '--snapshots', 'false'];
  return spawnSync(process.execPath, ['dist/app/main.js', 'evaluate', ...args, ...flags], {
    encoding: 'utf8',
  });
}

function write(name: string, value: unknown): string {
  const file = path.join(folder, name);
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value));
  return file;
}

describe.skipIf(!ready)(
  `errata evaluate --namespace${ready ? '' : ' (skipped: dist or the model is missing)'}`,
  { timeout: TIMEOUT_MS },
  () => {
    const ids: string[] = [];
    let real: RealApp;

    beforeAll(async () => {
      mkdirSync(data);
      real = await openRealApp({ folder: data });
      const { commands, evaluations } = real.app.useCases;
      for (const [index, lesson] of LESSONS.entries()) {
        const { note } = await commands.submit(REVIEWER, {
          ...{ namespace, taskType: 'check', correction: lesson, lesson },
          wrongAnswer: `Claimed the opposite: ${lesson}`,
        });
        ids.push(note?.id ?? '');
        // As a review tool does: the reviewer judges what an answer should have held.
        await evaluations.addGoldenQuery(REVIEWER, {
          namespace,
          query: QUERIES[index] ?? '',
          expected: [{ noteId: note?.id ?? '', grade: 3 }],
        });
      }
    }, TIMEOUT_MS);
    afterAll(() => real?.close());

    const measure = (request: object) =>
      evaluateNamespace(real, { namespace, signal: new AbortController().signal, ...request });
    const recallOf = ({ report }: { report: unknown }) =>
      (report as { all: { recallAt3: number } }).all.recallAt3;

    it('gates a set that reviewers made in the API: 0 as it is, 1 when its notes are gone, 2 without one', async () => {
      const gate = write('gate.json', { half: 'all', bounds: { recallAt3: 0.99 }, drops: { recallAt3: 0 } });
      const baseline = path.join(folder, 'report.json');
      const out = path.join(folder, 'out');
      const first = errata('-n', namespace, '--report', baseline, '--out', out);
      expect(first.status).toBe(0);
      for (const name of ['report.html', 'report.md', 'report.json', 'junit.xml'])
        expect(readFileSync(path.join(out, name), 'utf8')).toContain('recall');
      expect(readFileSync(path.join(out, 'ragas.jsonl'), 'utf8')).toContain(LESSONS[0]);

      const { evaluations, commands } = real.app.useCases;
      const { digest } = await evaluations.saveGoldenSet(
        REVIEWER,
        namespace,
        await evaluations.goldenText(namespace),
      );
      const judged = ['--gate', gate, '--baseline', baseline];
      const same = errata('-n', namespace, '--golden', digest, ...judged);
      expect(same.stdout).toContain('ok    recall@3');
      expect(same.status).toBe(0);

      await commands.deprecate(REVIEWER, namespace, ids.slice(0, 2), 'withdrawn by mistake');
      const broken = errata('-n', namespace, ...judged);
      expect(broken.stdout).toContain('regression: recall@3');
      expect(broken.stdout).toContain(QUERIES[0]);
      expect(broken.status).toBe(1);

      expect(errata('-n', 'team-b', ...judged).status).toBe(2);

      // Runs of the command line stand in the same history as those of the job.
      const runs = await evaluations.runs(namespace, 10);
      expect(runs.map(({ all }) => all.recallAt3)).toEqual([0.5, 1, 1]);
    });

    it('takes a set from a file or by the digest of a version', async () => {
      const { evaluations } = real.app.useCases;
      const golden = write('golden.jsonl', await evaluations.goldenText(namespace));
      const [older] = (await evaluations.goldenSet(namespace))?.versions.slice(-1) ?? [];
      expect(recallOf(await measure({ golden }))).toBe(0.5);
      // The first version held the first question only, whose note is withdrawn.
      expect(recallOf(await measure({ golden: older?.digest }))).toBe(0);
      await expect(measure({ golden: 'f'.repeat(16) })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    });

    it('gates exported notes where the store is out of reach: the ids of the set are those of the export', async () => {
      const { commands, notes, evaluations } = real.app.useCases;
      await commands.restore(REVIEWER, namespace, ids.slice(0, 2), 'it was a mistake');
      let lines = '';
      for await (const line of exportNotes(notes, [namespace], {})) lines += line;
      const files = {
        config: real.config,
        notes: write('export.jsonl', lines),
        golden: write('golden.jsonl', await evaluations.goldenText(namespace)),
        gate: write('bounds.json', { half: 'all', bounds: { recallAt3: 0.99 } }),
        signal: new AbortController().signal,
      };
      const whole = await evaluateSample(files);
      expect(whole.regressions).toEqual([]);
      expect(recallOf(whole)).toBe(1);

      const withdrawn = lines.replace('"status":"ACTIVE"', '"status":"DEPRECATED"');
      expect(withdrawn).not.toBe(lines);
      write('export.jsonl', withdrawn);
      const part = await evaluateSample(files);
      expect(part.text).toContain(`Not in the store: ${ids[0]}`);
      expect(part.regressions?.[0]).toContain('recall@3');

      write('export.jsonl', '{"id":"a","status":"ACTIVE"}\n');
      await expect(evaluateSample(files)).rejects.toMatchObject({
        code: 'INVALID_FILE',
        message: expect.stringContaining('export.jsonl line 1'),
      });
    });
  },
);
