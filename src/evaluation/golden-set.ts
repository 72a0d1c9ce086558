import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ErrataError } from '../domain/errors.js';
import type { Judgements } from './formats/trec.js';
import { textDigest } from './standing-text.js';

const expectedSchema = z.strictObject({
  /** Note id, or the handle that the set's notes carry in their source record. */
  key: z.string().min(1),
  grade: z.int().min(1).max(3).default(3),
});

const querySchema = z.strictObject({
  id: z.string().min(1),
  query: z.string().min(1),
  taskType: z.string().optional(),
  attributes: z.record(z.string(), z.string()).optional(),
  /** Empty: no note applies. */
  expected: z.array(expectedSchema),
  kind: z.string().default('unspecified'),
  language: z.string().default('und'),
  /** `easy`, `medium`, `hard`, or a word of your own; none: told from the words that query and note share. */
  difficulty: z.string().optional(),
});

export type GoldenQuery = z.infer<typeof querySchema>;

export interface GoldenSet {
  readonly queries: readonly GoldenQuery[];
  /** First 16 hex digits of the SHA-256 over the file: which set a figure belongs to. */
  readonly digest: string;
}

/** Reads JSONL, one query a line; blank lines are passed over. Errors: `INVALID_FILE` with the line number. */
export function parseGoldenSet(jsonl: string, name: string): GoldenSet {
  const queries: GoldenQuery[] = [];
  const ids = new Set<string>();
  jsonl.split('\n').forEach((line, index) => {
    if (line.trim() === '') return;
    const query = parseLine(line, name, index + 1);
    if (ids.has(query.id)) throw invalid(name, index + 1, 'a unique id', 'one that an earlier line has');
    ids.add(query.id);
    queries.push(query);
  });
  if (queries.length === 0) throw invalid(name, 1, 'at least one query', 'none');
  return { queries, digest: textDigest(jsonl) };
}

/** Which half a query belongs to: by hash of its id, so that adding queries moves none. */
export function halfOf(query: Pick<GoldenQuery, 'id'>): 'tune' | 'test' {
  const [first = 0] = createHash('sha256').update(query.id).digest();
  return first % 2 === 0 ? 'tune' : 'test';
}

/** One line of a set, from what a reviewer judged. Errors: `INVALID_INPUT`. */
export function goldenLine(query: unknown): string {
  const parsed = querySchema.safeParse(query);
  if (parsed.success) return JSON.stringify(parsed.data);
  const [issue] = parsed.error.issues;
  throw new ErrataError(
    'INVALID_INPUT',
    `Expected a golden query, received ${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`,
    { details: { field: String(issue?.path[0] ?? 'query') } },
  );
}

/** Golden queries of TREC topics (`id`, tab, text) and judgements; topics that nothing answers stay, as queries without an answer. */
export function importTrec(topics: string, judgements: Judgements): readonly GoldenQuery[] {
  return topics.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const [id = '', text = ''] = line.split('\t');
    if (id.trim() === '' || text.trim() === '')
      throw invalid('topics', index + 1, 'an id, a tab and a text', 'another form');
    const grades = [...(judgements.get(id.trim()) ?? [])].filter(([, grade]) => grade > 0);
    const expected = grades.map(([key, grade]) => ({ key, grade: Math.min(3, grade) }));
    return [
      {
        id: id.trim(),
        query: text.trim(),
        expected,
        kind: expected.length > 0 ? 'trec' : 'none',
        language: 'und',
      },
    ];
  });
}

function parseLine(line: string, name: string, lineNumber: number): GoldenQuery {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw invalid(name, lineNumber, 'a JSON object', 'text that is not JSON');
  }
  const parsed = querySchema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw invalid(
    name,
    lineNumber,
    'a golden query',
    `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'invalid'}`,
  );
}

function invalid(name: string, line: number, expected: string, received: string): ErrataError {
  return new ErrataError(
    'INVALID_FILE',
    `Expected ${expected} for ${name} line ${line}, received ${received}`,
    {
      details: { line },
    },
  );
}
