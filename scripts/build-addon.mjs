#!/usr/bin/env node
// Builds build/Release/errata_native.node; npm's `install` step calls it. Nothing is downloaded: Node's headers come
// from the npm package node-api-headers, and the addon is pure N-API, so one binary serves Node 20, 22 and 24. Where the
// package carries one for this platform (scripts/prebuild.mjs) and it loads, nothing is built.
//
//   --force     build even where the stamp says that nothing changed
//   --werror    warnings are errors
//   --tests     also build the C++ tests
//   --sanitize  build the C++ tests (not the addon) under ASan and UBSan, in a tree of their own
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs, promisify } from 'node:util';

const require = createRequire(import.meta.url);
const run = promisify(execFile);

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const addonFile = path.join(root, 'build', 'Release', 'errata_native.node');
const stampFile = path.join(root, 'build', 'addon', 'stamp.txt');

/** A problem that the user can solve; its text says how. */
class SetupError extends Error {}

/** How to get a tool, by platform. */
const remedies = {
  cmake: {
    linux: 'sudo apt-get install cmake',
    darwin: 'brew install cmake',
    win32: 'winget install Kitware.CMake',
  },
  'a C++17 compiler': {
    linux: 'sudo apt-get install g++',
    darwin: 'xcode-select --install',
    win32: 'winget install Microsoft.VisualStudio.2022.BuildTools',
  },
  'make or ninja': {
    linux: 'sudo apt-get install make',
    darwin: 'xcode-select --install (or brew install ninja)',
    win32: 'winget install Ninja-build.Ninja',
  },
};

function missing(tool, detail = '') {
  const how = remedies[tool][process.platform] ?? remedies[tool].linux;
  return new SetupError(`Expected ${tool}${detail}, found none. Get it with: ${how}`);
}

/** First line of `tool --version`; undefined where it cannot be run. */
async function versionOf(tool) {
  try {
    const { stdout } = await run(tool, ['--version']);
    return stdout.split('\n', 1)[0].trim();
  } catch {
    return undefined;
  }
}

async function firstWorking(tools) {
  for (const tool of tools) {
    const version = tool && (await versionOf(tool));
    if (version) return { tool, version };
  }
  return undefined;
}

/** Checks the toolchain. Throws a SetupError that names what is missing; returns the compiler. */
export async function checkTools() {
  const cmake = await versionOf('cmake');
  if (!cmake) throw missing('cmake', ' 3.20 or newer');
  const [, major, minor] = /(\d+)\.(\d+)/.exec(cmake) ?? [];
  if (Number(major) < 3 || (Number(major) === 3 && Number(minor) < 20)) {
    throw missing('cmake', ` 3.20 or newer (there is ${cmake})`);
  }
  // Visual Studio's compiler is not on the path; CMake finds it.
  if (process.platform === 'win32') return { tool: 'cl', version: 'Visual Studio' };
  const compiler = await firstWorking([process.env.CXX, 'c++', 'g++', 'clang++']);
  if (!compiler) throw missing('a C++17 compiler');
  if (!(await firstWorking(['ninja', 'make']))) throw missing('make or ninja');
  return compiler;
}

/** Where a package is installed: beside us or, where we are a dependency, further up. */
function packageDirectory(name) {
  const places = require.resolve.paths(name) ?? [];
  const found = places
    .map((place) => path.join(place, name))
    .find((place) => existsSync(path.join(place, 'package.json')));
  if (!found) throw new SetupError(`Expected the npm package ${name}, found none. Get it with: npm ci`);
  return found;
}

const usearchInclude = () => path.join(packageDirectory('usearch'), 'include');

async function listFiles(directory) {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name))
    .sort();
}

async function hashFiles(hash, files) {
  for (const file of files) {
    hash
      .update(path.relative(root, file))
      .update('\0')
      .update(await readFile(file))
      .update('\0');
  }
  return hash;
}

const sources = async () => [
  ...(await listFiles(path.join(root, 'native'))),
  path.join(root, 'CMakeLists.txt'),
];

/** Hash of the addon's own sources, by which a prebuilt one tells whether it is theirs. */
export async function sourceHash() {
  return (await hashFiles(createHash('sha256'), await sources())).digest('hex');
}

