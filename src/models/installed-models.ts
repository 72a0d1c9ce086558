import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ErrataError, isErrataError } from '../domain/errors.js';
import { type ModelEntry, type ModelManifest, modelEntry, shippedManifest } from './manifest.js';

export interface InstalledModel {
  readonly entry: ModelEntry;
  /** `{cacheDir}/{name}`: `onnx/model.onnx`, `tokenizer.json`, `errata-model.json`. */
  readonly directory: string;
}

export interface ListedModel {
  readonly entry: ModelEntry;
  readonly directory: string;
  /** All files present with the right size; digests are `verifyModel`'s business. */
  readonly installed: boolean;
  readonly isDefault: boolean;
}

/** Written last by a pull: says what lies here and where it came from. */
export const RECORD_FILE = 'errata-model.json';

/** Lower-case hex SHA-256 of a file, streamed; 23 MB take about 20 ms. */
async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}

async function sizeOf(path: string): Promise<number | undefined> {
  try {
    const found = await stat(path);
    return found.isFile() ? found.size : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Compares size and SHA-256 of every file with the manifest.
 *
 * Errors: `MODEL_NOT_INSTALLED` for a missing file, `DIGEST_MISMATCH` naming the first file that differs.
 */
export async function verifyModel(directory: string, entry: ModelEntry): Promise<void> {
  for (const file of entry.files) {
    const path = join(directory, file.path);
    const sizeBytes = await sizeOf(path);
    if (sizeBytes === undefined) throw notInstalled(entry.name, file.path);
    if (sizeBytes !== file.sizeBytes)
      throw mismatch(entry.name, file.path, `${file.sizeBytes} bytes`, `${sizeBytes} bytes`);
    const digest = await fileDigest(path);
    if (digest !== file.sha256) throw mismatch(entry.name, file.path, `SHA-256 ${file.sha256}`, digest);
  }
}

function mismatch(name: string, file: string, expected: string, received: string): ErrataError {
  return new ErrataError(
    'DIGEST_MISMATCH',
    `Expected ${expected} for ${file} of model ${name}, received ${received}; get it again with: errata models pull ${name}`,
    {
      details: { model: name, file },
    },
  );
}

function notInstalled(name: string, file: string): ErrataError {
  return new ErrataError(
    'MODEL_NOT_INSTALLED',
    `Expected ${file} for model ${name}, received no such file; run: errata models pull ${name}`,
    { details: { model: name, file } },
  );
}

/** Where a model would be installed. */
export function modelDirectory(cacheDir: string, entry: ModelEntry): string {
  return join(cacheDir, entry.name);
}

/**
 * The installed model of a name, without hashing it (whoever loads it does).
 *
 * Errors: `UNKNOWN_MODEL`, `MODEL_NOT_INSTALLED`.
 */
export function installedModel(
  name: string,
  options: { cacheDir: string; manifest?: ModelManifest | undefined },
): InstalledModel {
  const entry = modelEntry(name, options.manifest);
  const directory = modelDirectory(options.cacheDir, entry);
  for (const file of entry.files)
    if (!existsSync(join(directory, file.path))) throw notInstalled(name, file.path);
  return { entry, directory };
}

/** Every known model and whether it is installed. */
export async function listModels(options: {
  cacheDir: string;
  manifest?: ModelManifest | undefined;
}): Promise<readonly ListedModel[]> {
  const manifest = options.manifest ?? shippedManifest();
  return Promise.all(
    manifest.models.map(async (entry) => {
      const directory = modelDirectory(options.cacheDir, entry);
      const sizes = await Promise.all(entry.files.map((file) => sizeOf(join(directory, file.path))));
      const installed = entry.files.every((file, at) => sizes[at] === file.sizeBytes);
      return { entry, directory, installed, isDefault: entry.name === manifest.defaultModel };
    }),
  );
}

/** Whether every file has its digest; only a damaged or missing model gives false, other errors pass through. */
export async function isIntact(directory: string, entry: ModelEntry): Promise<boolean> {
  try {
    await verifyModel(directory, entry);
    return true;
  } catch (error) {
    if (isErrataError(error, 'DIGEST_MISMATCH') || isErrataError(error, 'MODEL_NOT_INSTALLED')) return false;
    throw error;
  }
}

/**
 * Removes an installed model; false where there was none. Renamed first, so that a kill leaves no half model.
 *
 * Errors: `UNKNOWN_MODEL`.
 */
export async function removeModel(
  name: string,
  options: { cacheDir: string; manifest?: ModelManifest | undefined },
): Promise<boolean> {
  const directory = modelDirectory(options.cacheDir, modelEntry(name, options.manifest));
  if (!existsSync(directory)) return false;
  const aside = join(options.cacheDir, `.removed-${randomUUID()}`);
  await rename(directory, aside);
  await rm(aside, { recursive: true, force: true });
  return true;
}
