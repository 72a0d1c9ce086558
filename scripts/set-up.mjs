// What `npm start`, `npm test` and `npm run check` need before their own work: packages, addon, compiled TypeScript, model.
// Plain Node without packages, since none may be there yet. A step that has nothing to do costs a few milliseconds.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { filesUnder, listingHash, root, stampOf, writeStamp } from './stamps.mjs';

export const mainFile = path.join(root, 'dist', 'app', 'main.js');

const LEAST_NODE = [20, 19];

/** A problem that the user can solve; its text says how. */
export class SetUpError extends Error {}

export function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > LEAST_NODE[0] || (major === LEAST_NODE[0] && minor >= LEAST_NODE[1])) return;
  throw new SetUpError(
    `Expected Node.js ${LEAST_NODE.join('.')} or newer, received ${process.version}. ` +
      'Get it with: nvm install 22, fnm install 22, brew install node or winget install OpenJS.NodeJS.LTS',
  );
}

/** After this long a quiet step says that it is still at work. */
const HEARTBEAT_MS = 10_000;

/** Runs a command without showing its output, except where it fails; resolves to the exit code. */
async function runQuietly(what, command, args, { env = process.env, showLines = false } = {}) {
  const started = Date.now();
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk) => {
      output.push(chunk);
      if (showLines) process.stderr.write(chunk);
    });
  }
  const heartbeat = setInterval(() => {
    console.log(`  ${what}: still at work (${Math.round((Date.now() - started) / 1000)} s)`);
  }, HEARTBEAT_MS);
  try {
    const code = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (code !== 0 && !showLines) process.stderr.write(Buffer.concat(output));
    return code;
  } finally {
    clearInterval(heartbeat);
  }
}

/** npm as it was started itself, so that no second npm of another version meddles; works without a shell on Windows too. */
function npmCommand() {
  const script = process.env.npm_execpath;
  return script?.endsWith('.js') ? [process.execPath, script] : ['npm'];
}

/** Does the work, then says on one line what was done and how long it took; silent where there was nothing to do. */
async function step(label, work) {
  const started = performance.now();
  const did = await work(() => console.log(`${label} …`));
  if (did !== false) console.log(`${label}: ${did} (${((performance.now() - started) / 1000).toFixed(1)} s)`);
}

/** Addon binary and what it is made from. */
const addonFile = path.join(root, 'build', 'Release', 'errata_native.node');
const addonSources = ['native', 'CMakeLists.txt', 'scripts/build-addon.mjs', 'package-lock.json'];

async function addonStamp() {
  return listingHash([...addonSources, 'build/Release/errata_native.node'], process.version.split('.')[0]);
}

/** Whether the binary is newer than all that it is made from: `npm ci`, CI or a developer built it, without our stamp. */
async function addonIsNewest() {
  const built = await stat(addonFile);
  const sources = (await Promise.all(addonSources.map(filesUnder))).flat();
  return sources.every(([, { mtimeMs }]) => mtimeMs < built.mtimeMs);
}

async function addonIsCurrent() {
  if (!existsSync(addonFile)) return false;
  const stamp = await addonStamp();
  if ((await stampOf('addon')) === stamp) return true;
  if (!(await addonIsNewest())) return false;
  await writeStamp('addon', stamp);
  return true;
}

/** The compiler is asked for before anything is installed: `npm ci` builds the addon and would fail in the middle. */
async function checkToolsWhereNeeded() {
  if (await addonIsCurrent()) return;
  const { checkTools } = await import('./build-addon.mjs');
  try {
    await checkTools();
  } catch (error) {
    throw new SetUpError(error.message);
  }
}

async function installPackages(announce) {
  const lock = path.join(root, 'package-lock.json');
  const stampFile = path.join(root, 'node_modules', '.errata-lock');
  const hash = createHash('sha256')
    .update(await readFile(lock))
    .digest('hex');
  if ((await readFile(stampFile, 'utf8').catch(() => '')) === hash) return false;
  // npm's own record, newer than the lock file: somebody ran `npm ci` by hand, which is as good.
  const record = await stat(path.join(root, 'node_modules', '.package-lock.json')).catch(() => undefined);
  if (record === undefined || record.mtimeMs < (await stat(lock)).mtimeMs) {
    announce();
    const env = { ...process.env, ONNXRUNTIME_NODE_INSTALL: 'skip' };
    const [command, ...args] = npmCommand();
    const code = await runQuietly('packages', command, [...args, 'ci', '--no-audit', '--no-fund'], { env });
    if (code !== 0)
      throw new SetUpError('npm ci failed; its output is above. Check that the npm registry can be reached.');
  }
  await writeFile(stampFile, hash);
  return 'installed';
}

