import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { ErrataError } from '../domain/errors.js';
import type { KnownModel, ModelEntry, ModelFile } from './manifest-schema.js';

/**
 * In the models' folder: sizes and digests of files that the manifest leaves open, as the first pull found them. Every
 * later pull, on purpose also after `remove`, must bring the same bytes.
 */
export const LOCK_FILE = 'models.lock.json';

const lockSchema = z.record(
  z.string(),
  z.strictObject({
    /** Where the first pull got them, for people. */
    source: z.string(),
    pinnedAt: z.string(),
    files: z.record(z.string(), z.strictObject({ sizeBytes: z.int().positive(), sha256: z.string() })),
  }),
);

type Lock = z.infer<typeof lockSchema>;
/** By path in the model's directory. */
export type LocalPins = Lock[string]['files'];

function readLock(cacheDir: string): Lock {
  const path = join(cacheDir, LOCK_FILE);
  let json: string;
  try {
    json = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw error;
  }
  try {
    return lockSchema.parse(JSON.parse(json));
  } catch (cause) {
    throw new ErrataError(
      'INVALID_FILE',
      `Expected the digests of pulled models in ${path}, received another file`,
      {
        cause,
      },
    );
  }
}

/** Errors: `INVALID_FILE` where the lock file is damaged. */
export function localPins(cacheDir: string, name: string): LocalPins {
  return readLock(cacheDir)[name]?.files ?? {};
}

/** Keeps what the first pull found. Two pulls of different models at the same moment may lose one; its next pull keeps it. */
export async function keepPins(
  cacheDir: string,
  entry: ModelEntry,
  known: KnownModel,
  source: string,
): Promise<void> {
  const open = known.files.filter(({ sizeBytes, sha256 }) => sizeBytes === undefined || sha256 === undefined);
  if (open.length === 0) return;
  const lock = readLock(cacheDir);
  if (lock[entry.name] !== undefined) return;
  const paths = new Set(open.map(({ path }) => path));
  const files = entry.files
    .filter(({ path }) => paths.has(path))
    .map(({ path, sizeBytes, sha256 }) => [path, { sizeBytes, sha256 }]);
  const kept: Lock = {
    ...lock,
    [entry.name]: { source, pinnedAt: new Date().toISOString(), files: Object.fromEntries(files) },
  };
  await mkdir(cacheDir, { recursive: true });
  const beside = join(cacheDir, `${LOCK_FILE}.${randomUUID()}`);
  try {
    await writeFile(beside, `${JSON.stringify(kept, undefined, 2)}\n`);
    await rename(beside, join(cacheDir, LOCK_FILE));
  } finally {
    await rm(beside, { force: true });
  }
}

/** The model with local pins filled in; undefined while a size or digest is still open. */
export function pinnedModel(known: KnownModel, pins: LocalPins): ModelEntry | undefined {
  const files = withPins(known, pins).files.flatMap(({ path, role, sizeBytes, sha256 }): ModelFile[] =>
    sizeBytes === undefined || sha256 === undefined ? [] : [{ path, role, sizeBytes, sha256 }],
  );
  return files.length === known.files.length ? { ...known, files } : undefined;
}

/** The manifest's own numbers go before local ones. */
export function withPins(known: KnownModel, pins: LocalPins): KnownModel {
  const files = known.files.map((file) => ({
    ...file,
    sizeBytes: file.sizeBytes ?? pins[file.path]?.sizeBytes,
    sha256: file.sha256 ?? pins[file.path]?.sha256,
  }));
  return { ...known, files };
}

/** Lower-case hex SHA-256 of a file, streamed; 23 MB take about 20 ms. */
export async function fileDigest(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}

/** Sizes and digests of files that lie in `directory`. */
export async function pinsOf(directory: string, paths: readonly string[]): Promise<LocalPins> {
  const pins: LocalPins = {};
  for (const path of paths) {
    const { size } = await stat(join(directory, path));
    pins[path] = { sizeBytes: size, sha256: await fileDigest(join(directory, path)) };
  }
  return pins;
}
