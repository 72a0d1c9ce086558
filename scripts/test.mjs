// `npm test`: builds what is missing, runs the C++ tests and every vitest test, and sums both up in the last line.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const totals = { passed: 0, failed: 0, skipped: 0 };

function run(command, args, options = {}) {
  return spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
}

function add(passed, failed, skipped) {
  totals.passed += passed;
  totals.failed += failed;
  totals.skipped += skipped;
}

function installDependencies() {
  if (existsSync(join(root, 'node_modules', 'vitest'))) return;
  console.log('npm test: installing dependencies (about a minute)');
  const env = { ...process.env, ONNXRUNTIME_NODE_INSTALL: 'skip' };
  if (run('npm', ['ci'], { env }).status !== 0) process.exit(1);
}

function runNativeTests() {
  const tests = run(process.execPath, ['scripts/native-tests.mjs', '--werror'], {
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
  });
  process.stdout.write(tests.stdout);
  const line = /(\d+) passed, (\d+) failed, (\d+) skipped\s*$/.exec(tests.stdout);
  if (line === null) add(0, 1, 0);
  else add(Number(line[1]), Number(line[2]), Number(line[3]));
  if (tests.status !== 0 && totals.failed === 0) add(0, 1, 0);
}

function runVitest(extra) {
  const folder = mkdtempSync(join(tmpdir(), 'errata-test-'));
  const file = join(folder, 'vitest.json');
  const args = [
    'vitest',
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${file}`,
    ...extra,
  ];
  const status = run('npx', args).status;
  if (existsSync(file)) {
    const report = JSON.parse(readFileSync(file, 'utf8'));
    add(report.numPassedTests, report.numFailedTests, report.numPendingTests + report.numTodoTests);
  }
  rmSync(folder, { recursive: true, force: true });
  // A file that fails to load has no failed test of its own.
  if (status !== 0 && totals.failed === 0) add(0, 1, 0);
}

const extra = process.argv.slice(2);
installDependencies();
if (run(process.execPath, ['scripts/build-addon.mjs']).status !== 0) process.exit(1);
if (extra.length === 0) runNativeTests();
runVitest(extra);
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exit(totals.failed === 0 && totals.passed > 0 ? 0 : 1);
