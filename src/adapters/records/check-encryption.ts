import { ErrataError } from '../../domain/errors.js';
import type { Cipher } from '../../ports/cipher.js';
import type { SettingStore, StoreSealing } from '../../ports/note-store.js';

const PREFIX = 'encryption-key:';
const KNOWN = Buffer.from('errata');

/**
 * Compares the keys at hand with those that the store was written under, before anything is read: a store without its key, or
 * with another key of the same id, is refused. Enters the key that seals from now on.
 *
 * Errors: `ENCRYPTION_KEY_MISSING`, `ENCRYPTION_KEY_WRONG`.
 */
export async function checkEncryption(settings: SettingStore, cipher: Cipher | undefined): Promise<void> {
  for (const [name, json] of await settings.list(PREFIX)) {
    verify(cipher, name.slice(PREFIX.length), json);
  }
  if (cipher !== undefined) await enterKey(settings, cipher);
}

/** Lets the store know the key that seals now. Of two processes that bring different keys of one id, the second is refused. */
async function enterKey(settings: SettingStore, cipher: Cipher): Promise<string> {
  const keyId = cipher.keyId();
  const made = JSON.stringify(cipher.seal(KNOWN, PREFIX + keyId).toString('base64'));
  verify(cipher, keyId, await settings.putIfAbsent(PREFIX + keyId, made));
  return keyId;
}

/** What the store port says about its keys. */
export function storeSealing(settings: SettingStore, cipher: Cipher | undefined): StoreSealing | undefined {
  if (cipher === undefined) return undefined;
  return {
    enterKey: () => enterKey(settings, cipher),
    forgetOthers: async () => forgetKeys(settings, await enterKey(settings, cipher)),
  };
}

async function forgetKeys(settings: SettingStore, kept: string): Promise<readonly string[]> {
  const known = [...(await settings.list(PREFIX)).keys()].map((name) => name.slice(PREFIX.length));
  const gone = known.filter((keyId) => keyId !== kept);
  for (const keyId of gone) await settings.remove(PREFIX + keyId);
  return gone;
}

function verify(cipher: Cipher | undefined, keyId: string, json: string): void {
  if (cipher === undefined) {
    throw new ErrataError(
      'ENCRYPTION_KEY_MISSING',
      `Expected the encryption key ${keyId} of this store, received none: set ERRATA_KEY_FILE, ERRATA_KEYS or ERRATA_KEY_COMMAND`,
      { details: { keyIds: keyId } },
    );
  }
  const sealed = Buffer.from(String(JSON.parse(json)), 'base64');
  if (cipher.open(keyId, sealed, PREFIX + keyId)?.equals(KNOWN)) return;
  throw new ErrataError(
    'ENCRYPTION_KEY_WRONG',
    `Expected the encryption key ${keyId} that this store was written with, received another one of that id`,
    { details: { keyIds: keyId } },
  );
}
