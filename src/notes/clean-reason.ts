import { checkReason } from '../domain/validate-correction.js';
import type { PersonalDataOptions } from '../guard/personal-data.js';
import { redactSecrets } from '../guard/redact-secrets.js';

/** A required explanation, cleaned and free of secrets: audit events cannot be taken back. Errors: as `checkText`. */
export function cleanReason(value: unknown, { phones }: PersonalDataOptions): string {
  return redactSecrets(checkReason(value, 'reason'), { phones }).text;
}

/** The same for an optional comment; an empty one counts as none. */
export function cleanComment(value: unknown, { phones }: PersonalDataOptions): string | undefined {
  return value === undefined || value === null || value === ''
    ? undefined
    : redactSecrets(checkReason(value, 'comment'), { phones }).text;
}
