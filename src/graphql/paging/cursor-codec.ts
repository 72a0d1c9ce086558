import { createHmac, timingSafeEqual } from 'node:crypto';
import { ErrataError } from '../../domain/errors.js';
import type { Keyset } from '../../ports/note-store.js';

/** 128 bits: forging one cursor takes 2^127 attempts on average, and a cursor stays short. */
const MAC_BYTES = 16;
/** A keyset holds an instant, a rank and an id; 4 KiB is far above it, and refusing early keeps hashing cheap. */
const MAX_CURSOR_LENGTH = 4_096;

/**
 * Turns keysets into opaque cursors and back. A cursor is `base64url(mac ‖ json(keyset))`, the MAC being HMAC-SHA-256 over
 * the binding (which list, which order, which filter) and the keyset; so a cursor that was changed, or that comes from
 * another list, is `INVALID_CURSOR` and never reaches a store.
 */
export interface CursorCodec {
  encode(binding: string, keyset: Keyset): string;
  /** Errors: `INVALID_CURSOR`. */
  decode(binding: string, cursor: string): Keyset;
}

export function createCursorCodec(secret: string): CursorCodec {
  const macOf = (binding: string, payload: Buffer): Buffer =>
    createHmac('sha256', secret)
      .update(`${Buffer.byteLength(binding)}:${binding}`)
      .update(payload)
      .digest()
      .subarray(0, MAC_BYTES);
  return {
    encode: (binding, keyset) => {
      const payload = Buffer.from(JSON.stringify(keyset));
      return Buffer.concat([macOf(binding, payload), payload]).toString('base64url');
    },
    decode: (binding, cursor) => {
      const bytes = cursor.length <= MAX_CURSOR_LENGTH ? Buffer.from(cursor, 'base64url') : Buffer.alloc(0);
      const payload = bytes.subarray(MAC_BYTES);
      // Decoding ignores stray characters, so a cursor counts only where encoding gives the same text back.
      const genuine =
        payload.length > 0 &&
        bytes.toString('base64url') === cursor &&
        timingSafeEqual(bytes.subarray(0, MAC_BYTES), macOf(binding, payload));
      if (!genuine) {
        throw new ErrataError(
          'INVALID_CURSOR',
          'Expected a cursor of this list, with the same order and filter, received another text',
        );
      }
      return JSON.parse(payload.toString()) as Keyset;
    },
  };
}

/** Text that names a list: equal for equal filters whatever the order of their keys. */
export function cursorBinding(list: string, parts: Readonly<Record<string, unknown>>): string {
  return `${list}\n${JSON.stringify(parts, (_key, value: unknown) =>
    value !== null && typeof value === 'object' && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  )}`;
}
