import { ErrataError } from '../../domain/errors.js';

/** Keys by id, the one that seals first. */
export type KeyRing = ReadonlyMap<string, Uint8Array>;

export const KEY_BYTES = 32;
const KEY_ID = /^[A-Za-z0-9._-]{1,32}$/;

/**
 * Reads `ID BASE64` pairs, one a line (or between commas): 32 bytes each, as `openssl rand -base64 32` makes them. The first
 * key seals, all of them open. Empty lines and lines that begin with `#` mean nothing.
 *
 * Errors: `INVALID_CONFIG`, naming `source` and the line, never a key.
 */
export function parseKeyRing(text: string, source: string): KeyRing {
  const ring = new Map<string, Uint8Array>();
  const lines = text.split(/[\r\n,]+/u).map((line) => line.trim());
  lines.forEach((line, index) => {
    if (line === '' || line.startsWith('#')) return;
    const [id = '', encoded = '', ...more] = line.split(/[\s:]+/u);
    const key = /^[A-Za-z0-9+/_-]+={0,2}$/u.test(encoded) ? Buffer.from(encoded, 'base64') : Buffer.alloc(0);
    if (!KEY_ID.test(id) || key.length !== KEY_BYTES || more.length > 0) {
      throw invalid(`an id and 32 bytes in base64 on line ${index + 1} of ${source}, received another form`);
    }
    if (ring.has(id)) throw invalid(`every key id once in ${source}, received ${id} twice`);
    ring.set(id, key);
  });
  if (ring.size === 0) throw invalid(`at least one key in ${source}, received none`);
  return ring;
}

function invalid(rest: string): ErrataError {
  return new ErrataError('INVALID_CONFIG', `Expected ${rest}`);
}
