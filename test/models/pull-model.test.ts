import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ErrataError } from '../../src/domain/errors.js';
import {
  installedModel,
  listModels,
  RUNTIME_FOLDER,
  removeModel,
  runtimeFilesOf,
  verifyModel,
} from '../../src/models/installed-models.js';
import type { AnySourceSpec, FetchRequest, ModelSources } from '../../src/models/model-source.js';
import { type PullOptions, pullModel } from '../../src/models/pull-model.js';
import { buildForNode, PULL_SOURCES } from './installed-model.js';
import { pinnedEmbedding, TINY_FILES, tinyManifest } from './tiny-model.js';

const manifest = tinyManifest();
const entry = pinnedEmbedding('tiny', manifest);
let cacheDir: string;

beforeEach(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), 'errata-pull-'));
});

afterEach(() => rm(cacheDir, { recursive: true, force: true }));

/** Everything but the blobs, which stay. */
const modelsIn = async (directory: string) => (await readdir(directory)).filter((name) => name !== '.blobs');

type Request = FetchRequest<AnySourceSpec>;

async function writeFiles({ directory }: Pick<Request, 'directory'>, files = TINY_FILES): Promise<void> {
  for (const [path, bytes] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true });
    await writeFile(join(directory, path), bytes);
  }
}

const refuse = (message: string) => async () => {
  throw new ErrataError('MODEL_UNAVAILABLE', message, { cause: new Error('deeper reason') });
};

function pull(sources: Partial<ModelSources>, options: Partial<PullOptions> = {}) {
  const all = {
    huggingface: refuse('no hub'),
    maven: refuse('no mvn'),
    directory: refuse('no directory'),
    ...sources,
  };
  return pullModel('tiny', { cacheDir, manifest, sources: all, ...options });
}

