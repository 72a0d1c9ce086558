import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** A checkout without node_modules, build and dist: what a fresh clone is. */
let clone = '';

beforeAll(() => {
  clone = mkdtempSync(path.join(tmpdir(), 'errata-clone-'));
  for (const name of ['scripts', 'package.json', 'package-lock.json', 'CMakeLists.txt']) {
    cpSync(path.join(root, name), path.join(clone, name), { recursive: true });
  }
});
afterAll(() => rmSync(clone, { recursive: true, force: true }));

function run(script: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
  return spawnSync(process.execPath, [path.join(clone, 'scripts', script), ...args], {
    encoding: 'utf8',
    env,
  });
}

describe('npm start on a fresh clone', () => {
  it('tells its options without installing anything', () => {
    const { status, stdout } = run('start.mjs', ['--help']);
    expect(status).toBe(0);
    expect(stdout).toContain('--port');
    expect(stdout).toContain('MONGODB_URI');
    expect(existsSync(path.join(clone, 'node_modules'))).toBe(false);
  });

  it.skipIf(process.platform === 'win32').each([
    ['start.mjs', 'npm start'],
    ['test.mjs', 'npm test'],
    ['check.mjs', 'check'],
  ])('%s names a missing tool and how to get it', (script, prefix) => {
    // An empty PATH: no cmake, no compiler; Node itself is started by its whole path.
    const { status, stderr } = run(script, [], { PATH: path.join(clone, 'empty') });
    expect(status).toBe(1);
    expect(stderr).toMatch(
      new RegExp(`^${prefix}: Expected cmake 3\\.20 or newer, found none\\. Get it with: `),
    );
    expect(stderr).not.toContain('    at ');
  });

  it.skipIf(process.platform === 'win32')('shows why npm ci failed', () => {
    const bin = path.join(clone, 'bin');
    cpSync(path.join(root, 'scripts'), bin, { recursive: true });
    for (const [tool, body] of [
      ['cmake', 'echo "cmake version 3.25.1"'],
      ['c++', 'echo "c++ 12"'],
      ['make', 'echo "make 4"'],
      ['npm', 'echo "E404 no such registry" >&2; exit 1'],
    ] as const) {
      writeFileSync(path.join(bin, tool), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
    }
    const { status, stderr, stdout } = run('start.mjs', [], { PATH: `${bin}:/usr/bin:/bin` });
    expect(status).toBe(1);
    expect(stdout).toContain('set-up: packages and native index');
    expect(stderr).toContain('E404 no such registry');
    expect(stderr).toContain('npm start: npm ci failed');
  });
});