async function buildAddon(announce) {
  if (await addonIsCurrent()) return false;
  announce();
  const code = await runQuietly('native index', process.execPath, ['scripts/build-addon.mjs']);
  if (code !== 0) throw new SetUpError('The native index was not built; the reason is above.');
  await writeStamp('addon', await addonStamp());
  return 'built';
}

/** Compiled files whose source is gone: tsc leaves them, and they could still be imported. */
async function removeOrphans(dist) {
  for (const [file] of await filesUnder('dist')) {
    const source = path.join(root, 'src', path.relative(dist, file)).replace(/\.js(\.map)?$/, '.ts');
    if (!existsSync(source)) await rm(file);
  }
}

async function compile(announce) {
  const stamp = await listingHash(['src', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json']);
  if (existsSync(mainFile) && (await stampOf('typescript')) === stamp) return false;
  announce();
  // What tsc remembers of an earlier run may not be what lies in dist: a folder that was deleted, two runs at once.
  await rm(path.join(root, 'build', 'tsc.tsbuildinfo'), { force: true });
  const tsc = path.join(root, 'node_modules', 'typescript', 'bin', 'tsc');
  const code = await runQuietly('TypeScript', process.execPath, [tsc, '-p', 'tsconfig.build.json']);
  if (code !== 0) throw new SetUpError('TypeScript was not compiled; the reasons are above.');
  await removeOrphans(path.join(root, 'dist'));
  await writeStamp('typescript', stamp);
  return 'compiled';
}

/** `--flag value` or `--flag=value`. */
function flagValue(args, flag) {
  const at = args.findIndex((arg) => arg === `--${flag}` || arg.startsWith(`--${flag}=`));
  if (at === -1) return undefined;
  return args[at].includes('=') ? args[at].slice(args[at].indexOf('=') + 1) : args[at + 1];
}

/** Whether the user asked for a model, instead of leaving it to the default. */
const namesModel = (args) => Boolean(flagValue(args, 'embedder') ?? process.env.ERRATA_EMBEDDER);

async function fetchModel(announce, args) {
  const folder = flagValue(args, 'models-dir') ?? process.env.ERRATA_MODELS ?? path.join('.cache', 'models');
  const expanded = folder.startsWith('~/') ? path.join(homedir(), folder.slice(2)) : folder;
  const name = flagValue(args, 'embedder') ?? process.env.ERRATA_EMBEDDER ?? '';
  const stampName = `model-${createHash('sha256').update(`${expanded}\0${name}`).digest('hex').slice(0, 16)}`;
  const stamp = () => listingHash([path.relative(root, path.resolve(expanded))]);
  if ((await stampOf(stampName)) === (await stamp())) return false;
  announce();
  const settings = ['embedder', 'models-dir'].flatMap((flag) => {
    const value = flagValue(args, flag);
    return value === undefined ? [] : [`--${flag}`, value];
  });
  const pull = [mainFile, 'models', 'pull', ...settings];
  const code = await runQuietly('model', process.execPath, pull, { showLines: true });
  if (code !== 0) return undefined;
  await writeStamp(stampName, await stamp());
  return 'ready';
}

/**
 * Brings everything up to date. `model`: `required` throws where the model cannot be had, `optional` goes on and says so,
 * `none` does not try. `args` are those of `serve`, whose model settings count.
 */
export async function setUp({ model = 'required', args = [] } = {}) {
  checkNode();
  await checkToolsWhereNeeded();
  await step('set-up: packages and native index (1 to 3 minutes)', installPackages);
  await step('set-up: native index', buildAddon);
  await step('set-up: TypeScript', compile);
  if (model === 'none') return;
  await step('set-up: embedding model', async (announce) => {
    const did = await fetchModel(announce, args);
    if (did !== undefined) return did;
    if (model === 'required' && namesModel(args))
      throw new SetUpError('The embedding model is missing; what was tried is above.');
    // A new installation then begins with the starter embedder, which ships; one with notes says that its model is missing.
    if (model === 'required') return 'not to be had here; what was tried is above';
    return 'not to be had here; tests that need it are skipped';
  });
}
