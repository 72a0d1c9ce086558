import { z } from 'zod';
import { ErrataError } from '../domain/errors.js';
import { IMPACTS, NOTE_STATUSES } from '../domain/note.js';
import type { CorrectionInput } from '../ports/use-cases.js';

/** A note of a file and the name under which golden queries expect it. */
export interface NoteRow {
  readonly key: string;
  readonly correction: Omit<CorrectionInput, 'namespace'> & { readonly createdAt: string };
}

const sourceSchema = z.strictObject({
  kind: z.string(),
  author: z.string().optional(),
  tool: z.string().optional(),
  record: z.string().optional(),
});

const texts = {
  taskType: z.string(),
  wrongAnswer: z.string(),
  correction: z.string(),
  lesson: z.string(),
  attributes: z.record(z.string(), z.string()).default({}),
  impact: z.enum(IMPACTS).default('NORMAL'),
  createdAt: z.string(),
};

/** As the sample's notes are written, and those that `errata golden from-beir` makes. */
const handleSchema = z.strictObject({
  ...texts,
  key: z.string(),
  source: sourceSchema,
  language: z.string(),
});

/**
 * A line of `errata export`. Anchors are passed over with what else retrieval does not look at: one that another line names in
 * another state would take the note out of the throw-away store, which the installation has judged already.
 */
const exportSchema = z.object({
  ...texts,
  id: z.string(),
  status: z.enum(NOTE_STATUSES),
  sources: z.array(sourceSchema).min(1),
});

/**
 * Notes of JSONL, oldest first: with handles (`key`), or as `errata export` writes them, where the id is the key and notes that are
 * not active are left out, since retrieval would never give them. Errors: `INVALID_FILE` with the line.
 */
export function parseNoteRows(jsonl: string, name: string): readonly NoteRow[] {
  return jsonl
    .split('\n')
    .flatMap((line, index) => (line.trim() === '' ? [] : parseRow(line, name, index + 1)))
    .sort((a, b) => (a.correction.createdAt < b.correction.createdAt ? -1 : 1));
}

function parseRow(line: string, name: string, lineNumber: number): readonly NoteRow[] {
  const value = parseLine(line, name, lineNumber);
  if (typeof value === 'object' && value !== null && 'id' in value && !('key' in value)) {
    const { id, status, sources, ...correction } = check(exportSchema, value, name, lineNumber);
    return status === 'ACTIVE' ? [{ key: id, correction: { ...correction, source: sources[0] } }] : [];
  }
  const { key, language: _language, ...correction } = check(handleSchema, value, name, lineNumber);
  return [{ key, correction }];
}

function parseLine(line: string, name: string, lineNumber: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw invalid(name, lineNumber, 'text that is not JSON');
  }
}

function check<T>(schema: z.ZodType<T>, value: unknown, name: string, lineNumber: number): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(name, lineNumber, `${issue?.path.join('.') || 'a document'}: ${issue?.message ?? 'invalid'}`);
}

function invalid(name: string, line: number, received: string): ErrataError {
  return new ErrataError(
    'INVALID_FILE',
    `Expected a note with a key, or one of errata export, for ${name} line ${line}, received ${received}`,
    { details: { line } },
  );
}
