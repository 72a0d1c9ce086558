import { checkReason } from '../domain/validate-correction.js';
import { redactSecrets } from '../guard/redact-secrets.js';

/** A required explanation, cleaned and free of secrets: audit events cannot be taken back. Errors: as `checkText`. */
export function cleanReason(value: unknown): string {
  return redactSecrets(checkReason(value, 'reason')).text;
}

/** The same for an optional comment; an empty one counts as none. */
export function cleanComment(value: unknown): string | undefined {
  return value === undefined || value === null || value === ''
    ? undefined
    : redactSecrets(checkReason(value, 'comment')).text;
}
