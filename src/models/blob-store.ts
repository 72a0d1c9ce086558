import { randomUUID } from 'node:crypto';
import { copyFile, link, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileDigest } from './pins.js';

/** In the models' folder: every file that was pulled, once, named by its SHA-256; models hold hard links (copies, where there are none). */
const BLOBS = '.blobs';
function blobPath(cacheDir: string, sha256: string): string {
  return join(cacheDir, BLOBS, sha256);
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  await mkdir(dirname(to), { recursive: true });
  try {
    await link(from, to);
  } catch {
    // Another device, a file system without links, too many links: a copy beside, so that no half file has the name.
    const beside = `${to}.${randomUUID()}`;
    await copyFile(from, beside);
    await rename(beside, to);
  }
}

/** Puts the file with that digest at `target`; false where it is not held, or is damaged (it is thrown away then). */
export async function takeBlob(cacheDir: string, sha256: string, target: string): Promise<boolean> {
  const blob = blobPath(cacheDir, sha256);
  const found = await stat(blob).catch(() => undefined);
  if (found === undefined) return false;
  if ((await fileDigest(blob)) !== sha256) {
    await rm(blob, { force: true });
    return false;
  }
  await linkOrCopy(blob, target);
  return true;
}

/** Holds a file whose digest was checked. */
export async function keepBlob(cacheDir: string, sha256: string, file: string): Promise<void> {
  const blob = blobPath(cacheDir, sha256);
  if ((await stat(blob).catch(() => undefined)) === undefined) await linkOrCopy(file, blob);
}

/** Deletes blobs that no installed model's record names. */
export async function sweepBlobs(cacheDir: string, recordFile: string): Promise<void> {
  const blobs = await readdir(join(cacheDir, BLOBS)).catch((): string[] => []);
  if (blobs.length === 0) return;
  const used = new Set<string>();
  for (const name of await readdir(cacheDir)) {
    const record = await readFile(join(cacheDir, name, recordFile), 'utf8').catch(() => undefined);
    for (const [digest] of record?.matchAll(/[0-9a-f]{64}/g) ?? []) used.add(digest);
  }
  // Also right under a running pull: its scratch directory holds links of its own.
  for (const blob of blobs) if (!used.has(blob)) await rm(join(cacheDir, BLOBS, blob), { force: true });
}
