import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, stat, statfs } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Config } from '../../config/config.js';
import type { AddonStatus, ModelFiles } from '../cli-deps.js';
import { attempt, type CheckResult, fail, ok, warn } from './check.js';

const run = promisify(execFile);

/** The first release with everything that is used, `require(esm)` included. */
const LEAST_NODE = [20, 19] as const;

export function checkNode(version: string): CheckResult {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  const fits = major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1]);
  return fits
    ? ok('node', version)
    : fail(
        'node',
        `${version} is older than ${LEAST_NODE.join('.')}`,
        'install a newer Node.js (nodejs.org, nvm, fnm)',
      );
}

async function firstLine(tool: string): Promise<string | undefined> {
  try {
    const { stdout } = await run(tool, ['--version'], { timeout: 10_000 });
    return stdout.split('\n', 1)[0]?.trim();
  } catch {
    // Not there, or not for us: both mean that it cannot be used.
    return undefined;
  }
}

/** The tools matter only for building the index; where that is built, their absence is no fault. */
export async function checkToolchain(addonLoads: boolean): Promise<CheckResult> {
  const compilers = await Promise.all(['c++', 'g++', 'clang++'].map(firstLine));
  const compiler = compilers.find((line) => line !== undefined);
  const cmake = await firstLine('cmake');
  const detail = [compiler ?? 'no C++ compiler', cmake ?? 'no cmake'].join(', ');
  if (compiler !== undefined && cmake !== undefined) return ok('toolchain', detail);
  if (addonLoads) return ok('toolchain', `${detail}; not needed, the index is built`);
  return fail(
    'toolchain',
    detail,
    'install cmake 3.20 or newer and a C++17 compiler (apt install cmake g++)',
  );
}

export function checkAddon(load: () => AddonStatus): Promise<CheckResult> {
  return attempt('addon', 'build it with: npm run build:addon', () => {
    const { isa, availableIsas, file } = load();
    return ok('addon', `${isa} (of ${availableIsas.join(', ')}), ${path.relative(process.cwd(), file)}`);
  });
}

/** Below this an import of 100,000 notes (about 2 kB of text and vectors each, twice while written) may not fit. */
const LOW_DISK_BYTES = 500 * 1024 * 1024;

export function checkDataFolder(config: Config): Promise<CheckResult> {
  const { dataDir } = config;
  const remedy = 'choose another folder with --data, or change its owner';
  return attempt('data folder', remedy, async () => {
    let existing = dataDir;
    // A folder that is not there yet is made at the first start: what counts is the nearest one that is.
    while (!(await stat(existing).catch(() => undefined)) && path.dirname(existing) !== existing) {
      existing = path.dirname(existing);
    }
    if (!(await stat(existing)).isDirectory()) {
      return fail('data folder', `${existing} is a file`, 'choose another folder with --data');
    }
    await access(existing, constants.R_OK | constants.W_OK | constants.X_OK);
    const { bavail, bsize } = await statfs(existing);
    const freeBytes = bavail * bsize;
    const detail = `${dataDir}, ${(freeBytes / 1e9).toFixed(1)} GB free`;
    if (freeBytes < LOW_DISK_BYTES) return warn('data folder', detail, 'free some space');
    const mode = existing === dataDir ? (await stat(existing)).mode : 0;
    if (process.platform !== 'win32' && (mode & 0o002) !== 0) {
      return warn('data folder', `${detail}; everybody can write to it`, `chmod o-w ${dataDir}`);
    }
    return ok('data folder', detail);
  });
}

export function checkModel(models: ModelFiles, config: Config, name: string): Promise<CheckResult> {
  return attempt(`model ${name}`, `get it with: errata models pull ${name}`, async () => {
    const { files } = await models.verify(config, name);
    return ok(`model ${name}`, `${files} files with their pinned digests`);
  });
}
