import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));
let folder = '';

beforeAll(() => {
  // Inside the checkout, so that the inner run finds vitest.
  mkdirSync(path.join(root, 'build'), { recursive: true });
  folder = mkdtempSync(path.join(root, 'build', 'summary-'));
  const config = `import { VitestSummary } from '../../scripts/vitest-summary.mjs';
    export default { test: { include: ['*.inner.ts'], reporters: [new VitestSummary()] } };`;
  writeFileSync(path.join(folder, 'vitest.config.mjs'), config);
  const head = "import { expect, it } from 'vitest';";
  writeFileSync(
    path.join(folder, 'mixed.inner.ts'),
    `${head} it('a', () => expect(1).toBe(1)); it('b', () => expect(1).toBe(2));
     it('c', (context) => context.skip('no such tool'));`,
  );
  writeFileSync(path.join(folder, 'broken.inner.ts'), 'throw new Error("cannot be loaded");');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('VitestSummary', () => {
  it('counts tests, files that cannot be loaded, and why tests were skipped', () => {
    const file = path.join(folder, 'summary.json');
    const vitest = path.join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const env = { ...process.env, ERRATA_TEST_SUMMARY: file };
    const { status } = spawnSync(process.execPath, [vitest, 'run'], { cwd: folder, env });
    expect(status).toBe(1);
    const { passed, failed, skipped, skips } = JSON.parse(readFileSync(file, 'utf8'));
    expect({ passed, failed, skipped }).toEqual({ passed: 1, failed: 2, skipped: 1 });
    expect(skips).toEqual([{ file: 'mixed.inner.ts', test: 'c', reason: 'no such tool' }]);
  });
});
