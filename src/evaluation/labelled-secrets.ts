import { z } from 'zod';
import { ErrataError } from '../domain/errors.js';
import type { SecretSpan } from '../guard/secret-rules.js';
import { type LabelledSet, labelledFields, parseLabelledSet } from './labelled-set.js';
import { madeUpSecret } from './made-up-secrets.js';

const textSchema = z.strictObject({ ...labelledFields, text: z.string().min(1) });

/** A text with the spans that must go. */
export interface LabelledSecrets extends z.infer<typeof textSchema> {
  readonly spans: readonly SecretSpan[];
}

/**
 * `⟦kind⟧` or `⟦kind:variant⟧` stands for a made-up secret of that kind, so that no file of the project holds what a scanner
 * would take for a leak; for kinds without a form of their own, the variant is the secret.
 */
const MARKER = /⟦(?<kind>[a-z0-9-]+)(?::(?<variant>[^⟧]+))?⟧/gu;

/** Reads a labelled set and puts made-up secrets in, the same ones every time. Errors: `INVALID_FILE`. */
export function parseLabelledSecrets(jsonl: string, name: string): LabelledSet<LabelledSecrets> {
  const { entries, digest } = parseLabelledSet(jsonl, name, textSchema);
  return { digest, entries: entries.map((entry) => ({ ...entry, ...fill(entry.text, entry.id) })) };
}

function fill(template: string, id: string): { text: string; spans: readonly SecretSpan[] } {
  let text = '';
  let from = 0;
  const spans: SecretSpan[] = [];
  for (const match of template.matchAll(MARKER)) {
    const { kind = '', variant } = match.groups ?? {};
    const secret = madeUpSecret(kind, variant, `${id} ${spans.length}`);
    if (secret === undefined) {
      throw new ErrataError('INVALID_FILE', `Expected a known kind of secret in ${id}, received ${kind}`);
    }
    text += template.slice(from, match.index);
    spans.push({ start: text.length, end: text.length + secret.length, kind });
    text += secret;
    from = match.index + match[0].length;
  }
  return { text: text + template.slice(from), spans };
}
