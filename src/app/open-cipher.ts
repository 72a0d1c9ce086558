import { createAesGcmCipher } from '../adapters/crypto/aes-gcm-cipher.js';
import { commandKeys, environmentKeys, fileKeys, type KeySource } from '../adapters/crypto/key-sources.js';
import type { Config } from '../config/config.js';
import { ErrataError } from '../domain/errors.js';
import type { Cipher } from '../ports/cipher.js';
import { type Logger, silentLogger } from '../ports/logger.js';

/** What seals notes, where a key is set; keys that cannot be read again later are logged, once a reason. Errors: `INVALID_CONFIG` for keys that cannot be read, or from two places. */
export function openCipher(
  { keyFile, keys, keyCommand }: Config,
  logger: Logger = silentLogger,
): Cipher | undefined {
  const sources: KeySource[] = [
    ...(keyFile === undefined ? [] : [fileKeys(keyFile)]),
    ...(keys === undefined ? [] : [environmentKeys(keys, 'ERRATA_KEYS')]),
    ...(keyCommand === undefined ? [] : [commandKeys(keyCommand)]),
  ];
  if (sources.length > 1) {
    throw new ErrataError(
      'INVALID_CONFIG',
      'Expected one of ERRATA_KEY_FILE, ERRATA_KEYS and ERRATA_KEY_COMMAND, received more',
    );
  }
  const [source] = sources;
  if (source === undefined) return undefined;
  const onProblem = (error: unknown): void =>
    logger.error({ error }, 'changed keys could not be read; those of before are in use');
  return createAesGcmCipher(source, { onProblem });
}
