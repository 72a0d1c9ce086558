import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ErrataError } from '../../domain/errors.js';

interface PrebuildManifest {
  /** Node-API version that the addon asks for. */
  readonly napi: number;
  readonly sha256: string;
}

/**
 * The addon that `npm pack` carried for this platform; undefined where it carried none. Errors: `DIGEST_MISMATCH` where the
 * file is not the one that was packed, `TOOL_MISSING` where this Node is too old for it.
 */
export function prebuiltAddon(installation: string): string | undefined {
  const folder = path.join(installation, 'prebuilds', `${process.platform}-${process.arch}`);
  const file = path.join(folder, 'errata_native.node');
  if (!existsSync(file)) return undefined;
  const manifest = JSON.parse(readFileSync(path.join(folder, 'manifest.json'), 'utf8')) as PrebuildManifest;
  if (manifest.napi > Number(process.versions.napi)) {
    throw new ErrataError(
      'TOOL_MISSING',
      `Expected Node-API ${manifest.napi} or newer for the prebuilt addon, received ${process.versions.napi}`,
    );
  }
  const digest = createHash('sha256').update(readFileSync(file)).digest('hex');
  if (digest !== manifest.sha256) {
    throw new ErrataError(
      'DIGEST_MISMATCH',
      `Expected the prebuilt addon as it was packed (sha256 ${manifest.sha256}), received ${digest}. Install again, or build it: npm run build:addon`,
    );
  }
  return file;
}
