// `npm test`: sets up what is missing, runs the C++ tests and every vitest test, and sums both up in the last line.
// Arguments go to vitest, and then only it runs: npm test -- test/domain
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SetUpError, setUp } from './set-up.mjs';
import { root } from './stamps.mjs';

const totals = { passed: 0, failed: 0, skipped: 0 };
const skips = new Map();

function add({ passed, failed, skipped }) {
  totals.passed += passed;
  totals.failed += failed;
  totals.skipped += skipped;
}

function noteSkip(reason, count) {
  skips.set(reason, (skips.get(reason) ?? 0) + count);
}

function run(args, options = {}) {
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', ...options });
}

/** The database stand-ins of the contract tests. It says itself which tools are missing; tests that need them are skipped. */
function buildPeers() {
  const script = path.join('test', 'peers', 'build-peers.mjs');
  if (!existsSync(path.join(root, script))) return;
  if (run([script]).status !== 0)
    console.log('npm test: a database peer could not be built; its tests are skipped');
}

async function runNativeTests() {
  // The sanitizers take minutes; CI always runs them, by hand: npm run test:native
  const flags = process.env.CI ? ['--werror', '--tsan'] : ['--werror', '--quick'];
  const tests = spawn(process.execPath, ['scripts/native-tests.mjs', ...flags], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  tests.stdout.on('data', (chunk) => {
    output += chunk;
    process.stdout.write(chunk);
  });
  const [status] = await once(tests, 'close');
  const line = /(\d+) passed, (\d+) failed, (\d+) skipped\s*$/.exec(output);
  const [passed, failed, skipped] = line?.slice(1).map(Number) ?? [0, 1, 0];
  add({ passed, failed, skipped });
  if (skipped > 0) noteSkip('C++ tests: instruction sets or sanitizers that this machine lacks', skipped);
  if (status !== 0 && failed === 0) add({ passed: 0, failed: 1, skipped: 0 });
}

function runVitest(extra) {
  const folder = mkdtempSync(path.join(tmpdir(), 'errata-test-'));
  const file = path.join(folder, 'summary.json');
  const vitest = path.join('node_modules', 'vitest', 'vitest.mjs');
  const env = { ...process.env, ERRATA_TEST_SUMMARY: file };
  const { status } = run([vitest, 'run', ...extra], { env });
  const summary = existsSync(file)
    ? JSON.parse(readFileSync(file, 'utf8'))
    : { passed: 0, failed: 1, skipped: 0, skips: [] };
  rmSync(folder, { recursive: true, force: true });
  add(summary);
  for (const { file: name, test, reason } of summary.skips) {
    // Suites that are skipped as a whole tell why in their title.
    noteSkip(`${name}: ${reason === '' ? test.split(' > ', 1)[0] : reason}`, 1);
  }
  if (status !== 0 && summary.failed === 0) add({ passed: 0, failed: 1, skipped: 0 });
}

async function main() {
  const extra = process.argv.slice(2);
  await setUp({ model: 'optional' });
  if (extra.length === 0) {
    buildPeers();
    await runNativeTests();
  }
  runVitest(extra);
  if (skips.size > 0) {
    console.log('\nSkipped:');
    for (const [reason, count] of skips) console.log(`  ${count} × ${reason}`);
    console.log('');
  }
  console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
  process.exitCode = totals.failed === 0 && totals.passed > 0 ? 0 : 1;
}

main().catch((error) => {
  console.error(error instanceof SetUpError ? `npm test: ${error.message}` : error);
  console.log('0 passed, 1 failed, 0 skipped');
  process.exitCode = 1;
});
