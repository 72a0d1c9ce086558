import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** A download that nothing was written to for so long has lost its process: stalls end after 30 s. */
const ABANDONED_MS = 120_000;
/** Nobody comes back for older ones. */
const FORGOTTEN_MS = 7 * 24 * 3_600_000;

/**
 * What a broken download has brought. Claimed by renaming, so that two pulls never write to one file: the second starts from
 * nothing, and the longer one is kept.
 */
export class PartialFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly #rest: string;

  private constructor(path: string, sizeBytes: number, rest: string) {
    this.path = path;
    this.sizeBytes = sizeBytes;
    this.#rest = rest;
  }

  /** `key` names the bytes for good: an address with a pinned revision. */
  static async claim(directory: string, key: string): Promise<PartialFile> {
    await mkdir(directory, { recursive: true });
    const name = createHash('sha256').update(key).digest('hex').slice(0, 32);
    const rest = join(directory, `${name}.part`);
    const path = join(directory, `${name}.${randomUUID()}`);
    for (const candidate of await readdir(directory)) {
      const from = join(directory, candidate);
      const found = await stat(from).catch(() => undefined);
      if (found === undefined) continue;
      const age = Date.now() - found.mtimeMs;
      if (age > FORGOTTEN_MS) await rm(from, { force: true });
      else if (candidate.startsWith(`${name}.`) && (from === rest || age > ABANDONED_MS)) {
        const taken = await rename(from, path).then(
          () => true,
          () => false,
        );
        if (taken) return new PartialFile(path, found.size, rest);
      }
    }
    return new PartialFile(path, 0, rest);
  }

  /** Leaves what there is for the next attempt. */
  async release(): Promise<void> {
    const mine = await stat(this.path).catch(() => undefined);
    if (mine === undefined) return;
    const other = await stat(this.#rest).catch(() => undefined);
    if (other !== undefined && other.size > mine.size) await rm(this.path, { force: true });
    else await rename(this.path, this.#rest);
  }

  async discard(): Promise<void> {
    await rm(this.path, { force: true });
  }
}
