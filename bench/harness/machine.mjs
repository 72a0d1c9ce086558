import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import { loadAddon } from '../../dist/adapters/native/load-addon.js';

function git(args) {
  try {
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
  } catch {
    return undefined;
  }
}

function packageVersions() {
  const { dependencies } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const names = ['better-sqlite3', 'mongodb', 'onnxruntime-node', 'usearch', '@apollo/server', 'fastify'];
  return Object.fromEntries(
    names.flatMap((name) => (dependencies[name] ? [[name, dependencies[name]]] : [])),
  );
}

/** What a figure belongs to. `load1` is the machine's load before the run: above its cores, figures are worth little. */
export function describeRun() {
  return {
    machine: `${cpus().length} × ${cpus()[0]?.model.trim() ?? 'unknown'}`,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform}-${process.arch}`,
    node: process.version,
    isa: loadAddon().isa(),
    commit: git(['rev-parse', '--short', 'HEAD']) ?? 'unknown',
    dirty: (git(['status', '--porcelain', '--untracked-files=no']) ?? '') !== '',
    versions: packageVersions(),
    load1: Math.round(loadavg()[0] * 100) / 100,
    startedAt: new Date().toISOString(),
  };
}
