// What a set-up step was made from when it last succeeded, so that it can be left out when nothing changed.
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
const stampFolder = path.join(root, 'build', 'stamps');

/** Files of a folder, or the file itself, with their stats; nothing where there is none. */
export async function filesUnder(name) {
  const place = path.join(root, name);
  const found = await stat(place).catch(() => undefined);
  if (found === undefined) return [];
  if (found.isFile()) return [[place, found]];
  const entries = await readdir(place, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(
    files.map(async (entry) => {
      const file = path.join(entry.parentPath ?? entry.path, entry.name);
      return [file, await stat(file)];
    }),
  );
}

/** Hash over names, sizes and times: enough to notice a change, and 500 files take about 20 ms. */
export async function listingHash(names, extra = '') {
  const lists = await Promise.all(names.map(filesUnder));
  const lines = lists
    .flat()
    .map(([file, { size, mtimeMs }]) => `${path.relative(root, file)}\0${size}\0${mtimeMs}`);
  return createHash('sha256').update(lines.sort().join('\n')).update(extra).digest('hex');
}

/** What was noted when a step last succeeded. */
export async function stampOf(name) {
  return readFile(path.join(stampFolder, name), 'utf8').catch(() => '');
}

export async function writeStamp(name, value) {
  await mkdir(stampFolder, { recursive: true });
  await writeFile(path.join(stampFolder, name), value);
}
