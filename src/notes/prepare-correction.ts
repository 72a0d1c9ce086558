import type { Caller } from '../domain/api-key.js';
import { canonicalBlock, canonicalLine } from '../domain/canonical.js';
import { noteId } from '../domain/content-hash.js';
import { ErrataError } from '../domain/errors.js';
import type { Finding, Instant, NoteId, NoteSource } from '../domain/note.js';
import { type ValidCorrection, validateCorrection } from '../domain/validate-correction.js';
import type { OrderClassifier } from '../guard/order-classifier.js';
import type { PersonalDataOptions } from '../guard/personal-data.js';
import { redactAttributes } from '../guard/redact-attributes.js';
import { createRedactor, type Redactor, redactSecrets } from '../guard/redact-secrets.js';
import { screenInjection } from '../guard/screen-injection.js';
import { cleanAnchor } from './report-anchor.js';
import { findSeveralLessons } from './several-lessons.js';
import { defaultSource } from './sources.js';

/** A correction that has passed validation, redaction and screening: nothing in it is secret or unclean. */
export interface PreparedCorrection
  extends Pick<
    ValidCorrection,
    | 'namespace'
    | 'taskType'
    | 'wrongAnswer'
    | 'correction'
    | 'lesson'
    | 'attributes'
    | 'impact'
    | 'createdAt'
    | 'expiresAt'
    | 'reviewAfter'
    | 'anchors'
  > {
  readonly id: NoteId;
  readonly source: NoteSource;
  readonly quarantined: boolean;
  readonly findings: readonly Finding[];
}

export interface PrepareContext {
  readonly now: Instant;
  readonly classifier?: OrderClassifier | undefined;
  /** Whether phone numbers are redacted too. */
  readonly phones?: boolean | undefined;
}

/**
 * Everything that happens to a correction before the store is asked. The order is fixed: cleaning first, so that no
 * invisible character shields a secret; redaction before the hash, so that an id never depends on a secret; screening on
 * the raw text for what cleaning removed and on the clean text for the rest. Pure; linear in the texts' lengths.
 *
 * Errors: `INVALID_INPUT`, `INVALID_TEXT`, `INPUT_TOO_LARGE`.
 */
export function prepareCorrection(
  { now, classifier, phones }: PrepareContext,
  caller: Caller,
  input: unknown,
): PreparedCorrection {
  const valid = validateCorrection(input, now);
  const redactor = createRedactor({ phones });
  const wrongAnswer = canonicalBlock(redactor.redact(valid.wrongAnswer, 'wrongAnswer'));
  const correction = canonicalBlock(redactor.redact(valid.correction, 'correction'));
  const lessonBlock = redactor.redact(valid.lesson, 'lesson');
  const lesson = canonicalLine(lessonBlock);
  const attributes = redactAttributes(valid.attributes, redactor);
  const source = valid.source === undefined ? defaultSource(caller) : redactSource(valid.source, redactor);
  const screen = screenInjection(
    [
      { name: 'wrongAnswer', raw: valid.raw.wrongAnswer, text: wrongAnswer },
      { name: 'correction', raw: valid.raw.correction, text: correction },
      { name: 'lesson', raw: valid.raw.lesson, text: lessonBlock },
      ...Object.entries(attributes).map(([key, value]) => ({ name: `attributes.${key}`, raw: value })),
    ],
    classifier,
  );
  const { namespace, taskType, impact, createdAt, expiresAt, reviewAfter } = valid;
  refuseSecretNames({ namespace, taskType }, { phones });
  return {
    id: noteId({ namespace, taskType, wrongAnswer, correction, lesson }),
    namespace,
    taskType,
    wrongAnswer,
    correction,
    lesson,
    attributes,
    impact,
    createdAt,
    expiresAt,
    reviewAfter,
    anchors: valid.anchors.map((anchor) => cleanAnchor(anchor, { phones })),
    source,
    quarantined: screen.verdict === 'quarantine',
    findings: [
      ...redactor.findings(),
      ...findSeveralLessons(lessonBlock),
      ...screen.findings,
      ...findExpired(expiresAt, now),
    ],
  };
}

/** A file of old corrections may hold such a note: it is stored, but no answer will ever hold it. */
function findExpired(expiresAt: Instant | undefined, now: Instant): readonly Finding[] {
  if (expiresAt === undefined || expiresAt > now) return [];
  return [
    {
      rule: 'lifecycle.expired',
      field: 'expiresAt',
      reason: `expired on ${expiresAt.slice(0, 10)}: stored, never retrieved`,
    },
  ];
}

/** The author may be an e-mail address: without it nobody could ask whose notes these are, or take them back. */
function redactSource(source: NoteSource, redactor: Redactor): NoteSource {
  const redacted = Object.entries(source).map(([field, value]) => [
    field,
    typeof value === 'string' && field !== 'at'
      ? redactor.redact(value, `source.${field}`, field === 'author' ? 'secrets' : 'everything')
      : value,
  ]);
  return Object.fromEntries(redacted) as NoteSource;
}

/** Names cannot hold a placeholder and are shown everywhere, so a secret in one is refused. Errors: `INVALID_INPUT`. */
function refuseSecretNames(
  names: { readonly namespace: string; readonly taskType: string },
  options: PersonalDataOptions,
): void {
  for (const [field, name] of Object.entries(names)) {
    if (redactSecrets(name, options).findings.length > 0) {
      throw new ErrataError('INVALID_INPUT', `Expected a name for ${field}, received a secret`, {
        details: { field },
      });
    }
  }
}
