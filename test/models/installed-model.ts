import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { createModelSources } from '../../src/adapters/model-sources/create-model-sources.js';
import { isIntact, modelDirectory } from '../../src/models/installed-models.js';
import type { EmbeddingEntry } from '../../src/models/manifest-schema.js';
import { pullModel } from '../../src/models/pull-model.js';
import { pinnedEmbedding } from './tiny-model.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Shared by all test files and runs. */
export const testCacheDir = process.env.ERRATA_TEST_CACHE ?? join(root, '.cache', 'models');
export const miniLm: EmbeddingEntry = pinnedEmbedding('all-MiniLM-L6-v2');
/** The second model that can be had from Maven Central: with prefixes. */
export const e5Small: EmbeddingEntry = pinnedEmbedding('e5-small-v2');

/** A pull that holds the lock for longer than this was killed. */
const STALE_LOCK_MS = 600_000;

/** The embedding worker's sources: all that has to be built for it. */
const WORKER_SOURCES = [
  'adapters/onnx/embed-worker',
  'adapters/onnx/first-provider',
  'adapters/onnx/native-gate',
  'adapters/onnx/open-session',
  'adapters/onnx/run-claims',
  'adapters/onnx/run-model',
  'models/pooling',
];
/** The same for a process of its own that pulls a model. */
export const PULL_SOURCES = [
  'domain/errors',
  'models/blob-store',
  'models/installed-models',
  'models/manifest',
  'models/manifest-schema',
  'models/model-source',
  'models/pins',
  'models/pull-model',
];
/** The same for a process of its own that embeds. */
export const EMBEDDER_SOURCES = [
  ...WORKER_SOURCES,
  ...PULL_SOURCES,
  'adapters/onnx/batch-probe',
  'adapters/onnx/create-onnx-embedder',
  'adapters/onnx/embed-protocol',
  'adapters/onnx/embed-task',
  'adapters/onnx/hub-tokenizer',
  'adapters/onnx/kept-canary',
  'adapters/onnx/machine-key',
  'adapters/onnx/onnx-embedder',
  'adapters/onnx/open-pool',
  'adapters/onnx/optimised-graph',
  'adapters/onnx/plain-text-reader',
  'adapters/onnx/plain-word-pieces',
  'adapters/onnx/ready-queue',
  'adapters/onnx/runtime-notes',
  'adapters/onnx/session-layout',
  'adapters/onnx/worker-pool',
  'adapters/onnx/worker-thread',
  'domain/inference',
  'models/model-id',
  'models/vector-checks',
  'ports/model-runtime',
];

/**
 * Compiles sources that threads and child processes need into dist, where the build there is missing or older, so that a
 * targeted `npx vitest run` needs no build first and never tests an old one.
 */
export async function buildForNode(names: readonly string[] = WORKER_SOURCES): Promise<void> {
  const tsconfig = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile).config.compilerOptions;
  // NodeNext would look for a package.json beside the text that is compiled, and emit CommonJS.
  const compilerOptions = {
    ...ts.convertCompilerOptionsFromJson(tsconfig, root).options,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
  };
  for (const name of names) {
    const source = join(root, 'src', `${name}.ts`);
    const target = join(root, 'dist', `${name}.js`);
    if (existsSync(target) && (await stat(target)).mtimeMs > (await stat(source)).mtimeMs) continue;
    const { outputText } = ts.transpileModule(readFileSync(source, 'utf8'), { compilerOptions });
    await mkdir(dirname(target), { recursive: true });
    const beside = `${target}.${process.pid}`;
    await writeFile(beside, outputText);
    await rename(beside, target);
  }
}

/** Directory of an installed model, pulled once for all test processes. Rejects where it cannot be had. */
export async function installedModelDir(entry: EmbeddingEntry = miniLm): Promise<string> {
  await buildForNode();
  const directory = modelDirectory(testCacheDir, entry);
  await mkdir(testCacheDir, { recursive: true });
  while (!(await isIntact(directory, entry))) {
    const unlock = await tryLock(join(testCacheDir, '.pull.lock'));
    if (unlock === undefined) {
      await wait(100);
      continue;
    }
    try {
      await pullModel(entry.name, { cacheDir: testCacheDir, sources: createModelSources() });
    } finally {
      await unlock();
    }
  }
  return directory;
}

async function tryLock(path: string): Promise<(() => Promise<void>) | undefined> {
  try {
    await mkdir(path);
    return () => rm(path, { recursive: true, force: true });
  } catch {
    const held = await stat(path).catch(() => undefined);
    if (held !== undefined && Date.now() - held.mtimeMs > STALE_LOCK_MS)
      await rm(path, { recursive: true, force: true });
    return undefined;
  }
}

/** For `describe.skipIf(model.missing !== undefined)`: the directory, or why there is none. */
export async function modelForTests(
  entry: EmbeddingEntry = miniLm,
): Promise<{ directory: string; missing: string | undefined }> {
  try {
    return { directory: await installedModelDir(entry), missing: undefined };
  } catch (error) {
    const missing = error instanceof Error ? error.message : String(error);
    console.warn(`Tests that need ${entry.name} are skipped: ${missing}`);
    return { directory: '', missing };
  }
}
