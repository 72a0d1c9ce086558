import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ErrataError, isErrataError } from '../domain/errors.js';
import { sweepBlobs } from './blob-store.js';
import { fileOfRole, knownModel, namesOf, shippedManifest } from './manifest.js';
import type { KnownModel, ModelEntry, ModelManifest } from './manifest-schema.js';
import { fileDigest, type LocalPins, localPins, pinnedModel, withPins } from './pins.js';

export interface InstalledModel {
  readonly entry: ModelEntry;
  /** `{cacheDir}/{name}`: `onnx/model.onnx`, `tokenizer.json`, `errata-model.json`. */
  readonly directory: string;
}

export interface ListedModel {
  /** Sizes and digests filled in as far as they are known here. */
  readonly entry: KnownModel;
  readonly directory: string;
  /** All files present with the right size; digests are `verifyModel`'s business. */
  readonly installed: boolean;
  readonly isDefault: boolean;
}

/**
 * Folder below `cacheDir` of what starts keep for the next ones: optimised graphs and measurements, in files whose names begin with
 * `runtimeFilesOf`.
 */
export const RUNTIME_FOLDER = '.runtime';

/** 16 hex digits of the weights' digest. */
export const runtimeFilesOf = (entry: ModelEntry): string => fileOfRole(entry, 'weights').sha256.slice(0, 16);

/** The checkout or package folder: the same from `src/models` and from `dist/models`. */
const PACKAGE_DIR = fileURLToPath(new URL('../../', import.meta.url));

/** Written last by a pull: says what lies here and where it came from. */
export const RECORD_FILE = 'errata-model.json';

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
      throw mismatch(entry, file.path, `${file.sizeBytes} bytes`, `${sizeBytes} bytes`);
    const digest = await fileDigest(path);
    if (digest !== file.sha256) throw mismatch(entry, file.path, `SHA-256 ${file.sha256}`, digest);
  }
}

function mismatch(
  { name, shipped }: ModelEntry,
  file: string,
  expected: string,
  received: string,
): ErrataError {
  const remedy =
    shipped === undefined
      ? `get it again with: errata models pull ${name}`
      : `restore ${shipped}/${file} of this installation`;
  return new ErrataError(
    'DIGEST_MISMATCH',
    `Expected ${expected} for ${file} of model ${name}, received ${received}; ${remedy}`,
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

/** Where a model is or would be installed; a colon is no file name on Windows. */
export function modelDirectory(cacheDir: string, entry: Pick<KnownModel, 'name' | 'shipped'>): string {
  if (entry.shipped !== undefined) return join(PACKAGE_DIR, entry.shipped);
  return join(cacheDir, entry.name.replace(':', '--'));
}

/** What a pull wrote beside the files; a directory that was copied from another machine brings its pins with it. */
function recordedPins(directory: string): LocalPins {
  try {
    const { files } = JSON.parse(readFileSync(join(directory, RECORD_FILE), 'utf8')) as ModelEntry;
    return Object.fromEntries(files.map(({ path, sizeBytes, sha256 }) => [path, { sizeBytes, sha256 }]));
  } catch {
    return {};
  }
}

/** The model with everything pinned, by manifest, local pins or the record of its pull; undefined before its first pull. */
export function resolvedModel(known: KnownModel, cacheDir: string): ModelEntry | undefined {
  const locked = withPins(known, localPins(cacheDir, known.name));
  return pinnedModel(locked, {}) ?? pinnedModel(locked, recordedPins(modelDirectory(cacheDir, known)));
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
  const known = knownModel(name, options.manifest);
  const directory = modelDirectory(options.cacheDir, known);
  for (const file of known.files)
    if (!existsSync(join(directory, file.path))) throw notInstalled(name, file.path);
  const entry = resolvedModel(known, options.cacheDir);
  if (entry === undefined) throw notInstalled(name, RECORD_FILE);
  return { entry, directory };
}

/** Every known model and whether it is installed; other precisions of a model only where they are installed. */
export async function listModels(options: {
  cacheDir: string;
  manifest?: ModelManifest | undefined;
}): Promise<readonly ListedModel[]> {
  const manifest = options.manifest ?? shippedManifest();
  const names = manifest.models.flatMap(namesOf);
  const all = await Promise.all(
    names.map(async (name) => {
      const known = knownModel(name, manifest);
      const directory = modelDirectory(options.cacheDir, known);
      const resolved = resolvedModel(known, options.cacheDir);
      const sizes = await Promise.all(
        resolved?.files.map((file) => sizeOf(join(directory, file.path))) ?? [],
      );
      const installed = resolved?.files.every((file, at) => sizes[at] === file.sizeBytes) ?? false;
      const entry = withPins(known, localPins(options.cacheDir, known.name));
      return { entry, directory, installed, isDefault: name === manifest.defaultModel };
    }),
  );
  return all.filter(({ entry, installed }) => installed || !entry.name.includes(':'));
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
 * Removes an installed model, what its starts have kept, and the blobs that no other model has; false where there was none. Renamed first, so that a
 * kill leaves no half model. Digests of its first pull stay in the lock file.
 *
 * Errors: `UNKNOWN_MODEL`; `INVALID_INPUT` for a model that ships.
 */
export async function removeModel(
  name: string,
  options: { cacheDir: string; manifest?: ModelManifest | undefined },
): Promise<boolean> {
  const known = knownModel(name, options.manifest);
  if (known.shipped !== undefined)
    throw new ErrataError('INVALID_INPUT', `Expected a model that was pulled, received ${name}, which ships`);
  const directory = modelDirectory(options.cacheDir, known);
  if (!existsSync(directory)) return false;
  const entry = resolvedModel(known, options.cacheDir);
  const aside = join(options.cacheDir, `.removed-${randomUUID()}`);
  await rename(directory, aside);
  await rm(aside, { recursive: true, force: true });
  await sweepBlobs(options.cacheDir, RECORD_FILE);
  if (entry !== undefined) await removeRuntimeFiles(join(options.cacheDir, RUNTIME_FOLDER), entry);
  return true;
}

async function removeRuntimeFiles(folder: string, entry: ModelEntry): Promise<void> {
  if (!existsSync(folder)) return;
  const start = runtimeFilesOf(entry);
  for (const name of await readdir(folder))
    if (name.startsWith(start)) await rm(join(folder, name), { force: true });
}