/** Hash of all that the binary depends on. */
async function computeStamp(compiler, flags) {
  const hash = await hashFiles(createHash('sha256'), [...(await sources()), fileURLToPath(import.meta.url)]);
  for (const name of ['usearch', 'node-addon-api', 'node-api-headers']) {
    const manifest = await readFile(path.join(packageDirectory(name), 'package.json'), 'utf8');
    hash.update(`${name}@${JSON.parse(manifest).version}\0`);
  }
  const machine = `${process.platform} ${process.arch} ${compiler.tool} ${compiler.version}`;
  return hash.update(`${machine} ${process.env.CXXFLAGS ?? ''} ${flags.join(' ')}`).digest('hex');
}

/** Runs a command quietly, one progress line a quarter; prints all of its output only where it fails. */
export async function runQuietly(what, [command, ...args], env = process.env) {
  const output = [];
  let shown = -1;
  const child = spawn(command, args, { cwd: root, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const onData = (chunk) => {
    const text = chunk.toString();
    output.push(text);
    // make prints "[ 40%]", ninja "[6/16]".
    for (const [, done, of] of text.matchAll(/^\[\s*(\d+)(?:%|\/(\d+))\]/gm)) {
      const percent = Math.floor((100 * Number(done)) / Number(of ?? 100));
      if (Math.floor(percent / 25) <= shown) continue;
      shown = Math.floor(percent / 25);
      console.log(`${what}: ${percent}%`);
    }
  };
  child.stdout.on('data', onData);
  child.stderr.on('data', onData);
  const code = await new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code === 0) return;
  process.stderr.write(output.join(''));
  throw new SetupError(`${path.basename(command)} ended with code ${code} (${what}); its output is above`);
}

/** Configures and builds a C++ program in build/NAME, without Node; returns the executable. */
async function buildProgram({ what, name, target, type = 'Release', options }) {
  const directory = path.join(root, 'build', name);
  // CMake refuses the tree of a folder that was copied or moved.
  const cache = await readFile(path.join(directory, 'CMakeCache.txt'), 'utf8').catch(() => '');
  if (cache !== '' && !cache.includes(`CMAKE_HOME_DIRECTORY:INTERNAL=${root}\n`)) {
    await rm(directory, { recursive: true, force: true });
  }
  const all = [`-DCMAKE_BUILD_TYPE=${type}`, '-DERRATA_ADDON=OFF', ...options];
  await runQuietly(what, ['cmake', '-S', root, '-B', directory, ...all]);
  const jobs = String(availableParallelism());
  await runQuietly(what, ['cmake', '--build', directory, '--config', type, '--parallel', jobs]);
  return process.platform === 'win32'
    ? path.join(directory, type, `${target}.exe`)
    : path.join(directory, target);
}

export const ARM_COMPILER = 'aarch64-linux-gnu-g++';

/** The C++ tests, in build/NAME. */
export function buildTests(name, sanitize = '', werror = false) {
  return buildProgram({
    what: `C++ tests (${name})`,
    name,
    target: 'errata_native_tests',
    type: sanitize ? 'RelWithDebInfo' : 'Release',
    options: [
      '-DERRATA_TESTS=ON',
      `-DERRATA_USEARCH_INCLUDE=${usearchInclude()}`,
      `-DERRATA_SANITIZE=${sanitize}`,
      `-DERRATA_WERROR=${werror ? 'ON' : 'OFF'}`,
    ],
  });
}

/** The C++ tests for 64-bit ARM by Debian's cross compiler, in one static file, so that an emulator needs nothing else. */
export function buildArmTests(werror = false) {
  return buildProgram({
    what: 'C++ tests (native-arm64)',
    name: 'native-arm64',
    target: 'errata_native_tests',
    options: [
      '-DERRATA_TESTS=ON',
      `-DERRATA_USEARCH_INCLUDE=${usearchInclude()}`,
      `-DERRATA_WERROR=${werror ? 'ON' : 'OFF'}`,
      '-DCMAKE_SYSTEM_NAME=Linux',
      '-DCMAKE_SYSTEM_PROCESSOR=aarch64',
      `-DCMAKE_CXX_COMPILER=${ARM_COMPILER}`,
      '-DCMAKE_EXE_LINKER_FLAGS=-static',
    ],
  });
}

/** A program of the benches: `errata_kernels_bench` or `errata_usearch_filtered`. */
export async function buildBenchProgram(target) {
  await checkTools();
  return buildProgram({
    what: "benches' programs",
    name: 'native-bench',
    target,
    options: ['-DERRATA_BENCH=ON', `-DERRATA_USEARCH_INCLUDE=${usearchInclude()}`],
  });
}

/** The commands that cmake-js would run. We run them ourselves, so that a failed `npm install` shows one clean log. */
async function cmakeJsCommands(flags, { tree, file, options = {} } = { tree: 'addon', file: addonFile }) {
  const { BuildSystem } = require('cmake-js');
  const system = new BuildSystem({
    directory: root,
    out: path.join(root, 'build', tree),
    config: 'Release',
    parallel: availableParallelism(),
    noLog: true,
    cMakeOptions: {
      ERRATA_ADDON_DIR: path.dirname(file),
      ERRATA_USEARCH_INCLUDE: usearchInclude(),
      ...Object.fromEntries(flags.map((flag) => [flag, 'ON'])),
      ...options,
    },
  });
  // What `binary.napi_versions` in package.json also says: headers from node-api-headers, no download.
  system.options.isNodeApi = true;
  return { configure: await system.getConfigureCommand(), build: await system.getBuildCommand() };
}

/** As N-API counts versions; the same as `NAPI_VERSION` in CMakeLists.txt. */
export const NAPI_VERSION = 8;
export const prebuildFolder = () => path.join(root, 'prebuilds', `${process.platform}-${process.arch}`);

/** The addon for other machines of this platform, in build/portable; returns the file. */
export async function buildPortableAddon() {
  await checkTools();
  const file = path.join(root, 'build', 'portable', 'Release', 'errata_native.node');
  const { configure, build } = await cmakeJsCommands(['ERRATA_PORTABLE'], { tree: 'portable', file });
  await runQuietly('errata addon', [...configure, '-B', path.join(root, 'build', 'portable')]);
  await runQuietly('errata addon', build);
  return file;
}

/** The addon under a sanitizer, in a tree of its own; returns the file. */
export async function buildSanitizedAddon(sanitize) {
  const tree = `addon-${sanitize}`;
  const file = path.join(root, 'build', tree, 'Release', 'errata_native.node');
  const { configure, build } = await cmakeJsCommands([], {
    tree,
    file,
    options: { ERRATA_SANITIZE: sanitize },
  });
  await runQuietly(`errata addon (${sanitize})`, [...configure, '-B', path.join(root, 'build', tree)]);
  await runQuietly(`errata addon (${sanitize})`, build);
  return file;
}

/** Whether the package carries the addon for this platform, of these sources, whole, and this Node loads it. */
async function prebuiltServes() {
  const file = path.join(prebuildFolder(), 'errata_native.node');
  if (!existsSync(file)) return false;
  const manifest = JSON.parse(await readFile(path.join(prebuildFolder(), 'manifest.json'), 'utf8'));
  const digest = createHash('sha256')
    .update(await readFile(file))
    .digest('hex');
  if (digest !== manifest.sha256) {
    console.log('errata addon: the prebuilt one is not as it was packed; building');
    return false;
  }
  if (manifest.source !== (await sourceHash())) return false;
  try {
    // In a process of its own: what does not fit may crash it.
    await run(process.execPath, ['-e', 'require(process.argv[1])', file]);
    return true;
  } catch {
    console.log('errata addon: the prebuilt one does not load on this machine; building');
    return false;
  }
}

async function buildAddon({ force, werror, tests }) {
  if (!force && !existsSync(addonFile) && (await prebuiltServes())) {
    console.log(`errata addon: prebuilt for ${process.platform}-${process.arch}`);
    return;
  }
  const compiler = await checkTools();
  const flags = [...(werror ? ['ERRATA_WERROR'] : []), ...(tests ? ['ERRATA_TESTS'] : [])];
  const stamp = await computeStamp(compiler, flags);
  const previous = existsSync(addonFile) ? await readFile(stampFile, 'utf8').catch(() => '') : '';
  if (!force && previous === stamp) {
    console.log('errata addon: up to date');
    return;
  }
  console.log(`errata addon: configuring (${compiler.version})`);
  const directory = path.join(root, 'build', 'addon');
  // A fresh tree: CMake keeps options and compilers of an earlier run otherwise.
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  const { configure, build } = await cmakeJsCommands(flags);
  await runQuietly('errata addon', [...configure, '-B', directory]);
  await runQuietly('errata addon', build);
  await writeFile(stampFile, stamp);
  console.log(`errata addon: built ${path.relative(root, addonFile)}`);
}

async function main() {
  const option = { type: 'boolean', default: false };
  const { values } = parseArgs({
    options: { force: option, werror: option, tests: option, sanitize: option },
  });
  if (values.sanitize) {
    await checkTools();
    console.log(await buildTests('native-asan', 'address,undefined', values.werror));
  } else {
    await buildAddon(values);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  main().catch((error) => {
    console.error(error instanceof SetupError ? `errata addon: ${error.message}` : error);
    process.exitCode = 1;
  });
}
