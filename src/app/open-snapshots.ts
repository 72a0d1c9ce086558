import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { NativeVectorIndex } from '../adapters/native/native-vector-index.js';
import { SnapshotFiles } from '../adapters/native/snapshot-files.js';
import type { Config } from '../config/config.js';
import type { IndexSnapshots } from '../ports/index-snapshots.js';

/** The file name of the vector index's snapshot under `dataDir`, whichever the store. */
const SNAPSHOT_FILE = 'vectors.snapshot';

/**
 * Where the vector index is kept between starts. Not where the store is encrypted: a snapshot is mapped into memory as it lies
 * on disk, so that it would be the plain copy of every vector. One from before the key came is removed.
 */
export function openSnapshots(
  config: Pick<Config, 'dataDir' | 'snapshots' | 'keyFile' | 'keys' | 'keyCommand'>,
  index: NativeVectorIndex,
  modelId: string,
): IndexSnapshots | undefined {
  const path = join(config.dataDir, SNAPSHOT_FILE);
  if (config.keyFile !== undefined || config.keys !== undefined || config.keyCommand !== undefined) {
    rmSync(path, { force: true });
    return undefined;
  }
  return config.snapshots ? new SnapshotFiles({ index, path, modelId }) : undefined;
}
