import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { installedModel, listModels, removeModel } from '../../src/models/installed-models.js';
import type { ModelManifest } from '../../src/models/manifest-schema.js';
import type { AnySourceSpec, FetchRequest, ModelSources } from '../../src/models/model-source.js';
import { LOCK_FILE } from '../../src/models/pins.js';
import { pullModel } from '../../src/models/pull-model.js';
import { TINY_FILES, tinyManifest } from './tiny-model.js';

let cacheDir: string;
beforeEach(async () => {
  cacheDir = await mkdtemp(join(tmpdir(), 'errata-pins-'));
});
afterEach(() => rm(cacheDir, { recursive: true, force: true }));

/** `tiny` without sizes and digests, and a second model with the same tokenizer. */
function openManifest(): ModelManifest {
  const manifest = tinyManifest();
  const tiny = manifest.models[0]!;
  const open = { ...tiny, files: tiny.files.map(({ path, role }) => ({ path, role })) };
  return { ...manifest, models: [open, { ...tiny, name: 'other' }] };
}

const manifest = openManifest();

function bringing(files: Readonly<Record<string, Buffer>>, asked: string[] = []): ModelSources {
  const bring = async ({ directory, files: wanted }: FetchRequest<AnySourceSpec>) => {
    for (const { path } of wanted) {
      asked.push(path);
      await mkdir(dirname(join(directory, path)), { recursive: true });
      await writeFile(join(directory, path), files[path] ?? '');
    }
  };
  return { huggingface: bring, maven: bring, directory: bring };
}

const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

describe('a model whose digests nobody knows yet', () => {
  it('is pinned by its first pull, also after its removal', async () => {
    expect((await listModels({ cacheDir, manifest }))[0]).toMatchObject({ installed: false });
    const { entry } = await pullModel('tiny', { cacheDir, manifest, sources: bringing(TINY_FILES) });
    expect(entry.files.map(({ sha256 }) => sha256)).toEqual(Object.values(TINY_FILES).map(digestOf));
    expect(installedModel('tiny', { cacheDir, manifest }).entry).toEqual(entry);
    const lock = JSON.parse(await readFile(join(cacheDir, LOCK_FILE), 'utf8'));
    expect(lock.tiny.source).toBe('huggingface someone/tiny@0123456789ab');

    await removeModel('tiny', { cacheDir, manifest });
    expect(await readdir(join(cacheDir, '.blobs'))).toEqual([]);
    const changed = { ...TINY_FILES, 'onnx/model.onnx': Buffer.from('other bytes') };
    await expect(pullModel('tiny', { cacheDir, manifest, sources: bringing(changed) })).rejects.toMatchObject(
      {
        code: 'MODEL_UNAVAILABLE',
        message: /Expected 160000 bytes for onnx\/model\.onnx of model tiny, received 11 bytes/,
      },
    );
    await pullModel('tiny', { cacheDir, manifest, sources: bringing(TINY_FILES) });
    expect((await listModels({ cacheDir, manifest }))[0]).toMatchObject({ installed: true });
  });

  it('brings its pins along where its directory is copied to another machine', async () => {
    const { entry } = await pullModel('tiny', { cacheDir, manifest, sources: bringing(TINY_FILES) });
    await rm(join(cacheDir, LOCK_FILE));
    expect(installedModel('tiny', { cacheDir, manifest }).entry).toEqual(entry);
  });

  it('refuses a damaged lock file instead of forgetting what it held', async () => {
    await writeFile(join(cacheDir, LOCK_FILE), '{"tiny":1}');
    await expect(
      pullModel('tiny', { cacheDir, manifest, sources: bringing(TINY_FILES) }),
    ).rejects.toMatchObject({
      code: 'INVALID_FILE',
    });
  });
});

describe('files by content', () => {
  it('are fetched once for all models, linked, and deleted with the last of them', async () => {
    await pullModel('tiny', { cacheDir, manifest, sources: bringing(TINY_FILES) });
    const asked: string[] = [];
    const other = await pullModel('other', { cacheDir, manifest, sources: bringing({}, asked) });
    expect(asked).toEqual([]);
    const inodes = await Promise.all(
      ['tiny', 'other'].map(async (name) => (await stat(join(cacheDir, name, 'tokenizer.json'))).ino),
    );
    expect(new Set(inodes).size).toBe(1);
    await removeModel('tiny', { cacheDir, manifest });
    expect(await readdir(join(cacheDir, '.blobs'))).toHaveLength(2);
    expect(await readFile(join(other.directory, 'tokenizer.json'))).toEqual(TINY_FILES['tokenizer.json']);
    await removeModel('other', { cacheDir, manifest });
    expect(await readdir(join(cacheDir, '.blobs'))).toEqual([]);
  });

  it('are fetched again where the held ones are damaged', async () => {
    const { directory } = await pullModel('tiny', { cacheDir, manifest, sources: bringing(TINY_FILES) });
    // A hard link: the blob changes with it.
    await writeFile(join(directory, 'tokenizer.json'), '[]');
    const asked: string[] = [];
    await pullModel('other', { cacheDir, manifest, sources: bringing(TINY_FILES, asked) });
    expect(asked).toEqual(['tokenizer.json']);
  });
});
