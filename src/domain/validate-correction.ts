import { type Anchor, checkAnchors } from './anchor.js';
import { canonicalBlock, canonicalLine, withoutControls } from './canonical.js';
import { checkText, kindOf } from './check-text.js';
import { ErrataError } from './errors.js';
import { parseInstant } from './instant.js';
import { LIMITS } from './limits.js';
import { type Attributes, IMPACTS, type Impact, type Instant, type NoteSource } from './note.js';

export const DEFAULT_NAMESPACE = 'default';
const NAMESPACE = /^[a-z0-9][a-z0-9._-]{0,63}$/iu;
const TASK_TYPE = /^[a-z0-9][a-z0-9._/-]{0,63}$/iu;

/** A correction whose every field has been checked. Texts are as given; the clean forms stand beside them. */
export interface ValidCorrection {
  readonly namespace: string;
  readonly taskType: string;
  /** As given: screening looks for what cleaning removes. */
  readonly raw: { readonly wrongAnswer: string; readonly correction: string; readonly lesson: string };
  /** Clean, with line structure (the lesson too: it becomes one line after redaction). */
  readonly wrongAnswer: string;
  readonly correction: string;
  readonly lesson: string;
  readonly attributes: Attributes;
  readonly impact?: Impact | undefined;
  readonly source?: NoteSource | undefined;
  readonly createdAt?: Instant | undefined;
  readonly expiresAt?: Instant | undefined;
  readonly reviewAfter?: Instant | undefined;
  readonly anchors: readonly Anchor[];
}

/** Errors: `INVALID_INPUT`. None given: `default`. */
export function checkNamespace(value: unknown): string {
  return value === undefined || value === null
    ? DEFAULT_NAMESPACE
    : checkPattern(value, 'namespace', NAMESPACE);
}

/** Errors: `INVALID_INPUT`. */
export function checkTaskType(value: unknown): string {
  return checkPattern(value, 'taskType', TASK_TYPE);
}

/** A required one-line explanation for the audit log, cleaned. Errors: as `checkText`. */
export function checkReason(value: unknown, name = 'reason'): string {
  return cleanLine(checkText(value, name, LIMITS.reasonLength));
}

/**
 * Checks an untrusted correction. `nowInstant` stands in for a missing createdAt.
 *
 * Errors: `INVALID_INPUT`, `INVALID_TEXT`, `INPUT_TOO_LARGE`, each with `details.field`.
 */
export function validateCorrection(input: unknown, nowInstant: Instant): ValidCorrection {
  if (!isRecord(input)) {
    throw new ErrataError('INVALID_INPUT', `Expected an object for correction, received ${kindOf(input)}`);
  }
  const wrongAnswer = checkText(input.wrongAnswer, 'wrongAnswer', LIMITS.wrongAnswerLength);
  const correction = checkText(input.correction, 'correction', LIMITS.correctionLength);
  const lesson = checkText(input.lesson, 'lesson', LIMITS.lessonLength);
  const createdAt = optional(input.createdAt, (value) => parseInstant(value, 'createdAt'));
  const expiresAt = optional(input.expiresAt, (value) => parseInstant(value, 'expiresAt'));
  if (expiresAt !== undefined && expiresAt <= (createdAt ?? nowInstant)) {
    throw new ErrataError(
      'INVALID_INPUT',
      'Expected an instant after createdAt for expiresAt, received an earlier or equal one',
      { details: { field: 'expiresAt' } },
    );
  }
  return {
    namespace: checkNamespace(input.namespace),
    taskType: checkTaskType(input.taskType),
    raw: { wrongAnswer, correction, lesson },
    wrongAnswer: canonicalBlock(wrongAnswer),
    correction: canonicalBlock(correction),
    lesson: canonicalBlock(lesson),
    attributes: checkAttributes(input.attributes),
    impact: optional(input.impact, checkImpact),
    source: optional(input.source, checkSource),
    createdAt,
    expiresAt,
    reviewAfter: optional(input.reviewAfter, (value) => parseInstant(value, 'reviewAfter')),
    anchors: checkAnchors(input.anchors),
  };
}

