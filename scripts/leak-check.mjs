#!/usr/bin/env node
// A million calls into the addon: once as it is, where the process must not grow, and once with the addon built under
// AddressSanitizer, where LeakSanitizer must find no lost block when the process ends (Node itself leaves none).
// Linux with GCC's libasan; minutes.
//
//   --calls N  instead of 1,000,000
//
// Ends with a line `N passed, N failed, N skipped`; exits 1 where something leaked.
import { execFileSync, spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { buildSanitizedAddon, checkTools, root } from './build-addon.mjs';

const { values } = parseArgs({ options: { calls: { type: 'string', default: '1000000' } } });
const workload = path.join(root, 'test', 'adapters', 'native', 'leak-calls.mjs');
const totals = { passed: 0, failed: 0, skipped: 0 };

function record(name, problem) {
  if (problem === undefined) totals.passed += 1;
  else totals.failed += 1;
  console.log(problem === undefined ? `ok ${name}` : `FAILED ${name}: ${problem}`);
}

const run = (addon, env) =>
  spawnSync(process.execPath, ['--expose-gc', workload, addon, values.calls], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
    maxBuffer: 1 << 28,
  });

const plain = run(path.join(root, 'build', 'Release', 'errata_native.node'), { ERRATA_LEAK_BOUND_MB: '24' });
process.stdout.write(plain.stdout);
record(
  'memory of the process',
  plain.status === 0 ? undefined : `ended with ${plain.signal ?? plain.status}: ${plain.stderr}`,
);

if (process.platform === 'linux') {
  const { tool } = await checkTools();
  const addon = await buildSanitizedAddon('address');
  const library = execFileSync(tool, ['-print-file-name=libasan.so'], { encoding: 'utf8' }).trim();
  const { status, signal, stderr } = run(addon, {
    LD_PRELOAD: library,
    ASAN_OPTIONS: 'detect_leaks=1:detect_odr_violation=0',
    // The fast unwinder loses itself in code that was compiled without frame pointers.
    LSAN_OPTIONS: 'fast_unwind_on_malloc=0',
  });
  if (status !== 0) console.log(stderr.slice(0, 8_000));
  record('AddressSanitizer and LeakSanitizer', status === 0 ? undefined : `ended with ${signal ?? status}`);
} else {
  console.log('skipped: LeakSanitizer is used on Linux only');
  totals.skipped += 1;
}
console.log(`\n${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exitCode = totals.failed > 0 ? 1 : 0;
