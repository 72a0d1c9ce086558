/**
 * Seals what is stored. `context` names where the bytes belong: bytes that were moved elsewhere do not open.
 *
 * Errors: `ENCRYPTION_KEY_MISSING` for a key id that is not at hand.
 */
export interface Cipher {
  /** Id of the key that seals now; it can change while the process runs. */
  keyId(): string;
  seal(plain: Uint8Array, context: string): Buffer;
  /** Undefined where the bytes were changed, moved, or sealed with another key of this id. */
  open(keyId: string, sealed: Uint8Array, context: string): Buffer | undefined;
}
