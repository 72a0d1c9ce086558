import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const folder = mkdtempSync(path.join(tmpdir(), 'errata-compare-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Made {
  readonly ok?: boolean | undefined;
  readonly machine?: string;
  /** Of the one metric; default 20. */
  readonly rounds?: number;
  readonly exact?: boolean;
  /** What the case is instead of measured. */
  readonly instead?: { readonly error: string } | { readonly skipped: string };
  readonly metric?: string;
  readonly check?: string;
  readonly caseName?: string;
  readonly quick?: boolean;
}

function results(name: string, medianMs: number, made: Made = {}): string {
  const { machine = 'm', rounds: count = 20, exact, instead, metric = 'call', quick = false } = made;
  const rounds = Array.from({ length: count }, (_, index) => medianMs * (1 + (index % 5) / 100));
  const ok = 'ok' in made ? made.ok : true;
  const metrics = [{ name: metric, unit: 'ms', better: 'lower', value: medianMs, rounds, exact }];
  const checks = [{ what: made.check ?? 'right', ok, value: ok === undefined ? 'not installed' : 1 }];
  const one = { name: made.caseName ?? '1k', ...(instead ?? {}) };
  const cases = [instead === undefined ? { ...one, metrics, checks } : { ...one, metrics: [], checks: [] }];
  const file = path.join(folder, name);
  writeFileSync(
    file,
    JSON.stringify({ format: 1, quick, run: { machine, isa: 'x' }, suites: [{ name: 's', cases }] }),
  );
  return file;
}

function compare(...args: string[]): { status: number | null; text: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['bench/run.mjs', 'compare', ...args], {
    encoding: 'utf8',
  });
  return { status, text: stdout + stderr };
}

const built = existsSync('dist/evaluation/statistics/bootstrap.js');
describe.skipIf(!built)(`bench compare${built ? '' : ' (skipped: dist is not built)'}`, () => {
  const base = results('a.json', 10);

  it('passes a run against itself and against noise within the tolerance', () => {
    expect(compare(base, base).status).toBe(0);
    expect(compare(base, results('b.json', 10.5)).status).toBe(0);
  });

  it('fails where a metric got slower beyond the tolerance, and says which', () => {
    const { status, text } = compare(base, results('slow.json', 13));
    expect(status).toBe(1);
    expect(text).toContain('worse   s/1k/call: 10 → 13 ms, × 1.300');
    expect(compare(results('slow.json', 13), base).text).toContain('better  s/1k/call');
    expect(compare(base, results('slow.json', 13), '--tolerance', '0.5').status).toBe(0);
  });

  it('fails where a check is no longer met', () => {
    const { status, text } = compare(base, results('broken.json', 10, { ok: false }));
    expect(status).toBe(1);
    expect(text).toContain('check no longer met: s/1k/right');
  });

  it.each([
    ['broke', { instead: { error: 'ended with SIGKILL' } }, 'case broke: s/1k: ended with SIGKILL'],
    ['was skipped', { instead: { skipped: 'no data' } }, 'case skipped: s/1k: no data'],
    ['lost a metric', { metric: 'other' }, 'metric missing: s/1k/call'],
    ['lost a check', { check: 'other' }, 'check missing: s/1k/right'],
    ['no longer measures a check', { ok: undefined }, 'check no longer measured: s/1k/right: not installed'],
    ['lost a case', { caseName: '2k' }, 'case missing: s/1k'],
  ] satisfies [string, Made, string][])(
    'fails where a run %s, though no figure got worse',
    (what, made, line) => {
      const { status, text } = compare(base, results(`${what}.json`, 10, made));
      expect(text).toContain(`worse   ${line}`);
      expect(status).toBe(1);
    },
  );

  it('fails where a case breaks in both runs, and lets a part of a run lack cases', () => {
    const broken = results('both.json', 10, { instead: { error: 'ended with 1' } });
    expect(compare(broken, broken).status).toBe(1);
    const suites = ['1k', '2k'].map((name) => ({
      name,
      cases: [
        {
          name,
          metrics: [{ name: 'call', unit: 'ms', better: 'lower', value: 1, rounds: [1, 1, 1, 1, 1] }],
          checks: [],
        },
      ],
    }));
    const write = (name: string, own: readonly object[]): string => {
      const file = path.join(folder, name);
      writeFileSync(
        file,
        JSON.stringify({ format: 1, quick: false, run: { machine: 'm', isa: 'x' }, suites: own }),
      );
      return file;
    };
    const whole = write('whole.json', suites);
    const part = write('part.json', suites.slice(0, 1));
    expect(compare(whole, part).status).toBe(1);
    expect(compare(whole, part, '--partial').status).toBe(0);
  });

  it('judges no figure of too few rounds, unless it repeats exactly', () => {
    const once = (name: string, value: number, more: Made = {}) =>
      results(name, value, { rounds: 1, ...more });
    const { status, text } = compare(once('one-a.json', 10), once('one-b.json', 13));
    expect(text).toContain('n/a     s/1k/call: 10 → 13 ms, not comparable: 1 round');
    expect(status).toBe(2);
    expect(compare(once('one-a.json', 10), once('one-b.json', 10, { ok: false })).status).toBe(1);
    const exact = { exact: true };
    expect(compare(once('exact-a.json', 10, exact), once('exact-b.json', 13, exact)).status).toBe(1);
    expect(compare(once('exact-a.json', 10, exact), once('exact-b.json', 10, exact)).status).toBe(0);
  });

  it('cannot compare two machines, a quick run with a full one, other files or one file', () => {
    expect(compare(base, results('other.json', 10, { machine: 'n' })).status).toBe(2);
    expect(compare(base, results('other.json', 10, { machine: 'n' }), '--any-machine').status).toBe(0);
    expect(compare(base, results('quick.json', 10, { quick: true })).status).toBe(2);
    expect(compare(base, 'package.json').status).toBe(2);
    expect(compare(base).status).toBe(2);
  });
});
