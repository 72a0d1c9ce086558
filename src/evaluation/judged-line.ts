import { createHash } from 'node:crypto';
import { checkText } from '../domain/check-text.js';
import { ErrataError } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import { queryDigest, redactSecrets } from '../guard/redact-secrets.js';
import type { GoldenQueryInput } from '../ports/evaluations.js';
import type { NoteStore, Store } from '../ports/note-store.js';
import { goldenLine, parseGoldenSet } from './golden-set.js';

/** How many notes are looked up at once. */
const LOOKED_UP = 500;
/** Of the lines at fault, as many as a message names. */
const NAMED_LINES = 10;

/**
 * A line of a golden set, from what a reviewer judged. The id comes from query, task type and attributes, so that judging the same question
 * again replaces the judgement. Errors: `INVALID_INPUT`, `INVALID_TEXT`, `RECEIPT_NOT_FOUND`, `NOTE_NOT_FOUND`.
 */
export async function judgedLine(
  {
    store,
    phones,
  }: { readonly store: Pick<Store, 'notes' | 'receipts'>; readonly phones?: boolean | undefined },
  namespace: string,
  input: GoldenQueryInput,
): Promise<string> {
  const given = checkText(input.query, 'query', LIMITS.queryLength).normalize('NFC');
  const query = redactSecrets(given, { phones }).text;
  const receipt = input.receiptId === undefined ? undefined : await store.receipts.get(input.receiptId);
  if (input.receiptId !== undefined && (receipt === undefined || receipt.namespace !== namespace)) {
    throw new ErrataError('RECEIPT_NOT_FOUND', 'Expected a known receipt for receiptId, received another id');
  }
  if (receipt !== undefined && receipt.queryDigest !== queryDigest(query, { phones })) {
    throw new ErrataError(
      'INVALID_INPUT',
      'Expected the query of the receipt for query, received another one',
      {
        details: { field: 'query' },
      },
    );
  }
  const taskType = receipt?.taskType ?? input.taskType;
  const attributes = receipt?.attributes ?? input.attributes ?? {};
  const unknown = await unknownNotes(
    store.notes,
    namespace,
    input.expected.map(({ noteId }) => noteId),
  );
  if (unknown.size > 0) {
    throw new ErrataError('NOTE_NOT_FOUND', 'Expected known notes for expected, received an unknown one');
  }
  const identity = JSON.stringify([query, taskType ?? null, Object.entries(attributes).sort()]);
  return goldenLine({
    id: `judged-${createHash('sha256').update(identity).digest('hex').slice(0, 16)}`,
    query,
    ...(taskType === undefined ? {} : { taskType }),
    ...(Object.keys(attributes).length === 0 ? {} : { attributes }),
    expected: input.expected.map(({ noteId, grade }) => ({ key: noteId, grade })),
    kind: input.expected.length === 0 ? 'none' : 'judged',
    ...(input.language === undefined ? {} : { language: input.language }),
    ...(input.difficulty === undefined ? {} : { difficulty: input.difficulty }),
  });
}

/**
 * Looks whether the namespace holds every note that a set expects, whatever its status: a mistyped id, or a handle of another set, would be
 * measured as a miss for ever. Errors: `INVALID_FILE` with the line; `NOTE_NOT_FOUND` with the lines.
 */
export async function checkExpectedNotes(
  notes: Pick<NoteStore, 'getMany'>,
  namespace: string,
  jsonl: string,
): Promise<void> {
  const { queries } = parseGoldenSet(jsonl, 'the golden set');
  const unknown = await unknownNotes(
    notes,
    namespace,
    queries.flatMap(({ expected }) => expected.map(({ key }) => key)),
  );
  if (unknown.size === 0) return;
  const lines = jsonl.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const { expected } = JSON.parse(line) as { readonly expected: readonly { readonly key: string }[] };
    return expected.some(({ key }) => unknown.has(key)) ? [index + 1] : [];
  });
  const more = lines.length > NAMED_LINES ? ` and ${lines.length - NAMED_LINES} more` : '';
  throw new ErrataError(
    'NOTE_NOT_FOUND',
    `Expected notes of ${namespace} for expected, received unknown ones in line ${lines.slice(0, NAMED_LINES).join(', ')}${more}`,
    { details: { line: lines[0] ?? 0, lines: lines.length, unknown: unknown.size } },
  );
}

async function unknownNotes(
  notes: Pick<NoteStore, 'getMany'>,
  namespace: string,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  const unknown = new Set(ids);
  const all = [...unknown];
  for (let at = 0; at < all.length; at += LOOKED_UP) {
    for (const { id } of await notes.getMany(namespace, all.slice(at, at + LOOKED_UP))) unknown.delete(id);
  }
  return unknown;
}
