// The kernels against what the machine can do at most: reading and multiply-adds of the same instruction set, measured in
// turns with them by a C++ program (bench/kernels), so that no call from JavaScript is in the figures.
import { spawn } from 'node:child_process';
import { median } from '../../dist/evaluation/statistics/describe-sample.js';
import { buildBenchProgram } from '../../scripts/build-addon.mjs';
import { figure } from '../harness/measure.mjs';

const DIMENSIONS = 384;
/** More than any last-level cache that a cloud machine shows its guests; quick runs flatter where the cache is larger. */
const MEBIBYTES = { quick: 64, full: 1024 };
const ROUNDS = { quick: 5, full: 20 };

/**
 * Shares of the limit that the fastest instruction set must reach: single comparisons are bound by memory, tiles by
 * arithmetic. Full runs only: with quick ones the "memory" may be a cache.
 */
const PROMISES = [
  { name: 'dot_f32, one query', where: 'memory', limit: 'limit: read', least: 0.85 },
  { name: 'rows_i8, one query', where: 'memory', limit: 'limit: read', least: 0.75 },
  {
    name: 'tile_f32, 16 queries',
    where: 'first-level cache',
    limit: 'limit: multiply-add, float32',
    least: 0.5,
  },
];

const cases = () => [{ name: 'every-isa' }];

async function run(_parameters, { quick, log }) {
  let program;
  try {
    program = await buildBenchProgram('errata_kernels_bench');
  } catch (error) {
    const skipped = `skipped: the program could not be built: ${error.message}`;
    log(skipped);
    return { skipped, metrics: [], checks: [] };
  }
  const size = quick ? 'quick' : 'full';
  const lines = await measure(program, [ROUNDS[size], MEBIBYTES[size]].map(String));
  const fastest = lines[0].isa;
  const find = (isa, name, where) =>
    lines.find(
      (line) => line.isa === isa && line.name === name && (where === undefined || line.where === where),
    );
  log(`${new Set(lines.map(({ isa }) => isa)).size} instruction sets, the fastest ${fastest}`);
  return {
    setup: `rows of ${DIMENSIONS}, 8 of them (first-level cache) and ${MEBIBYTES[size]} MiB (memory), one thread; every answer compared with a double-precision loop before it is timed`,
    metrics: lines.flatMap((line) => ratesOf(line).map((rate) => metricOf(line, rate, lines))),
    checks: [
      { what: 'answers right in every instruction set', ok: true, value: 'checked before timing' },
      ...PROMISES.map(({ name, where, limit, least }) => {
        const what = `${fastest}: ${name}, from ${where}: share of "${limit}", at least ${least}`;
        const bound = find(fastest, limit, limit === 'limit: read' ? where : undefined);
        if (bound === undefined)
          return { what, ok: undefined, value: 'n/a: no such limit for this instruction set' };
        const value = shareOf(find(fastest, name, where), bound);
        return { what, ok: quick ? undefined : value >= least, value };
      }),
    ],
  };
}

const ratesOf = (line) => [
  ...(line.gb_s === undefined ? [] : [{ unit: 'GB/s', rounds: line.gb_s }]),
  ...(line.gops === undefined ? [] : [{ unit: 'GOP/s', rounds: line.gops }]),
];

function metricOf(line, { unit, rounds }) {
  return figure(`${line.isa}: ${line.name}, ${line.where}`, unit, 'higher', rounds, {
    isa: line.isa,
    kernel: line.name,
    where: line.where,
  });
}

/** Of the unit in which the limit is stated. */
function shareOf(line, limit) {
  const share =
    limit.gb_s === undefined
      ? median(line.gops) / median(limit.gops)
      : median(line.gb_s) / median(limit.gb_s);
  return Math.round(share * 1000) / 1000;
}

/** The program's lines, parsed. Throws with what it said where it ends with another code than 0. */
function measure(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let said = '';
    child.stdout.on('data', (data) => {
      out += data;
    });
    child.stderr.on('data', (data) => {
      said += data;
    });
    child.on('error', reject);
    child.on('close', (code, signal) =>
      code === 0
        ? resolve(
            out
              .trim()
              .split('\n')
              .map((line) => JSON.parse(line)),
          )
        : reject(new Error(`kernels' bench ended with ${signal ?? code}: ${said.trim()}`)),
    );
  });
}

/** The roofline: operations a second over operations a byte, the lower of both limits as the roof. */
function plots(results) {
  const metrics = results.flatMap((result) => result.metrics);
  const isas = [...new Set(metrics.map(({ isa }) => isa))];
  const value = (isa, kernel, where, unit) =>
    metrics.find(
      (one) =>
        one.isa === isa &&
        one.kernel === kernel &&
        one.unit === unit &&
        (where === undefined || one.where === where),
    )?.value;
  const series = isas.flatMap((isa) => {
    const points = metrics
      .filter(
        (one) =>
          one.isa === isa && one.where === 'memory' && one.unit === 'GOP/s' && one.kernel.includes('f32'),
      )
      .map((one) => [one.value / value(isa, one.kernel, 'memory', 'GB/s'), one.value]);
    const read = value(isa, 'limit: read', 'memory', 'GB/s');
    const compute = value(isa, 'limit: multiply-add, float32', undefined, 'GOP/s');
    if (read === undefined || compute === undefined) return [{ name: isa, mark: 'points', points }];
    const ridge = compute / read;
    return [
      {
        name: `${isa}: limit`,
        points: [
          [0.25, read * 0.25],
          [ridge, compute],
          [Math.max(ridge * 2, 64), compute],
        ],
      },
      { name: isa, mark: 'points', points },
    ];
  });
  return [
    {
      name: 'roofline',
      title: 'float32 kernels over rows in memory, and their limits',
      x: { title: 'operations a byte', scale: 'log' },
      y: { title: 'GOP/s', scale: 'log' },
      series,
    },
  ];
}

export const suite = {
  name: 'kernels',
  title: 'SIMD kernels against the limits of memory and arithmetic',
  cases,
  run,
  plots,
};
