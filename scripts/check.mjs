// `npm run check`: the checks that need no built product. One line a check; exit code 1 when one fails.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

function files(folder, pattern) {
  return readdirSync(join(root, folder), { recursive: true })
    .filter((name) => pattern.test(name))
    .map((name) => join(folder, name));
}

function command(name, args) {
  const result = spawnSync('npx', [name, ...args], { cwd: root, encoding: 'utf8' });
  return result.status === 0 ? '' : `${result.stdout}${result.stderr}`;
}

const sources = [...files('native', /\.[ch]pp$/), ...files('test/native', /\.[ch]pp$/)];
const checks = {
  biome: () => command('biome', ['check', '.']),
  'clang-format': () => command('clang-format', ['--dry-run', '-Werror', ...sources]),
  tsc: () => command('tsc', ['--noEmit', '-p', 'tsconfig.json']),
  'lock file': () =>
    readFileSync(join(root, 'package-lock.json'), 'utf8').includes('"resolved"')
      ? 'Expected package-lock.json without download addresses, received "resolved" entries\n'
      : '',
};

let failed = 0;
for (const [name, check] of Object.entries(checks)) {
  const output = check();
  console.log(`check: ${name} ${output === '' ? 'ok' : 'FAILED'}`);
  if (output !== '') {
    failed += 1;
    console.log(output);
  }
}
process.exit(failed === 0 ? 0 : 1);
