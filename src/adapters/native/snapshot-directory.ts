import type { RefusedSnapshot, RestoredSnapshot, SnapshotRefusal } from '../../ports/index-snapshots.js';
import { decodeDirectory, encodeDirectory } from './directory-codec.js';
import {
  errorCode,
  type NativeAddon,
  type NativePartition,
  type NativeSnapshotContent,
  type NativeSnapshotMemory,
  type NativeSnapshotPins,
  type NativeSnapshotWanted,
} from './load-addon.js';
import type { NoteDirectory } from './note-directory.js';

/** Whose vectors and notes a snapshot holds. */
export interface SnapshotOwner {
  readonly model: string;
  readonly store: string;
}
/** And where it is, as `NativeAddon.openSnapshot` takes it. */
export type SnapshotSource = SnapshotOwner &
  ({ readonly path: string } | Pick<NativeSnapshotMemory, 'memory'>);
/** Up to where; `last`: nothing may keep it from being written. */
export interface SnapshotMoment {
  readonly revision: number;
  readonly last: boolean;
}

/** Directory and partitions as of one moment. */
export interface PinnedDirectory {
  readonly image: ReturnType<NoteDirectory['image']>;
  readonly pins: NativeSnapshotPins;
  readonly createdMs: number;
}

/** Runs as one of the index's writes, so that directory and partitions are of one moment. Errors: `QUEUE_FULL` as `pinSnapshot`. */
export async function pinDirectory(
  addon: NativeAddon,
  directory: NoteDirectory,
  { last }: SnapshotMoment,
): Promise<PinnedDirectory> {
  const partitions = Array.from(directory.allPartitions(), ({ native }) => native);
  const pins = await addon.pinSnapshot(partitions, last);
  return { image: directory.image(), pins, createdMs: Date.now() };
}

/** Writes what was pinned, beside writes. Resolves with the size of the file at `path`, or without one with the bytes. */
export function savePinned<Path extends string | undefined>(
  addon: NativeAddon,
  pinned: PinnedDirectory,
  content: NativeSnapshotContent & Pick<SnapshotMoment, 'revision'>,
  path: Path,
): Promise<Path extends string ? number : ArrayBuffer>;
export async function savePinned(
  addon: NativeAddon,
  { image, pins, createdMs }: PinnedDirectory,
  content: NativeSnapshotContent & Pick<SnapshotMoment, 'revision'>,
  path: string | undefined,
): Promise<number | ArrayBuffer> {
  try {
    const { memory } = await encodeDirectory(image, (bytes) => addon.allocateSnapshot(bytes));
    const options = { ...content, createdMs };
    return await (path === undefined
      ? addon.saveSnapshot(options, memory, pins)
      : addon.saveSnapshot({ ...options, path }, memory, pins));
  } catch (error) {
    // Until the collector came by no other save could begin.
    await addon.unpinSnapshot(pins).catch(() => undefined); // What went wrong first is what counts.
    throw error;
  } finally {
    image.release();
  }
}

/** Fills an empty directory; one that is not empty, or a snapshot that is not wanted, leaves it as it is. */
export async function restoreDirectory(
  addon: NativeAddon,
  directory: NoteDirectory,
  wanted: NativeSnapshotWanted,
  createPartition: () => NativePartition,
): Promise<RestoredSnapshot | RefusedSnapshot> {
  const opened = await addon.openSnapshot(wanted);
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
