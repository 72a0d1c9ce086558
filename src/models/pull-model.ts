import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ErrataError, isErrataError } from '../domain/errors.js';
import { keepBlob, takeBlob } from './blob-store.js';
import {
  type InstalledModel,
  isIntact,
  modelDirectory,
  RECORD_FILE,
  resolvedModel,
  verifyModel,
} from './installed-models.js';
import { knownModel } from './manifest.js';
import type { KnownFile, KnownModel, ModelEntry, ModelManifest } from './manifest-schema.js';
import {
  type AnySourceSpec,
  describeSource,
  type FetchRequest,
  type ModelSource,
  type ModelSources,
  type PullProgress,
} from './model-source.js';
import { keepPins, localPins, pinnedModel, pinsOf, withPins } from './pins.js';

export interface PullOptions {
  /** Models are installed as `{cacheDir}/{name}`. */
  readonly cacheDir: string;
  readonly sources: ModelSources;
  /** A directory or jar given by hand: the only place that is looked at then. */
  readonly from?: string | undefined;
  /** Nothing that needs a network is tried. */
  readonly offline?: boolean | undefined;
  readonly manifest?: ModelManifest | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: PullProgress) => void) | undefined;
  /** Called for each source that did not work, as it happens. */
  readonly onFailure?: ((source: string, reason: string) => void) | undefined;
}

const SCRATCH = '.pull-';
const PARTIAL = '.partial';
/** A killed pull's scratch directory is swept by a later pull; a day is longer than any pull that still runs. */
const STALE_SCRATCH_MS = 24 * 3_600_000;

/**
 * Installs a model unless it is there and intact: asks its sources in order, checks the digests, writes beside and
 * renames, so that a kill at any moment leaves the old state or the new one.
 *
 * Errors: `UNKNOWN_MODEL`; `MODEL_UNAVAILABLE` naming everything that was tried and what to do; `DIGEST_MISMATCH` for a model
 * that ships and was damaged; `ABORTED`.
 */
export async function pullModel(name: string, options: PullOptions): Promise<InstalledModel> {
  const { cacheDir } = options;
  const plain = knownModel(name, options.manifest);
  const known = withPins(plain, localPins(cacheDir, plain.name));
  const directory = modelDirectory(cacheDir, known);
  const present = options.from === undefined ? resolvedModel(known, cacheDir) : undefined;
  if (present !== undefined && (await isIntact(directory, present))) return { entry: present, directory };

  if (present?.shipped !== undefined) {
    await verifyModel(directory, present);
    return { entry: present, directory };
  }
  await mkdir(cacheDir, { recursive: true });
  await sweepScratch(cacheDir);
  const specs: readonly AnySourceSpec[] =
    options.from === undefined ? known.sources : [{ kind: 'directory', path: options.from }];
  const failures: string[] = [];
  for (const spec of specs) {
    try {
      return { entry: await pullFrom(spec, known, directory, options), directory };
    } catch (error) {
      if (options.signal?.aborted || isErrataError(error, 'ABORTED')) throw aborted(name, error);
      const reason = reasonOf(error);
      failures.push(`${describeSource(spec)}: ${reason}`);
      options.onFailure?.(describeSource(spec), reason);
    }
  }
  throw unavailable(known, failures, options);
}

