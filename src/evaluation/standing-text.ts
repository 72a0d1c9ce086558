import { createHash } from 'node:crypto';
import { ErrataError } from '../domain/errors.js';
import type { ReplaceOptions } from '../ports/evaluations.js';

/** First 16 hex digits of the SHA-256: which version of a set a figure belongs to. */
export function textDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}

/** Errors: `VERSION_CONFLICT` where another text stands than the writer has seen. */
export function checkStanding(standing: string | undefined, { ifDigest }: ReplaceOptions): void {
  if (ifDigest === undefined) return;
  const digest = standing === undefined ? null : textDigest(standing);
  if (digest === ifDigest) return;
  throw new ErrataError(
    'VERSION_CONFLICT',
    `Expected ${ifDigest ?? 'no version'} to stand for ifDigest, received ${digest ?? 'none'}`,
    { details: { field: 'ifDigest' } },
  );
}
