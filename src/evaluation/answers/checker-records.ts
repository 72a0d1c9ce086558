import { z } from 'zod';
import { ErrataError } from '../../domain/errors.js';
import { textDigest } from '../standing-text.js';

const caseSchema = z.strictObject({
  id: z.string().min(1).max(200),
  /** Whether the item really has what the checker looks for. */
  truth: z.boolean(),
  taskType: z.string().optional(),
  attributes: z.record(z.string(), z.string()).optional(),
  /** What is judged; only needed to ask a live checker. */
  item: z.string().optional(),
  /** What lessons are looked for with; default: the item. */
  query: z.string().optional(),
});

const answerSchema = z.strictObject({
  id: z.string().min(1),
  /** Whether the checker flagged the item; null where its answer could not be read. */
  flagged: z.boolean().nullable(),
  /** Lessons that were in the prompt, best first. */
  notes: z.array(z.string()).default([]),
  /** The verdict with one of the lessons left out, by note. */
  without: z.record(z.string(), z.boolean().nullable()).optional(),
});

/** An item that a checker judges, with what is true of it. */
export type CheckerCase = z.infer<typeof caseSchema>;
/** What a checker said of it. */
export type CheckerAnswer = z.infer<typeof answerSchema>;

/** A case that both runs answered. */
export interface AnswerPair {
  readonly id: string;
  readonly taskType: string;
  readonly truth: boolean;
  readonly before: boolean;
  readonly after: boolean;
  readonly notes: readonly string[];
  readonly without: Readonly<Record<string, boolean | null>>;
}

export interface CheckerCases {
  readonly cases: readonly CheckerCase[];
  /** First 16 hex digits of the SHA-256 over the file. */
  readonly digest: string;
}

/** Errors: `INVALID_FILE` with the line, also for an id that is there twice. */
export function parseCheckerCases(jsonl: string, name: string): CheckerCases {
  const cases = parseLines(jsonl, name, caseSchema);
  return { cases, digest: textDigest(jsonl) };
}

/** Errors: as above. */
export function parseCheckerAnswers(jsonl: string, name: string): readonly CheckerAnswer[] {
  return parseLines(jsonl, name, answerSchema);
}

function parseLines<T extends { readonly id: string }>(
  jsonl: string,
  name: string,
  schema: z.ZodType<T>,
): readonly T[] {
  const rows: T[] = [];
  const ids = new Set<string>();
  jsonl.split('\n').forEach((line, index) => {
    if (line.trim() === '') return;
    const row = parseLine(line, name, index + 1, schema);
    if (ids.has(row.id)) throw invalid(name, index + 1, 'a unique id', 'one that an earlier line has');
    ids.add(row.id);
    rows.push(row);
  });
  if (rows.length === 0) throw invalid(name, 1, 'at least one line', 'none');
  return rows;
}

function parseLine<T>(line: string, name: string, number: number, schema: z.ZodType<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw invalid(name, number, 'a JSON object', 'text that is not JSON');
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw invalid(name, number, 'a record', `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`);
}

function invalid(name: string, line: number, expected: string, received: string): ErrataError {
  const text = `Expected ${expected} for ${name} line ${line}, received ${received}`;
  return new ErrataError('INVALID_FILE', text, { details: { line } });
}
