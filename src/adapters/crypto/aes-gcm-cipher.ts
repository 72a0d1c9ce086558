import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { ErrataError } from '../../domain/errors.js';
import type { Cipher } from '../../ports/cipher.js';
import type { KeyRing } from './key-ring.js';
import type { KeySource } from './key-sources.js';

const ALGORITHM = 'aes-256-gcm';
/** 96 random bits: NIST SP 800-38D allows 2^32 seals a key that way, far more than a store sees between rotations. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** How often the source is asked whether its keys changed. */
const CHECK_MS = 1_000;

/** A source that is slow (a command that hangs) may hold the process up for at most a tenth of the time. */
const PAUSES_PER_LOAD = 9;

export interface CipherOptions {
  readonly nowMs?: (() => number) | undefined;
  /** Told when keys that changed cannot be read, once a message; those at hand stay in use. */
  readonly onProblem?: ((error: unknown) => void) | undefined;
}

/**
 * AES-256-GCM under keys with ids: `nonce | tag | ciphertext`, with the context as additional data. Keys are looked up again
 * when their source has changed, and when a key id is met that is not at hand: another process may have got a new one first. A
 * source that fails then, such as a file that is half written, changes nothing.
 *
 * Errors: the source's, at the first look; `ENCRYPTION_KEY_MISSING`.
 */
export function createAesGcmCipher(
  source: KeySource,
  { nowMs = Date.now, onProblem }: CipherOptions = {},
): Cipher {
  let ring: KeyRing = source.load();
  let checkedMs = nowMs();
  let askAgainMs = Number.NEGATIVE_INFINITY;
  let complained = '';

  function reload(): void {
    try {
      ring = source.load();
      complained = '';
    } catch (error) {
      const reason = String(error);
      if (reason !== complained) onProblem?.(error);
      complained = reason;
    }
  }

  function current(): KeyRing {
    if (nowMs() - checkedMs < CHECK_MS) return ring;
    checkedMs = nowMs();
    if (source.changed()) reload();
    return ring;
  }

  function keyFor(keyId: string): Uint8Array {
    const held = current().get(keyId);
    if (held !== undefined) return held;
    if (nowMs() >= askAgainMs) {
      const beganMs = nowMs();
      reload();
      askAgainMs = nowMs() + CHECK_MS + PAUSES_PER_LOAD * (nowMs() - beganMs);
    }
    const found = ring.get(keyId);
    if (found === undefined) throw keyMissing([keyId]);
    return found;
  }

  const firstKey = (): readonly [string, Uint8Array] => {
    const [first] = current();
    if (first === undefined) throw new TypeError('Expected a ring with a key, received an empty one');
    return first;
  };

  return {
    keyId: () => firstKey()[0],
    seal(plain, context) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, firstKey()[1], nonce);
      cipher.setAAD(Buffer.from(context));
      const sealed = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
    },
    open(keyId, sealed, context) {
      const key = keyFor(keyId);
      if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
      const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES));
      decipher.setAAD(Buffer.from(context));
      decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
      } catch {
        // OpenSSL says no more than that tag and bytes do not belong together.
        return undefined;
      }
    },
  };
}

/** What is at hand does not open what is stored. */
export function keyMissing(keyIds: readonly string[]): ErrataError {
  return new ErrataError(
    'ENCRYPTION_KEY_MISSING',
    `Expected the encryption key ${keyIds.join(', ')} that notes are stored under, received none of that id: set ERRATA_KEY_FILE, ERRATA_KEYS or ERRATA_KEY_COMMAND`,
    { details: { keyIds: keyIds.join(' ') } },
  );
}
