import type { RefusedSnapshot, RestoredSnapshot, SnapshotRefusal } from '../../ports/index-snapshots.js';
import { decodeDirectory, encodeDirectory } from './directory-codec.js';
import {
  errorCode,
  type NativeAddon,
  type NativePartition,
  type NativeSnapshotWanted,
} from './load-addon.js';
import type { NoteDirectory } from './note-directory.js';

/** A snapshot's place and whose vectors and notes it holds. */
export interface SnapshotFile {
  readonly path: string;
  readonly model: string;
  readonly store: string;
}

/** Runs as one of the index's writes, so that directory and partitions are of one moment. Resolves with the file's bytes. */
export function saveDirectory(
  addon: NativeAddon,
  directory: NoteDirectory,
  file: NativeSnapshotWanted,
  moment: { readonly revision: number; readonly last: boolean },
): Promise<number> {
  const partitions = Array.from(directory.allPartitions(), ({ native }) => native);
  const bytes = encodeDirectory(directory.image());
  return addon.saveSnapshot(
    { ...file, revision: moment.revision, createdMs: Date.now(), stopsBackground: moment.last },
    bytes,
    partitions,
  );
}

/** Fills an empty directory; one that is not empty, or a file that is not wanted, leaves it as it is. */
export async function restoreDirectory(
  addon: NativeAddon,
  directory: NoteDirectory,
  file: NativeSnapshotWanted,
  createPartition: () => NativePartition,
): Promise<RestoredSnapshot | RefusedSnapshot> {
  const opened = await addon.openSnapshot(file);
  const { handle, directory: bytes, revision = 0, createdMs = 0, keys = 0 } = opened;
  if (handle === undefined || bytes === undefined) return refused(opened.refusal, opened.detail);
  const image = decodeDirectory(bytes);
  if (image === undefined || image.partitions.length !== opened.partitions)
    return refused('CORRUPT', 'the directory does not fit');
  const natives = image.partitions.map(createPartition);
  try {
    await Promise.all(natives.map((native, number) => native.restore(handle, number)));
  } catch (error) {
    for (const native of natives) native.close();
    if (errorCode(error) !== 'CORRUPT_RECORD') throw error;
    return refused('CORRUPT', 'a partition does not fit');
  }
  const fits = natives.every((native, i) => native.stats().keys === image.partitions[i]?.notes);
  if (!fits || !directory.adopt(image, natives) || directory.count() !== keys) {
    directory.clear();
    for (const native of natives) native.close();
    return refused('CORRUPT', 'directory and partitions differ');
  }
  return { revision, notes: keys, sizeBytes: opened.bytes ?? 0, createdMs, verified: verifyAll(natives) };
}

/** Never rejects: a partition that is closed meanwhile has nothing left to verify. */
async function verifyAll(natives: readonly NativePartition[]): Promise<RefusedSnapshot | undefined> {
  const outcomes = await Promise.allSettled(natives.map(async (native) => native.verified()));
  const broken = outcomes.some(
    (outcome) => outcome.status === 'rejected' && errorCode(outcome.reason) === 'CORRUPT_RECORD',
  );
  return broken ? { refusal: 'CORRUPT', detail: 'found while it was in use' } : undefined;
}

function refused(refusal: string, detail: string): RefusedSnapshot {
  return { refusal: refusal as SnapshotRefusal, detail };
}
