import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { parseGate } from '../../src/evaluation/gate.js';
import { runFake } from '../cli/run-fake.js';

const EXAMPLES = 'examples/ci';
const read = (name: string): string => readFileSync(path.join(EXAMPLES, name), 'utf8');
const folder = mkdtempSync(path.join(tmpdir(), 'errata-ci-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** gate.sh with an `npx` that notes its arguments and ends as told. */
function gate(code: number, ...args: string[]) {
  const npx = path.join(folder, 'npx');
  writeFileSync(npx, `#!/bin/sh\necho "$@" > "${folder}/asked"\nexit ${code}\n`);
  chmodSync(npx, 0o755);
  const run = spawnSync('bash', [path.join(EXAMPLES, 'gate.sh'), ...args], {
    encoding: 'utf8',
    env: { ...process.env, PATH: `${folder}:${process.env.PATH}` },
  });
  return { ...run, asked: readFileSync(path.join(folder, 'asked'), 'utf8').trim() };
}

describe('the examples for CI', () => {
  it.each([
    [0, 'retrieval gate: passed'],
    [1, 'retrieval gate: failed, see errata-report/report.html'],
    [2, 'retrieval gate: could not run (exit code 2)'],
    [137, 'retrieval gate: could not run (exit code 137)'],
  ])('gate.sh ends with the code of the gate, %i, and says what it means', (code, said) => {
    const { status, stdout, stderr } = gate(code);
    expect(status).toBe(code);
    expect((stdout + stderr).trim()).toBe(said);
  });

  it('gate.sh passes on the files that it is given', () => {
    expect(gate(0).asked).toBe(
      'errata evaluate --gate gate.json --baseline baseline.json --out errata-report',
    );
    expect(gate(0, 'g', 'b', 'o').asked).toBe('errata evaluate --gate g --baseline b --out o');
  });

  it('script and workflow use only flags that errata evaluate has, and rules that it reads', async () => {
    const { stdout: help } = await runFake(['evaluate', '--help']);
    const known = new Set(help.match(/--[a-z-]+/gu));
    for (const file of ['gate.sh', 'errata-gate.yml']) {
      const used = read(file).match(/(?<=\s)--[a-z-]+/gu) ?? [];
      expect(used).toContain('--gate');
      expect(used.filter((flag) => !known.has(flag))).toEqual([]);
    }
    expect(parseGate(read('gate.json'), 'gate.json').half).toBe('test');
    const steps = read('errata-gate.yml');
    for (const step of ['actions/checkout@', 'npm ci', 'npm run build', 'errata models pull', 'if: always()'])
      expect(steps).toContain(step);
    const pulled = /errata models pull (\S+)/u.exec(steps)?.[1];
    expect(readFileSync('models.json', 'utf8')).toContain(`"${pulled}"`);
  });
});