/** A map from key and value pairs, as GraphQL gives them. Errors: `INVALID_INPUT` for a key that occurs twice. */
export function attributesFromPairs(
  pairs: readonly { readonly key: string; readonly value: string }[],
): Attributes {
  return checkedAttributes(pairs.map(({ key, value }) => [key, value]));
}

/** Checks an attribute map from outside; none gives an empty one. Errors: `INVALID_INPUT`, `INVALID_TEXT`, `INPUT_TOO_LARGE`. */
export function checkAttributes(value: unknown): Attributes {
  if (value === undefined || value === null) {
    return {};
  }
  const prototype: unknown = typeof value === 'object' ? Object.getPrototypeOf(value) : undefined;
  if (!isRecord(value) || (prototype !== Object.prototype && prototype !== null)) {
    throw new ErrataError(
      'INVALID_INPUT',
      `Expected a plain object for attributes, received ${kindOf(value)}`,
      {
        details: { field: 'attributes' },
      },
    );
  }
  return checkedAttributes(Object.entries(value));
}

function checkedAttributes(entries: readonly (readonly [unknown, unknown])[]): Attributes {
  if (entries.length > LIMITS.attributes) {
    throw new ErrataError(
      'INPUT_TOO_LARGE',
      `Expected at most ${LIMITS.attributes} attributes, received ${entries.length}`,
      { details: { field: 'attributes', limit: LIMITS.attributes } },
    );
  }
  const checked = new Map<string, string>();
  for (const [rawKey, rawValue] of entries) {
    const key = cleanLine(checkText(rawKey, 'attributes key', LIMITS.attributeKeyLength));
    if (key === '__proto__' || checked.has(key)) {
      throw new ErrataError(
        'INVALID_INPUT',
        `Expected distinct attribute keys, received ${key === '__proto__' ? 'a reserved one' : 'one twice'}`,
        { details: { field: 'attributes' } },
      );
    }
    checked.set(key, cleanLine(checkText(rawValue, 'attributes value', LIMITS.attributeValueLength)));
  }
  // Sorted, so that the same attributes in another order are the same stored bytes.
  return Object.fromEntries([...checked].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function checkSource(value: unknown): NoteSource {
  if (!isRecord(value)) {
    throw new ErrataError('INVALID_INPUT', `Expected an object for source, received ${kindOf(value)}`, {
      details: { field: 'source' },
    });
  }
  const text = (field: 'author' | 'tool' | 'url' | 'record' | 'run'): string | undefined =>
    optional(value[field], (given) =>
      cleanLine(checkText(given, `source.${field}`, LIMITS.sourceFieldLength)),
    );
  const source = {
    kind: cleanLine(checkText(value.kind, 'source.kind', LIMITS.taskTypeLength)),
    author: text('author'),
    tool: text('tool'),
    url: text('url'),
    record: text('record'),
    run: text('run'),
    at: optional(value.at, (given) => parseInstant(given, 'source.at')),
  };
  return Object.fromEntries(
    Object.entries(source).filter(([, given]) => given !== undefined),
  ) as unknown as NoteSource;
}

function checkImpact(value: unknown): Impact {
  const impact = IMPACTS.find((known) => known === value);
  if (impact === undefined) {
    throw new ErrataError(
      'INVALID_INPUT',
      `Expected ${IMPACTS.join(', ')} for impact, received another value`,
      {
        details: { field: 'impact' },
      },
    );
  }
  return impact;
}

function checkPattern(value: unknown, name: string, pattern: RegExp): string {
  if (typeof value !== 'string' || value.length > 1_000 || !pattern.test(value)) {
    throw new ErrataError(
      'INVALID_INPUT',
      `Expected ${pattern.source} for ${name}, received ${typeof value === 'string' ? 'other text' : kindOf(value)}`,
      { details: { field: name } },
    );
  }
  return value;
}

const cleanLine = (text: string): string => canonicalLine(withoutControls(text));

function optional<T>(value: unknown, check: (value: unknown) => T): T | undefined {
  return value === undefined || value === null ? undefined : check(value);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