describe('pullModel', () => {
  it('installs from the first source that works and leaves nothing else behind', async () => {
    const failures: string[] = [];
    const model = await pull(
      { maven: writeFiles },
      { onFailure: (source, why) => failures.push(`${source}: ${why}`) },
    );
    expect(model).toEqual({ entry, directory: join(cacheDir, 'tiny') });
    expect(await modelsIn(cacheDir)).toEqual(['tiny']);
    expect((await readdir(model.directory)).sort()).toEqual(['errata-model.json', 'onnx', 'tokenizer.json']);
    expect(failures).toEqual(['huggingface someone/tiny@0123456789ab: no hub: deeper reason']);
    await verifyModel(model.directory, entry);
    const record = JSON.parse(await readFile(join(model.directory, 'errata-model.json'), 'utf8'));
    expect(record).toMatchObject({ name: 'tiny', source: 'maven org.example:tiny:1.0' });
    expect(installedModel('tiny', { cacheDir, manifest })).toEqual(model);
  });

  it('asks no source for a model that is there, and replaces a damaged one', async () => {
    const model = await pull({ huggingface: writeFiles });
    expect(await pull({})).toEqual(model);
    await writeFile(join(model.directory, 'tokenizer.json'), '{"tokens":[1]');
    await expect(verifyModel(model.directory, entry)).rejects.toMatchObject({
      code: 'DIGEST_MISMATCH',
      message: /tokenizer\.json of model tiny/,
    });
    await pull({ huggingface: writeFiles });
    await verifyModel(model.directory, entry);
    expect(await modelsIn(cacheDir)).toEqual(['tiny']);
  });

  it('refuses files with another digest and goes on to the next source', async () => {
    const tampered = { ...TINY_FILES, 'onnx/model.onnx': Buffer.from('weighty '.repeat(20_000)) };
    const failures: string[] = [];
    const options = { onFailure: (_: string, why: string) => failures.push(why) };
    await pull({ huggingface: (request) => writeFiles(request, tampered), maven: writeFiles }, options);
    expect(failures).toHaveLength(1);
    expect(failures[0]).toMatch(
      /Expected SHA-256 [0-9a-f]{64} for onnx\/model\.onnx of model tiny, received [0-9a-f]{64}/,
    );
    await verifyModel(join(cacheDir, 'tiny'), entry);
  });

  it('names everything that was tried and what to do', async () => {
    const failure = await pull({
      huggingface: (request) => writeFiles(request, { 'tokenizer.json': Buffer.from('x') }),
    }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'MODEL_UNAVAILABLE', details: { model: 'tiny', tried: 2 } });
    const { message } = failure as ErrataError;
    expect(message).toContain(
      '1. huggingface someone/tiny@0123456789ab: Expected onnx/model.onnx for model tiny',
    );
    expect(message).toContain('2. maven org.example:tiny:1.0: no mvn: deeper reason');
    expect(message).toContain('errata models pull tiny --from DIRECTORY');
    expect(message).toContain('onnx/model.onnx and tokenizer.json');
    expect(await modelsIn(cacheDir)).toEqual([]);
  });

  it('looks only at a directory that is given by hand', async () => {
    const asked: string[] = [];
    const directory = async (request: FetchRequest<{ kind: 'directory'; path: string }>) => {
      asked.push(request.spec.path);
      await writeFiles(request);
    };
    await pull({ directory }, { from: '/somewhere' });
    expect(asked).toEqual(['/somewhere']);
    await expect(pull({ huggingface: writeFiles }, { from: '/nowhere' })).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: /1\. directory \/nowhere: no directory/,
    });
  });

  it('stops at an abort signal without trying the next source', async () => {
    const controller = new AbortController();
    const huggingface = async () => {
      controller.abort();
      throw new Error('aborted');
    };
    const asked: string[] = [];
    const maven = async () => void asked.push('maven');
    await expect(pull({ huggingface, maven }, { signal: controller.signal })).rejects.toMatchObject({
      code: 'ABORTED',
    });
    expect(asked).toEqual([]);
    expect(await modelsIn(cacheDir)).toEqual([]);
  });

  it('lets concurrent pulls end with one whole model', async () => {
    const models = await Promise.all(Array.from({ length: 8 }, () => pull({ huggingface: writeFiles })));
    expect(new Set(models.map((model) => model.directory)).size).toBe(1);
    await verifyModel(join(cacheDir, 'tiny'), entry);
    expect(await modelsIn(cacheDir)).toEqual(['tiny']);
  });

  it('leaves no model after a kill between download and rename, and sweeps what is left a day later', async () => {
    await buildForNode(PULL_SOURCES);
    const cache = join(cacheDir, 'cache');
    const manifestFile = join(cacheDir, 'manifest.json');
    const filesFile = join(cacheDir, 'files.json');
    const base64 = Object.entries(TINY_FILES).map(([path, bytes]) => [path, bytes.toString('base64')]);
    await writeFile(manifestFile, JSON.stringify(manifest));
    await writeFile(filesFile, JSON.stringify(Object.fromEntries(base64)));
    const script = fileURLToPath(new URL('./pull-and-hang.mjs', import.meta.url));
    const child = spawn(process.execPath, [script, cache, manifestFile, filesFile], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [printed] = await once(child.stdout, 'data');
    expect(String(printed)).toBe('downloaded\n');
    child.kill('SIGKILL');
    await once(child, 'exit');

    const [scratch] = await readdir(cache);
    expect(scratch).toMatch(/^\.pull-/);
    expect(() => installedModel('tiny', { cacheDir: cache, manifest })).toThrowError(
      expect.objectContaining({
        code: 'MODEL_NOT_INSTALLED',
        message: expect.stringContaining('errata models pull tiny'),
      }),
    );
    expect(await listModels({ cacheDir: cache, manifest })).toMatchObject([
      { installed: false, isDefault: true },
    ]);
    const longAgo = new Date(Date.now() - 25 * 3_600_000);
    await utimes(join(cache, String(scratch)), longAgo, longAgo);
    await pull({ huggingface: writeFiles }, { cacheDir: cache });
    expect(await modelsIn(cache)).toEqual(['tiny']);
  });
});

describe('listModels and removeModel', () => {
  it('tell and remove what is installed', async () => {
    await pull({ huggingface: writeFiles });
    expect(await listModels({ cacheDir, manifest })).toMatchObject([
      { installed: true, directory: join(cacheDir, 'tiny') },
    ]);
    const runtime = join(cacheDir, RUNTIME_FOLDER);
    await mkdir(runtime);
    for (const name of [`${runtimeFilesOf(entry)}-0.onnx`, '0000000000000000-0.onnx'])
      await writeFile(join(runtime, name), '');
    expect(await removeModel('tiny', { cacheDir, manifest })).toBe(true);
    expect(await readdir(runtime)).toEqual(['0000000000000000-0.onnx']);
    await rm(runtime, { recursive: true });
    expect(await modelsIn(cacheDir)).toEqual([]);
    expect(await removeModel('tiny', { cacheDir, manifest })).toBe(false);
    await expect(removeModel('..', { cacheDir, manifest })).rejects.toMatchObject({ code: 'UNKNOWN_MODEL' });
  });
});
