import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { EXECUTION_PROVIDERS } from '../../domain/inference.js';
import { runtimeFilesOf } from '../../models/installed-models.js';
import type { ModelEntry } from '../../models/manifest-schema.js';
import { BATCH_KINDS } from '../../ports/model-runtime.js';
import { machineKey } from './machine-key.js';

const notesSchema = z.strictObject({
  /** What the sessions ran on when this was measured. */
  provider: z.enum(EXECUTION_PROVIDERS),
  /** Threads that were to be shared out. */
  threads: z.int().positive(),
  sessions: z.int().positive().optional(),
  threadsPerSession: z.int().positive().optional(),
  batches: z.enum(BATCH_KINDS).optional(),
});
/** What a start measured of a model on this machine, kept for the next ones. */
export type RuntimeNotes = z.infer<typeof notesSchema>;

function fileOf(folder: string, entry: ModelEntry): string {
  return join(folder, `${runtimeFilesOf(entry)}-${machineKey()}.notes.json`);
}

/** Undefined where there are none, they are damaged, or they were made for another number of threads. */
export async function readRuntimeNotes(
  folder: string | undefined,
  entry: ModelEntry,
  threads: number,
): Promise<RuntimeNotes | undefined> {
  if (folder === undefined) return undefined;
  try {
    const notes = notesSchema.parse(JSON.parse(await readFile(fileOf(folder, entry), 'utf8')));
    return notes.threads === threads ? notes : undefined;
  } catch {
    // They are measured anew.
    return undefined;
  }
}

/** Errors: those of the file system. */
export async function writeRuntimeNotes(
  folder: string,
  entry: ModelEntry,
  notes: RuntimeNotes,
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const file = fileOf(folder, entry);
  const beside = `${file}.${randomUUID()}.part`;
  await writeFile(beside, JSON.stringify(notes));
  await rename(beside, file);
}
