import { ErrataError } from '../domain/errors.js';
import type { SettingStore } from './note-store.js';

/** Each lost attempt means that another writer won, so that a few writers need a few. */
const ATTEMPTS = 64;

/**
 * Reads a setting, changes it and writes it back, over again where another process wrote meanwhile, so that neither change is lost.
 * `change` may be called several times. Resolves with what was written. Errors: `VERSION_CONFLICT` after 64 lost attempts.
 */
export async function changeSetting(
  settings: Pick<SettingStore, 'get' | 'replace'>,
  name: string,
  change: (json: string | undefined) => string,
): Promise<string> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const before = await settings.get(name);
    const after = change(before);
    if (await settings.replace(name, before, after)) return after;
  }
  throw new ErrataError(
    'VERSION_CONFLICT',
    'Expected a setting that others leave alone for a moment, received one that changed every time',
  );
}
