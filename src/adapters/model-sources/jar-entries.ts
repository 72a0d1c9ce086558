import { createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import yauzl from 'yauzl';
import { ErrataError } from '../../domain/errors.js';

export interface JarEntryTarget {
  readonly entryName: string;
  readonly target: string;
  /** An entry that says it is larger is refused before a byte is unpacked. */
  readonly maxSizeBytes: number;
}

/**
 * Unpacks the named entries of a jar (a zip), and nothing else.
 *
 * Errors: `MODEL_UNAVAILABLE` for a missing entry or an unreadable jar, `DIGEST_MISMATCH` for one that is too large.
 */
export async function extractJarEntries(jar: string, wanted: readonly JarEntryTarget[]): Promise<void> {
  const missing = new Map(wanted.map((entry) => [entry.entryName, entry]));
  try {
    const zip = await yauzl.openPromise(jar);
    try {
      for await (const entry of zip.eachEntry()) {
        const found = missing.get(entry.fileName);
        if (found === undefined) continue;
        if (entry.uncompressedSize > found.maxSizeBytes)
          throw new ErrataError(
            'DIGEST_MISMATCH',
            `Expected at most ${found.maxSizeBytes} bytes for ${entry.fileName}, received ${entry.uncompressedSize}`,
          );
        missing.delete(entry.fileName);
        await mkdir(dirname(found.target), { recursive: true });
        await pipeline(await zip.openReadStreamPromise(entry), createWriteStream(found.target));
      }
    } finally {
      zip.close();
    }
  } catch (cause) {
    if (cause instanceof ErrataError) throw cause;
    throw new ErrataError('MODEL_UNAVAILABLE', `Expected a readable jar for ${jar}, received an error`, {
      cause,
    });
  }
  if (missing.size > 0)
    throw new ErrataError(
      'MODEL_UNAVAILABLE',
      `Expected ${[...missing.keys()].join(', ')} in ${jar}, received no such entry`,
    );
}
