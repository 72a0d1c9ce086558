// `npm run bench [-- NAME…] [--json]`: runs the named benches (all where none is named) and prints what they measured.
import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { loadAddon } from '../dist/adapters/native/load-addon.js';
import { retrieveBench } from './retrieve-bench.mjs';

const benches = [retrieveBench];
const args = process.argv.slice(2);
const json = args.includes('--json');
const names = args.filter((arg) => !arg.startsWith('--'));
const unknown = names.filter((name) => !benches.some((bench) => bench.name === name));
if (unknown.length > 0) {
  console.error(
    `Expected benches of ${benches.map(({ name }) => name).join(', ')}, received ${unknown.join(', ')}`,
  );
  process.exit(2);
}

function commit() {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}

const report = {
  machine: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
  node: process.version,
  isa: loadAddon().isa(),
  commit: commit(),
  results: [],
};
for (const bench of benches) {
  if (names.length > 0 && !names.includes(bench.name)) continue;
  const log = (text) => console.error(`${bench.name}: ${text}`);
  report.results.push({ name: bench.name, ...(await bench.run(log)) });
}
if (json) {
  console.log(JSON.stringify(report, undefined, 2));
} else {
  console.log(`${report.machine}, Node ${report.node}, ${report.isa}, commit ${report.commit}`);
  for (const { name, setup, rows, checks } of report.results) {
    console.log(`\n${name}: ${setup}`);
    console.table(rows);
    for (const { what, ok, value } of checks) console.log(`${ok ? 'ok  ' : 'MISS'} ${what}: ${value}`);
  }
}
process.exitCode = report.results.every(({ checks }) => checks.every(({ ok }) => ok)) ? 0 : 1;
