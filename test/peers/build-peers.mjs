// Builds the servers that stand in for MongoDB in the store's tests, from the Maven and Go registries into .cache/peers.
// `node test/peers/build-peers.mjs [--force] [NAME...]`. A peer whose tools are missing is skipped with the reason; the
// exit code is 1 only where a build was tried and failed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const cache = path.join(here, '../../.cache/peers');
const FERRETDB = 'v1.24.2';

/** @typedef {{ tools: readonly string[], stamp: () => Promise<string>, build: (folder: string) => Promise<void> }} Peer */
/** @type {Readonly<Record<string, Peer>>} */
const PEERS = {
  'mongo-java-server': {
    tools: ['java', 'javac', 'mvn'],
    stamp: async () => {
      const source = path.join(here, 'mongo-java-server');
      const files = ['pom.xml', 'PeerServer.java'].map((file) => readFile(path.join(source, file), 'utf8'));
      return digest((await Promise.all(files)).join('\0'));
    },
    build: async (folder) => {
      const source = path.join(here, 'mongo-java-server');
      // Maven writes beside the pom: a copy keeps the source tree clean.
      await cp(path.join(source, 'pom.xml'), path.join(folder, 'pom.xml'));
      const goal = ['dependency:copy-dependencies', '-DoutputDirectory=lib', '-DincludeScope=runtime'];
      await run('mvn', ['-q', '-B', '-f', 'pom.xml', ...goal], folder);
      const classes = ['-cp', path.join(folder, 'lib', '*'), '-d', path.join(folder, 'classes')];
      await run('javac', [...classes, path.join(source, 'PeerServer.java')], folder);
    },
  },
  ferretdb: {
    tools: ['go'],
    stamp: async () => digest(FERRETDB),
    build: async (folder) => {
      const module = `github.com/FerretDB/FerretDB@${FERRETDB}`;
      const { Dir: source } = JSON.parse(await run('go', ['mod', 'download', '-json', module], folder));
      const copy = path.join(folder, 'source');
      await cp(source, copy, { recursive: true });
      await run('chmod', ['-R', 'u+w', copy], folder);
      // The module's own build reads its version from this file, which only its release tooling writes.
      await writeFile(path.join(copy, 'build/version/version.txt'), `${FERRETDB}\n`);
      const output = path.join(folder, 'ferretdb');
      await run('go', ['build', '-trimpath', '-o', output, './cmd/ferretdb'], copy);
      await rm(copy, { recursive: true });
    },
  },
};

export const PEER_NAMES = Object.keys(PEERS);

/** Where a built peer's files are. */
export const peerFolder = (/** @type {string} */ name) => path.join(cache, name);

/**
 * Why a peer cannot be started, or undefined where it can.
 * @param {string} name
 * @returns {Promise<string | undefined>}
 */
export async function whyUnavailable(name) {
  const peer = PEERS[name];
  if (peer === undefined) return `Expected a peer of ${PEER_NAMES.join(', ')}, received ${name}`;
  const missing = await missingTools(peer);
  if (missing.length > 0) return `${missing.join(', ')} not installed`;
  if (await isCurrent(name, peer)) return undefined;
  return `${name} not built; run: node test/peers/build-peers.mjs ${name}`;
}

/**
 * Builds a peer unless it is there. Resolves with `built`, `current`, or the reason it was skipped.
 * @param {string} name
 * @param {{ force?: boolean, log?: (line: string) => void }} [options]
 */
export async function buildPeer(name, { force = false, log = () => undefined } = {}) {
  const peer = PEERS[name];
  if (peer === undefined) throw new Error(`Expected a peer of ${PEER_NAMES.join(', ')}, received ${name}`);
  const missing = await missingTools(peer);
  if (missing.length > 0) return `skipped: ${missing.join(', ')} not installed`;
  if (!force && (await isCurrent(name, peer))) return 'current';
  log(`${name}: building with ${peer.tools.join(', ')} (a minute or two the first time)`);
  const folder = peerFolder(name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await peer.build(folder);
  await writeFile(path.join(folder, 'stamp'), await peer.stamp());
  return 'built';
}

const digest = (/** @type {string} */ text) => createHash('sha256').update(text).digest('hex');

async function isCurrent(/** @type {string} */ name, /** @type {Peer} */ peer) {
  const held = await readFile(path.join(peerFolder(name), 'stamp'), 'utf8').catch(() => undefined);
  return held === (await peer.stamp());
}

async function missingTools(/** @type {Peer} */ peer) {
  const found = await Promise.all(peer.tools.map(onPath));
  return peer.tools.filter((_, i) => !found[i]);
}

async function onPath(/** @type {string} */ tool) {
  for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
    const usable = await access(path.join(folder, tool), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (folder !== '' && usable) return true;
  }
  return false;
}

/** Resolves with what the command printed; rejects with the end of its error output. */
function run(/** @type {string} */ command, /** @type {string[]} */ args, /** @type {string} */ cwd) {
  const env = { ...process.env, GOTOOLCHAIN: 'local', GOFLAGS: '-buildvcs=false', CGO_ENABLED: '0' };
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    let errors = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    child.stderr.on('data', (chunk) => {
      errors = (errors + chunk).slice(-2_000);
    });
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) resolve(output);
      else
        reject(new Error(`${command} ${args[0]} ended with code ${code}\n${errors}${output.slice(-2_000)}`));
    });
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const force = process.argv.includes('--force');
  const asked = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
  for (const name of asked.length > 0 ? asked : PEER_NAMES) {
    const start = performance.now();
    try {
      const outcome = await buildPeer(name, { force, log: (line) => console.log(line) });
      console.log(`${name}: ${outcome} (${((performance.now() - start) / 1_000).toFixed(1)} s)`);
    } catch (error) {
      console.error(`${name}: failed. ${error instanceof Error ? error.message : error}`);
      process.exitCode = 1;
    }
  }
}
