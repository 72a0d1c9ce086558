import { readFile } from 'node:fs/promises';
import { ErrataError } from '../../domain/errors.js';

const MAGIC = 'ERRATASV';
const VERSION = 1;
/** Magic, version, tokens, dimensions, each number a little-endian uint32; then scales, then rows. */
const HEADER_BYTES = 20;

/**
 * A token that stands n times in a text counts n^0.7, as n times n^(0.7 - 1): a long text is not about its most frequent word alone.
 * Chosen among 0.5, 0.7 and 1 on two collections that are no test data (models/starter/README.md).
 */
const REPEATS = 0.7;

/** `[tokens]`: what each token of a text counts in its sum. */
export function tokenWeights(ids: ArrayLike<number>): Float64Array {
  const counts = new Map<number, number>();
  for (let at = 0; at < ids.length; at += 1) counts.set(ids[at] ?? 0, (counts.get(ids[at] ?? 0) ?? 0) + 1);
  return Float64Array.from(
    { length: ids.length },
    (_, at) => (counts.get(ids[at] ?? 0) ?? 1) ** (REPEATS - 1),
  );
}

/** One vector a token id: row `id` is `scales[id] · rows[id · dimensions …]`. */
export interface StaticVectors {
  readonly tokens: number;
  readonly dimensions: number;
  /** `[tokens]`, finite, at least 0. */
  readonly scales: Float32Array;
  /** `[tokens, dimensions]` row-major. */
  readonly rows: Int8Array;
}

/** The bytes that `parseStaticVectors` reads; `models/starter/make.mjs` writes them. */
export function packStaticVectors({ tokens, dimensions, scales, rows }: StaticVectors): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(MAGIC, 'latin1');
  [VERSION, tokens, dimensions].forEach((value, at) => {
    header.writeUInt32LE(value, MAGIC.length + 4 * at);
  });
  const packedScales = Buffer.alloc(4 * tokens);
  scales.forEach((scale, at) => {
    packedScales.writeFloatLE(scale, 4 * at);
  });
  return Buffer.concat([header, packedScales, Buffer.from(rows.buffer, rows.byteOffset, rows.byteLength)]);
}

/** Errors: `MODEL_UNAVAILABLE` for anything but such bytes of exactly the right length. */
export function parseStaticVectors(bytes: Buffer): StaticVectors {
  if (bytes.length < HEADER_BYTES || bytes.toString('latin1', 0, MAGIC.length) !== MAGIC)
    throw refused('static token vectors', 'another file');
  const [version, tokens, dimensions] = [0, 1, 2].map((at) => bytes.readUInt32LE(MAGIC.length + 4 * at)) as [
    number,
    number,
    number,
  ];
  if (version !== VERSION) throw refused(`static token vectors of version ${VERSION}`, `version ${version}`);
  const rowsAt = HEADER_BYTES + 4 * tokens;
  const expected = rowsAt + tokens * dimensions;
  if (tokens === 0 || dimensions === 0 || bytes.length !== expected)
    throw refused(`${expected} bytes for ${tokens} static token vectors`, `${bytes.length}`);
  const scales = Float32Array.from({ length: tokens }, (_, at) => bytes.readFloatLE(HEADER_BYTES + 4 * at));
  if (!scales.every((scale) => Number.isFinite(scale) && scale >= 0))
    throw refused('finite scales of at least 0 for static token vectors', 'another one');
  return { tokens, dimensions, scales, rows: new Int8Array(bytes.subarray(rowsAt)) };
}

/** Errors: `MODEL_UNAVAILABLE`. */
export async function readStaticVectors(file: string): Promise<StaticVectors> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (cause) {
    throw new ErrataError(
      'MODEL_UNAVAILABLE',
      `Expected static token vectors in ${file}, received an error`,
      {
        cause,
      },
    );
  }
  return parseStaticVectors(bytes);
}

function refused(expected: string, received: string): ErrataError {
  return new ErrataError('MODEL_UNAVAILABLE', `Expected ${expected}, received ${received}`);
}
