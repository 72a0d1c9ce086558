// `npm run check`: everything that is judged without running tests. One line a check; exit code 1 when one fails.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { mainFile, SetUpError, setUp } from './set-up.mjs';
import { root } from './stamps.mjs';

function files(folder, pattern) {
  return readdirSync(path.join(root, folder), { recursive: true })
    .filter((name) => pattern.test(name))
    .map((name) => path.join(folder, name));
}

function node(args) {
  const result = spawnSync(process.execPath, args, {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return result.status === 0
    ? ''
    : `${result.stdout}${result.stderr}` || `ended with ${result.signal ?? result.status}`;
}

/** A package's own program, run by this Node: `npx` costs half a second a time and could download. */
function tool(name, program, args) {
  const manifest = path.join(root, 'node_modules', name, 'package.json');
  const { bin } = JSON.parse(readFileSync(manifest, 'utf8'));
  const file = typeof bin === 'string' ? bin : bin[program];
  return node([path.join('node_modules', name, file), ...args]);
}

function checkLock() {
  const text = readFileSync(path.join(root, 'package-lock.json'), 'utf8');
  return text.includes('"resolved"')
    ? 'Expected package-lock.json without download addresses, received "resolved" entries\n'
    : '';
}

const checks = {
  'lock file': checkLock,
  Biome: () => tool('@biomejs/biome', 'biome', ['check', '.']),
  'clang-format': () => {
    const sources = ['native', 'test/native', 'bench'].flatMap((folder) => files(folder, /\.(h|[ch]pp)$/));
    return tool('clang-format', 'clang-format', ['--dry-run', '-Werror', ...sources]);
  },
  // Remembers in build/ what it has checked: the second time it takes a third.
  tsc: () =>
    tool('typescript', 'tsc', [
      '--noEmit',
      '-p',
      'tsconfig.json',
      '--incremental',
      '--tsBuildInfoFile',
      'build/check.tsbuildinfo',
    ]),
  layers: () => tool('dependency-cruiser', 'depcruise', ['--config', '.dependency-cruiser.cjs', 'src']),
  knip: () => tool('knip', 'knip', []),
  schema: () =>
    existsSync(path.join(root, 'schema', 'schema.graphql'))
      ? node([mainFile, 'schema', '--check'])
      : 'Expected schema/schema.graphql, received nothing there; write it with: npx errata schema --write\n',
};

async function main() {
  await setUp({ model: 'none' });
  let failed = 0;
  for (const [name, check] of Object.entries(checks)) {
    const started = performance.now();
    const output = check();
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(`check: ${name} ${output === '' ? 'ok' : 'FAILED'} (${seconds} s)`);
    if (output === '') continue;
    failed += 1;
    console.log(output);
  }
  console.log(`${Object.keys(checks).length - failed} passed, ${failed} failed, 0 skipped`);
  process.exitCode = failed === 0 ? 0 : 1;
}

main().catch((error) => {
  console.error(error instanceof SetUpError ? `check: ${error.message}` : error);
  process.exitCode = 1;
});
