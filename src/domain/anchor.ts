import { canonicalLine, withoutControls } from './canonical.js';
import { checkText, kindOf } from './check-text.js';
import { ErrataError } from './errors.js';
import { LIMITS } from './limits.js';

export const ANCHOR_KINDS = ['FILE', 'RULE', 'TICKET', 'URL'] as const;
export type AnchorKind = (typeof ANCHOR_KINDS)[number];

/** Something that a note depends on: when it changes, the note may no longer be true. */
export interface Anchor {
  readonly kind: AnchorKind;
  /** Path, rule id, ticket number or address. */
  readonly ref: string;
  /** What it was when the note was written: a digest, a version, a status. */
  readonly state: string;
  /** What it was reported to be since; a reviewer's approval makes it the state. */
  readonly changedTo?: string | undefined;
}

/** More than this is a list of files, not what a lesson rests on. */
const MAX_ANCHORS = 16;

/** Checks anchors from outside; none gives an empty list. Errors: `INVALID_INPUT`, `INVALID_TEXT`, `INPUT_TOO_LARGE`. */
export function checkAnchors(value: unknown): readonly Anchor[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw wrong(`a list for anchors, received ${kindOf(value)}`);
  if (value.length > MAX_ANCHORS) {
    throw new ErrataError(
      'INPUT_TOO_LARGE',
      `Expected at most ${MAX_ANCHORS} anchors, received ${value.length}`,
      { details: { field: 'anchors', limit: MAX_ANCHORS } },
    );
  }
  const byKey = new Map<string, Anchor>();
  for (const given of value) {
    const anchor = checkAnchor(given);
    const key = JSON.stringify([anchor.kind, anchor.ref]);
    if (byKey.has(key)) throw wrong('every anchor once, received one twice');
    byKey.set(key, anchor);
  }
  return [...byKey.values()];
}

/** Errors: as `checkAnchors`. */
export function checkAnchor(value: unknown): Anchor {
  if (typeof value !== 'object' || value === null) {
    throw wrong(`an object for anchors, received ${kindOf(value)}`);
  }
  const { kind, ref, state } = value as Record<string, unknown>;
  const known = ANCHOR_KINDS.find((name) => name === kind);
  if (known === undefined) throw wrong(`${ANCHOR_KINDS.join(', ')} for anchors.kind, received another value`);
  return {
    kind: known,
    ref: cleanLine(checkText(ref, 'anchors.ref', LIMITS.sourceFieldLength)),
    state: cleanLine(checkText(state, 'anchors.state', LIMITS.attributeValueLength)),
  };
}

function wrong(text: string): ErrataError {
  return new ErrataError('INVALID_INPUT', `Expected ${text}`, { details: { field: 'anchors' } });
}

const cleanLine = (text: string): string => canonicalLine(withoutControls(text));
