// Loads the addon and serves from the MongoDB store under Node 24, whatever Node built them: both are pure N-API or
// JavaScript. `node test/smoke/node24-smoke.mjs [path of a node binary]`; without a path the npm package `node` brings one.
// Last line: `N passed, N failed, N skipped`.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { peerFolder, whyUnavailable } from '../peers/build-peers.mjs';

const NODE_VERSION = '24.21.0';
const KEY = 'node24-smoke-admin-key-0123456789';
const root = fileURLToPath(new URL('../..', import.meta.url));
const mainFile = path.join(root, 'dist', 'app', 'main.js');
const addon = path.join(root, 'build', 'Release', 'errata_native.node');
const folder = mkdtempSync(path.join(tmpdir(), 'errata-node24-'));
const totals = { passed: 0, failed: 0, skipped: 0 };
const children = [];

async function check(name, work) {
  try {
    const detail = await work();
    totals.passed += 1;
    console.log(`node24: ${name} ok${detail ? ` (${detail})` : ''}`);
    return true;
  } catch (error) {
    totals.failed += 1;
    console.log(`node24: ${name} FAILED: ${error.message}`);
    return false;
  }
}

function skip(reason, count) {
  totals.skipped += count;
  console.log(`node24: ${count} skipped: ${reason}`);
}

function nodeBinary() {
  const given = process.argv[2];
  if (given) return given;
  // The package fetches the binary for this machine in its own install step.
  writeFileSync(
    path.join(folder, 'package.json'),
    JSON.stringify({ private: true, allowScripts: { node: true } }),
  );
  const args = ['install', '--no-save', '--no-audit', '--no-fund', `node@${NODE_VERSION}`];
  execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  return path.join(folder, 'node_modules', 'node', 'bin', 'node');
}

/** Starts a process and resolves with the first line of its output that matches. */
function startAndAwait(command, args, env, pattern, limitMs) {
  const child = spawn(command, args, { cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] });
  children.push(child);
  const errors = [];
  child.stderr.on('data', (chunk) => errors.push(chunk));
  return new Promise((resolve, reject) => {
    const fail = (why) => reject(new Error(`${why}: ${Buffer.concat(errors).toString().slice(-2_000)}`));
    const timer = setTimeout(() => fail(`not ready after ${limitMs} ms`), limitMs);
    child.once('error', reject);
    child.once('exit', (code) => fail(`ended with code ${code}`));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const match = pattern.exec(line);
      if (match === null) return;
      clearTimeout(timer);
      resolve(match);
    });
  });
}

async function startMongo() {
  const peer = peerFolder('mongo-java-server');
  const classPath = [path.join(peer, 'classes'), path.join(peer, 'lib', '*')].join(path.delimiter);
  const args = ['-cp', classPath, 'PeerServer', '0'];
  const [, port] = await startAndAwait('java', args, process.env, /listening on (\d+)/, 30_000);
  return `mongodb://127.0.0.1:${port}/errata_smoke`;
}

async function graphql(url, query, variables) {
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await response.json();
  if (errors !== undefined) throw new Error(errors.map(({ message }) => message).join('; '));
  return data;
}

function equal(received, expected, name) {
  if (received !== expected) throw new Error(`Expected ${expected} for ${name}, received ${received}`);
}

async function serveAndAsk(node) {
  const env = {
    PATH: process.env.PATH,
    MONGODB_URI: await startMongo(),
    ERRATA_ADMIN_KEY: KEY,
    ERRATA_PORT: '0',
    ERRATA_DATA: path.join(folder, 'data'),
    ERRATA_SAMPLE: 'false',
    ...(process.env.ERRATA_MODELS ? { ERRATA_MODELS: process.env.ERRATA_MODELS } : {}),
  };
  let url = '';
  const serves = await check('serves from MongoDB', async () => {
    const [line] = await startAndAwait(node, [mainFile, 'serve', '--json'], env, /^\{.*\}$/, 60_000);
    ({ url } = JSON.parse(line));
    equal((await fetch(`${url}/readyz`)).status, 200, 'the status of /readyz');
    return url;
  });
  if (!serves) return skip('the server did not start', 2);
  await check('stores a correction', async () => {
    const input = {
      taskType: 'code-review',
      wrongAnswer: 'Reported an unclosed connection.',
      correction: 'The pool closes it.',
      lesson: 'Connections of a pool are closed by the pool, so a missing close() is no leak.',
    };
    const mutation = 'mutation($input: CorrectionInput!) { submitCorrection(input: $input) { outcome } }';
    equal((await graphql(url, mutation, { input })).submitCorrection.outcome, 'CREATED', 'outcome');
  });
  await check('retrieves it', async () => {
    const input = { query: 'a connection pool leak', taskType: 'code-review', threshold: 0 };
    const query =
      'query($input: RetrieveInput!) { retrieve(input: $input) { degraded notes { note { lesson } } } }';
    const { retrieve } = await graphql(url, query, { input });
    equal(retrieve.notes.length, 1, 'the number of notes');
    return retrieve.degraded.join('; ');
  });
}

async function main() {
  let node;
  try {
    node = nodeBinary();
  } catch (error) {
    return skip(`no Node ${NODE_VERSION}: ${error.message}`, 4);
  }
  await check('loads the addon', () => {
    const script = 'const a = require(process.argv[1]); console.log(process.version, a.isa())';
    return execFileSync(node, ['-e', script, addon], { encoding: 'utf8' }).trim();
  });
  const missing = await whyUnavailable('mongo-java-server');
  if (missing !== undefined) return skip(missing, 3);
  if (!existsSync(mainFile)) return skip('dist is not built; npm test builds it', 3);
  await serveAndAsk(node);
}

try {
  await main();
} finally {
  // The server first: it still writes to its store when it closes.
  for (const child of children.reverse()) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const end = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGTERM');
    await end;
  }
  rmSync(folder, { recursive: true, force: true });
}
console.log(`${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);
process.exitCode = totals.failed === 0 ? 0 : 1;
