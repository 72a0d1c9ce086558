#!/usr/bin/env node
// Builds and runs the C++ tests: all of them on the fastest instruction set of this machine (the kernels' own tests go
// through every set each time), what depends on the set on the others, all once more under ASan and UBSan, and the
// kernels' libFuzzer target where clang++ is there. The kernels of 64-bit ARM run emulated where its cross compiler and
// qemu-user are there. What was compiled for newer processors is checked to hold no code that others might run.
//
//   --tsan    also those with several threads under ThreadSanitizer
//   --quick   without the sanitizers
//   --churn   the churn test with 1,000,000 operations, on the fastest instruction set and, with --tsan, under
//             ThreadSanitizer: minutes
//   --werror  warnings are errors
//
// Ends with a line `N passed, N failed, N skipped` over all runs; exits 1 where a test failed.
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ARM_COMPILER, buildArmTests, buildTests, checkTools } from './build-addon.mjs';

const option = { type: 'boolean', default: false };
const { values } = parseArgs({ options: { tsan: option, quick: option, werror: option, churn: option } });
const ISAS = ['scalar', 'avx2', 'avx512', 'avx512vnni', 'neon', 'neondot'];
const CHURN_TEST = 'random_operations_beside';
/** Answers rest on the kernels' rounding and on their number of lanes. */
const BY_ISA = [
  'a_scan_over_codes',
  'random_writes_on_a_scanned',
  'scans_on_several_threads',
  'hnsw_recall_at_',
  'snapshot_gives_back',
];
/** Several threads on one partition. */
const CONCURRENT = [
  CHURN_TEST,
  'searches_beside_writes',
  'closing_stops_a_build',
  'compaction_begins_by_itself',
  'a_graph_built_by_several_threads',
  'scans_on_several_threads',
  'every_part_of_a_shared_job',
  'a_signal_or_a_deadline',
  'snapshot_verified_as_it_is_used',
  'snapshot_takes_writes_before',
  'snapshot_with_any_byte_flipped_answers',
];
const totals = { passed: 0, failed: 0, skipped: 0 };

function count(output) {
  const line = /(\d+) passed, (\d+) failed, (\d+) skipped\s*$/.exec(output);
  if (!line) return false;
  totals.passed += Number(line[1]);
  totals.failed += Number(line[2]);
  totals.skipped += Number(line[3]);
  return true;
}

