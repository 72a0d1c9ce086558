import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { runtimeFilesOf } from '../../models/installed-models.js';
import { fileOfRole } from '../../models/manifest.js';
import type { ModelEntry } from '../../models/manifest-schema.js';
import { fileDigest } from '../../models/pins.js';
import { machineKey } from './machine-key.js';

/** Weights beside the graph, and files of more than protobuf's 2 GiB, are not saved as one file. */
const MAX_BYTES = 1024 ** 3;
/** What killed starts have left. */
const STALE_MS = 60 * 60_000;

const recordSchema = z.strictObject({ sizeBytes: z.int().positive(), sha256: z.string() });

/**
 * A model's graph as ONNX Runtime optimised it, kept for the next start: `{folder}/{weights}-{machine}.onnx` with its digest beside
 * it. The name holds the weights' digest, and the machine's and the runtime's kind, since optimised graphs fit one of each.
 */
export class OptimisedGraph {
  readonly #folder: string;
  readonly #weights: string;
  readonly #file: string;
  readonly #record: string;

  private constructor(folder: string, weights: string) {
    this.#folder = folder;
    this.#weights = weights;
    this.#file = join(folder, `${weights}-${machineKey()}.onnx`);
    this.#record = `${this.#file}.json`;
  }

  /** Undefined for models that cannot be kept as one file. */
  static of(folder: string, entry: ModelEntry): OptimisedGraph | undefined {
    const { sizeBytes } = fileOfRole(entry, 'weights');
    if (sizeBytes > MAX_BYTES || entry.files.some(({ role }) => role === 'weights-data')) return undefined;
    return new OptimisedGraph(folder, runtimeFilesOf(entry));
  }

  /** The kept file, its digest checked (12 ms for 23 MB); undefined where there is none or it was damaged. */
  async find(): Promise<string | undefined> {
    try {
      const { sizeBytes, sha256 } = recordSchema.parse(JSON.parse(await readFile(this.#record, 'utf8')));
      if ((await stat(this.#file)).size === sizeBytes && (await fileDigest(this.#file)) === sha256)
        return this.#file;
    } catch {
      // None yet, or a damaged record: made anew either way.
    }
    return undefined;
  }

  /** Where a session may write it. */
  async target(): Promise<string> {
    await mkdir(this.#folder, { recursive: true });
    return join(this.#folder, `${this.#weights}.${randomUUID()}.part`);
  }

  /** Keeps what was written at `target`, in place of whatever older runtimes or machines have left. */
  async keep(target: string): Promise<void> {
    const record = { sizeBytes: (await stat(target)).size, sha256: await fileDigest(target) };
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name);
      const stale =
        name.endsWith('.part') && path !== target && Date.now() - (await stat(path)).mtimeMs > STALE_MS;
      if (stale || name.startsWith(`${this.#weights}-`)) await rm(path, { force: true });
    }
    await rename(target, this.#file);
    await writeFile(target, JSON.stringify(record));
    await rename(target, this.#record);
  }

  /** Forgets what is kept. */
  async drop(): Promise<void> {
    await rm(this.#record, { force: true });
    await rm(this.#file, { force: true });
  }
}
