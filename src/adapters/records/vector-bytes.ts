import { endianness } from 'node:os';

const swapped = endianness() === 'BE';

/** `[dimensions]` float32 as little-endian bytes on every machine, `dimensions * 4` of them, copied. */
export function vectorToBytes(vector: Float32Array): Buffer {
  const bytes = Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
  const copy = Buffer.from(bytes);
  return swapped ? copy.swap32() : copy;
}

/** The inverse of `vectorToBytes`, copied and aligned; undefined where the bytes cannot be a vector. */
export function vectorFromBytes(bytes: Uint8Array): Float32Array | undefined {
  if (bytes.byteLength === 0 || bytes.byteLength % Float32Array.BYTES_PER_ELEMENT !== 0) return undefined;
  const copy = Buffer.alloc(bytes.byteLength);
  copy.set(bytes);
  if (swapped) copy.swap32();
  // A pooled buffer may start at an odd offset, where a Float32Array cannot: slice() gives memory of its own.
  const own = copy.buffer.slice(copy.byteOffset, copy.byteOffset + copy.byteLength);
  const vector = new Float32Array(own);
  return vector.every(Number.isFinite) ? vector : undefined;
}
