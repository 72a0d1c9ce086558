import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { constants, gunzipSync } from 'node:zlib';
import { formsOf, type Planted } from './planted-secrets.js';

export interface FoundSecret {
  readonly place: string;
  readonly kind: string;
  readonly form: string;
}

const GZIP_START = Buffer.from([0x1f, 0x8b, 0x08]);

/** Every secret that stands in the bytes of a place in any form; compressed streams are unpacked and searched, too. */
export function findPlanted(
  places: readonly (readonly [place: string, bytes: Buffer])[],
  planted: readonly Planted[],
): readonly FoundSecret[] {
  const wanted = planted.flatMap(({ kind, secrets }) =>
    secrets.flatMap((secret) => [...formsOf(secret)].map(([form, bytes]) => ({ kind, form, bytes }))),
  );
  return places
    .flatMap(unpacked)
    .flatMap(([place, bytes]) =>
      wanted.filter((one) => bytes.includes(one.bytes)).map(({ kind, form }) => ({ place, kind, form })),
    );
}

/** All files below a folder, with their places in it. */
export function filesBelow(folder: string): readonly (readonly [place: string, bytes: Buffer])[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [relative(folder, path), readFileSync(path)] as const;
    });
}

function unpacked([place, bytes]: readonly [string, Buffer]): readonly (readonly [string, Buffer])[] {
  const streams: (readonly [string, Buffer])[] = [];
  for (let at = bytes.indexOf(GZIP_START); at >= 0; at = bytes.indexOf(GZIP_START, at + 1)) {
    try {
      // A stream that was cut off gives what there is of it.
      const plain = gunzipSync(bytes.subarray(at), { finishFlush: constants.Z_SYNC_FLUSH });
      streams.push([`${place}, unpacked at ${at}`, plain]);
    } catch {
      // Three bytes that look like one.
    }
  }
  return [[place, bytes], ...streams];
}