/** Runs the tests once. A run that dies counts as one failed test. */
function runTests(file, label, env, filter = []) {
  console.log(`\n== ${label}`);
  const { stdout, stderr, signal, status } = spawnSync(file, filter, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  process.stdout.write(stdout);
  process.stderr.write(stderr);
  const counted = count(stdout);
  if (status === 0 && counted) return;
  if (counted && status === 1 && totals.failed > 0) return;
  console.log(`FAILED ${label}: ended with ${signal ?? `code ${status}`}`);
  totals.failed += 1;
}

/** libFuzzer's target for 20 seconds from a fixed seed, where clang++ is there; the same check runs in the ordinary tests. */
function runFuzzer() {
  console.log('\n== native, libFuzzer');
  if (spawnSync('clang++', ['--version']).status !== 0) {
    console.log('skipped: no clang++ on this machine, and libFuzzer comes with it');
    totals.skipped += 1;
    return;
  }
  const root = path.join(import.meta.dirname, '..');
  const directory = path.join(root, 'build', 'native-fuzz');
  // A crash leaves its input here, out of the source tree.
  mkdirSync(directory, { recursive: true });
  const steps = [
    [
      'cmake',
      '-S',
      root,
      '-B',
      directory,
      '-DERRATA_ADDON=OFF',
      '-DERRATA_FUZZ=ON',
      '-DCMAKE_CXX_COMPILER=clang++',
    ],
    ['cmake', '--build', directory, '--target', 'errata_kernels_fuzz'],
    [path.join(directory, 'errata_kernels_fuzz'), '-max_total_time=20', '-seed=1', '-max_len=9000'],
  ];
  for (const [command, ...args] of steps) {
    const { status, stderr, stdout } = spawnSync(command, args, { cwd: directory, encoding: 'utf8' });
    if (status === 0) continue;
    process.stdout.write(`${stdout}${stderr}`);
    console.log(`FAILED native, libFuzzer: ${path.basename(command)} ended with code ${status}`);
    totals.failed += 1;
    return;
  }
  totals.passed += 1;
}

/** What shows that ARM's kernels give the bytes and bounds of all others; emulated, the rest would take minutes. */
const KERNELS = [
  'dot_',
  'normalize_',
  'sum_of_squares',
  'codes_are_the_same_bytes',
  'dots_of_codes',
  'rows_and_tiles',
  'arbitrary_bytes',
  'a_scan_over_codes',
];
/** Of the processors, one without dot products of bytes and one with all there is. */
const ARM_PROCESSORS = { neon: 'cortex-a57', neondot: 'max' };

async function runArm() {
  // There they ran above.
  if (process.arch === 'arm64') return;
  const found = [ARM_COMPILER, 'qemu-aarch64'].every((tool) => spawnSync(tool, ['--version']).status === 0);
  if (!found) {
    console.log(
      `\n== native, ARM: skipped, no ${ARM_COMPILER} or no qemu-aarch64 (qemu-user) on this machine`,
    );
    totals.skipped += 1;
    return;
  }
  const file = await buildArmTests(values.werror);
  for (const [isa, processor] of Object.entries(ARM_PROCESSORS)) {
    runTests('qemu-aarch64', `native, ${isa}, emulated`, { ERRATA_ISA: isa }, [
      '-cpu',
      processor,
      file,
      ...KERNELS,
    ]);
  }
}

/**
 * A function that the linker may take from a file of a newer instruction set in place of the same one elsewhere (a weak
 * symbol, as inline functions are), or an initialiser that runs at load, would crash older processors before any choice.
 */
async function checkIsaObjects(directory) {
  console.log('\n== native, objects of instruction sets');
  if (spawnSync('nm', ['--version']).status !== 0) {
    console.log('skipped: no nm on this machine');
    totals.skipped += 1;
    return;
  }
  const entries = await readdir(directory, { recursive: true });
  const objects = entries.filter((name) => /kernels_(avx|neon)[^/\\]*\.(o|obj)$/.test(name));
  const shared = objects.flatMap((name) => {
    const { stdout } = spawnSync('nm', [path.join(directory, name)], { encoding: 'utf8' });
    const lines = stdout.split('\n').filter((line) => / [WVu] |_GLOBAL__sub_I/.test(line));
    return lines.map((line) => `${path.basename(name)}: ${line.trim()}`);
  });
  for (const line of shared) console.log(`  ${line}`);
  if (objects.length === 0 || shared.length > 0) {
    console.log('FAILED native, objects of instruction sets');
    totals.failed += 1;
  } else {
    totals.passed += 1;
  }
}

/** The instruction sets that the tests' own list of kernels holds, asked of the binary by forcing each. */
function availableIsas(file) {
  return ISAS.filter((isa) => {
    const probe = spawnSync(file, ['no test has this name'], { env: { ...process.env, ERRATA_ISA: isa } });
    return probe.status === 0;
  });
}

async function main() {
  await checkTools();
  const plain = await buildTests('native-tests', '', values.werror);
  const isas = availableIsas(plain);
  const fastest = isas.at(-1);
  for (const isa of ISAS) {
    if (isa === fastest) runTests(plain, `native, ${isa}`, { ERRATA_ISA: isa });
    else if (isas.includes(isa))
      runTests(plain, `native, ${isa}, what depends on it`, { ERRATA_ISA: isa }, BY_ISA);
    else console.log(`\n== native, ${isa}: skipped, this machine or build lacks it`);
  }
  totals.skipped += ISAS.length - isas.length;
  await checkIsaObjects(path.dirname(plain));
  if (!values.quick) {
    const strict = { UBSAN_OPTIONS: 'print_stacktrace=1', ASAN_OPTIONS: 'detect_leaks=1' };
    const file = await buildTests('native-asan', 'address,undefined', values.werror);
    runTests(file, 'native, ASan and UBSan', strict);
  }
  if (!values.quick) runFuzzer();
  if (!values.quick) await runArm();
  const churn = { ERRATA_CHURN: '1000000' };
  if (values.churn) runTests(plain, 'native, churn', churn, [CHURN_TEST]);
  if (values.tsan) {
    const file = await buildTests('native-tsan', 'thread', values.werror);
    const strict = { TSAN_OPTIONS: 'halt_on_error=0 exitcode=66' };
    runTests(file, 'native, ThreadSanitizer', strict, CONCURRENT);
    if (values.churn) runTests(file, 'native, churn, ThreadSanitizer', { ...strict, ...churn }, [CHURN_TEST]);
  }
  console.log(`\n${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
  process.exitCode = totals.failed > 0 ? 1 : 0;
}

main().catch((error) => {
  console.error(error.message);
  console.log('0 passed, 1 failed, 0 skipped');
  process.exitCode = 1;
});
