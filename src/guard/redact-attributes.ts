import type { Attributes } from '../domain/note.js';
import type { Redactor } from './redact-secrets.js';

/**
 * Attributes without secrets. Key and value are looked at together (`password: hunter2!Xy9` is a secret that neither is
 * alone), then each by itself: a token can stand in a key, too.
 */
export function redactAttributes(attributes: Attributes, redactor: Redactor): Attributes {
  return Object.fromEntries(
    Object.entries(attributes).map(([given, value]) => {
      const key = redactor.redact(given, 'attributes');
      const prefix = `${key}=`;
      const together = redactor.redact(`${prefix}${value}`, `attributes.${key}`);
      // Where a secret began inside the key the prefix is gone; then the value's own form has to do.
      const clean = together.startsWith(prefix)
        ? together.slice(prefix.length)
        : redactor.redact(value, `attributes.${key}`);
      return [key, clean];
    }),
  );
}