async function pullFrom(
  spec: AnySourceSpec,
  known: KnownModel,
  directory: string,
  options: PullOptions,
): Promise<ModelEntry> {
  const { cacheDir, signal, onProgress, offline = false } = options;
  const scratch = join(cacheDir, `${SCRATCH}${randomUUID()}`);
  await mkdir(scratch);
  try {
    const files: KnownFile[] = [];
    for (const file of known.files)
      if (
        options.from !== undefined ||
        !(file.sha256 && (await takeBlob(cacheDir, file.sha256, join(scratch, file.path))))
      )
        files.push(file);
    // The table gives each kind its own source; the compiler cannot see that the pair fits.
    const source = options.sources[spec.kind] as ModelSource<AnySourceSpec>;
    const request: FetchRequest<AnySourceSpec> = {
      entry: known,
      files,
      spec,
      directory: scratch,
      partialDir: join(cacheDir, PARTIAL),
      offline,
      signal,
      onProgress,
    };
    if (files.length > 0) await source(request);
    const entry = pinnedModel(known, {}) ?? (await pinOpen(known, scratch));
    await verifyModel(scratch, entry);
    for (const file of entry.files) await keepBlob(cacheDir, file.sha256, join(scratch, file.path));
    const record = { ...entry, source: describeSource(spec), pulledAt: new Date().toISOString() };
    await writeFile(join(scratch, RECORD_FILE), `${JSON.stringify(record, undefined, 2)}\n`);
    await syncFiles(scratch, [...entry.files.map((file) => file.path), RECORD_FILE]);
    await install(scratch, directory, entry);
    await keepPins(cacheDir, entry, known, record.source);
    return entry;
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** What the manifest leaves open is taken from what came. Errors: `MODEL_NOT_INSTALLED` where a file did not come. */
async function pinOpen(known: KnownModel, directory: string): Promise<ModelEntry> {
  const open = known.files.filter(({ sizeBytes, sha256 }) => sizeBytes === undefined || sha256 === undefined);
  const entry = pinnedModel(
    known,
    await pinsOf(
      directory,
      open.map(({ path }) => path),
    ),
  );
  if (entry === undefined)
    throw new ErrataError('INTERNAL', `Expected digests of every file of ${known.name}, received fewer`);
  return entry;
}

async function syncFiles(directory: string, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const handle = await open(join(directory, path), 'r+');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }
}

/** Puts the complete scratch directory in place; a concurrent pull that came first is left alone. */
async function install(scratch: string, directory: string, entry: ModelEntry): Promise<void> {
  try {
    await rename(scratch, directory);
  } catch (error) {
    if (await isIntact(directory, entry)) return;
    const aside = join(dirname(directory), `${SCRATCH}damaged-${randomUUID()}`);
    try {
      await rename(directory, aside);
    } catch (cause) {
      throw new ErrataError(
        'MODEL_UNAVAILABLE',
        `Expected a writable directory for ${directory}, received: ${reasonOf(error)}`,
        { cause },
      );
    }
    await rename(scratch, directory);
    await rm(aside, { recursive: true, force: true });
  }
}

async function sweepScratch(cacheDir: string): Promise<void> {
  for (const name of await readdir(cacheDir)) {
    if (!name.startsWith(SCRATCH)) continue;
    const path = join(cacheDir, name);
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > STALE_SCRATCH_MS)
      await rm(path, { recursive: true, force: true });
  }
}

/** The message with its causes: `fetch failed` alone says nothing. */
function reasonOf(error: unknown): string {
  const parts: string[] = [];
  for (let at: unknown = error; at instanceof Error && parts.length < 4; at = at.cause) {
    if (at.message !== '' && !parts.includes(at.message)) parts.push(at.message);
  }
  return parts.length === 0 ? String(error) : parts.join(': ');
}

function aborted(name: string, cause: unknown): ErrataError {
  return new ErrataError('ABORTED', `Expected the pull of ${name} to finish, received an abort signal`, {
    cause,
  });
}

function unavailable(entry: KnownModel, failures: readonly string[], options: PullOptions): ErrataError {
  const files = entry.files.map((file) => file.path).join(' and ');
  const advice =
    options.from === undefined
      ? `Allow access to one of these, or put ${files} into a directory and run: errata models pull ${entry.name} --from DIRECTORY`
      : `Expected there ${files}, or a source's own names for them, with the digests of models.json`;
  const tried = failures.map((failure, at) => `  ${at + 1}. ${failure}`).join('\n');
  return new ErrataError(
    'MODEL_UNAVAILABLE',
    `Expected model ${entry.name} from one of its sources, received none:\n${tried}\n${advice}`,
    {
      details: { model: entry.name, tried: failures.length },
    },
  );
}
