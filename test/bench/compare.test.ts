import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';

const folder = mkdtempSync(path.join(tmpdir(), 'errata-compare-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function results(name: string, medianMs: number, { ok = true, machine = 'm' } = {}): string {
  const rounds = Array.from({ length: 20 }, (_, index) => medianMs * (1 + (index % 5) / 100));
  const metrics = [{ name: 'call', unit: 'ms', better: 'lower', value: medianMs, rounds }];
  const cases = [{ name: '1k', metrics, checks: [{ what: 'right', ok, value: 1 }] }];
  const file = path.join(folder, name);
  writeFileSync(
    file,
    JSON.stringify({ format: 1, run: { machine, isa: 'x' }, suites: [{ name: 's', cases }] }),
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

  it('cannot compare two machines, other files or one file', () => {
    expect(compare(base, results('other.json', 10, { machine: 'n' })).status).toBe(2);
    expect(compare(base, results('other.json', 10, { machine: 'n' }), '--any-machine').status).toBe(0);
    expect(compare(base, 'package.json').status).toBe(2);
    expect(compare(base).status).toBe(2);
  });
});
