// The libraries that the index is compared with. They are no dependencies: the bench installs them into a folder of its own,
// and names those that cannot be had.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = fileURLToPath(new URL('../../.cache/bench-rivals/', import.meta.url));
const INSTALL_TIMEOUT_MS = 5 * 60_000;

/** Exact versions, so that a result says what it was measured against. USearch's JavaScript comes with the project. */
export const RIVALS = {
  'hnswlib-node': '3.0.0',
  'sqlite-vec': '0.1.9',
  '@lancedb/lancedb': '0.31.0',
  '@zvec/zvec': '0.7.0',
  'faiss-node': '0.5.1',
  // Of the suite `models`.
  '@huggingface/transformers': '4.3.2',
};

/** What this process has loaded, by package: each case runs in a process of its own. */
const used = new Map();

/** Exact versions of the rivals that the case was measured against. */
export const usedVersions = () => Object.fromEntries([...used].sort());

const manifestOf = (name) => path.join(folder, 'node_modules', name, 'package.json');

function installedVersion(name) {
  const manifest = manifestOf(name);
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined;
}

/** The line of npm's output that says what went wrong, without addresses and paths. */
function reasonOf(error) {
  const lines = String(error.stderr ?? error.message).split('\n');
  const telling = lines.filter((line) =>
    /not found|ENOTFOUND|fatal|EBADPLATFORM|ETIMEDOUT|gyp ERR! stack/i.test(line),
  );
  const line = (telling.at(-1) ?? lines.find((one) => one.trim() !== '') ?? 'no reason given').trim();
  return line
    .replace(/^npm error\s*/i, '')
    .replace(/'?https?:\/\/\S+/g, 'an address')
    .slice(0, 160);
}

function install(name, version) {
  mkdirSync(folder, { recursive: true });
  const manifest = path.join(folder, 'package.json');
  if (!existsSync(manifest)) {
    // Newer npm runs install scripts of listed packages only; older ones run all.
    const allowScripts = Object.fromEntries(Object.keys(RIVALS).map((rival) => [rival, true]));
    writeFileSync(manifest, JSON.stringify({ name: 'errata-bench-rivals', private: true, allowScripts }));
  }
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--save-exact', `${name}@${version}`], {
    cwd: folder,
    // onnxruntime-node's install script fetches CUDA libraries from an address outside the registry; its CPU ones come with the package.
    env: { ...process.env, ONNXRUNTIME_NODE_INSTALL: 'skip' },
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: INSTALL_TIMEOUT_MS,
  });
}

/**
 * The rival's module, or `{ missing }` with the reason. `installs` false (quick runs) takes only what is there. What failed once is
 * remembered for the day, so that the cases of one run do not all try again.
 */
export function loadRival(name, { installs, log }) {
  if (name === 'usearch') {
    const require = createRequire(import.meta.url);
    const module = require('usearch');
    used.set(
      name,
      JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).dependencies[name],
    );
    return { module };
  }
  const version = RIVALS[name];
  const failure = path.join(folder, `${name.replaceAll('/', '+')}.failed`);
  if (installedVersion(name) !== version) {
    if (!installs) return { missing: 'not installed; a run without --quick installs it' };
    if (existsSync(failure) && Date.now() - Number(readFileSync(failure, 'utf8').split('\n')[0]) < 86_400_000)
      return { missing: readFileSync(failure, 'utf8').split('\n')[1] };
    try {
      log(`installing ${name}@${version} into .cache/bench-rivals`);
      install(name, version);
    } catch (error) {
      const missing = `cannot be installed: ${reasonOf(error)}`;
      writeFileSync(failure, `${Date.now()}\n${missing}`);
      return { missing };
    }
  }
  try {
    const module = createRequire(path.join(folder, 'package.json'))(name);
    used.set(name, version);
    return { module };
  } catch (error) {
    return { missing: `cannot be loaded: ${error.message.split('\n', 1)[0].slice(0, 160)}` };
  }
}
