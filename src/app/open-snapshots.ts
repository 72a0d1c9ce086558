import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { NativeVectorIndex } from '../adapters/native/native-vector-index.js';
import { SnapshotFiles } from '../adapters/native/snapshot-files.js';
import type { Config } from '../config/config.js';
import type { Cipher } from '../ports/cipher.js';
import type { IndexSnapshots } from '../ports/index-snapshots.js';
import { openCipher } from './open-cipher.js';

/** The file name of the vector index's snapshot under `dataDir`, whichever the store. */
const SNAPSHOT_FILE = 'vectors.snapshot';
const SEALED_FILE = 'vectors.sealed';

/**
 * Where the vector index is kept between starts. Sealed where the store is encrypted; a plain one from before the key came is
 * removed.
 */
export function openSnapshots(
  config: Config,
  index: NativeVectorIndex,
  modelId: string,
  cipher: Cipher | undefined = openCipher(config),
): IndexSnapshots | undefined {
  const plain = join(config.dataDir, SNAPSHOT_FILE);
  if (cipher !== undefined) rmSync(plain, { force: true });
  const path = cipher === undefined ? plain : join(config.dataDir, SEALED_FILE);
  return config.snapshots ? new SnapshotFiles({ index, path, modelId, cipher }) : undefined;
}
