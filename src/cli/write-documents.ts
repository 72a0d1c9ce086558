import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Writes text files, by name, into a folder that is made where it is missing. */
export async function writeDocuments(
  folder: string,
  documents: Readonly<Record<string, string>>,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(documents)) await writeFile(path.join(folder, name), text);
}
