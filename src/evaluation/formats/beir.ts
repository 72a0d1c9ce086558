import { z } from 'zod';
import { ErrataError } from '../../domain/errors.js';
import { LIMITS } from '../../domain/limits.js';
import type { GoldenQuery } from '../golden-set.js';
import type { Judgements } from './trec.js';

const documentSchema = z.looseObject({
  _id: z.string().min(1),
  title: z.string().default(''),
  text: z.string(),
});
const querySchema = z.looseObject({ _id: z.string().min(1), text: z.string().min(1) });

export interface BeirFiles {
  /** `corpus.jsonl`, `queries.jsonl`, and `qrels/<split>.tsv` with its heading. */
  readonly corpus: string;
  readonly queries: string;
  readonly qrels: string;
}

/** A note as `errata evaluate --notes` reads it. */
export interface BeirNote {
  readonly key: string;
  readonly taskType: string;
  readonly wrongAnswer: string;
  readonly correction: string;
  readonly lesson: string;
  readonly source: { readonly kind: string; readonly record: string };
  readonly createdAt: string;
  readonly language: string;
}

/** When all notes of an import were made: BEIR has no dates. */
const MADE_AT = '2000-01-01T00:00:00Z';

/**
 * Notes and golden queries out of a BEIR data set. A document becomes a note: its title (else its beginning) is the lesson, its text
 * the correction. Grades above 3 become 3, documents judged 0 are left out. Errors: `INVALID_FILE` with the line.
 */
export function importBeir(
  files: BeirFiles,
  taskType = 'beir',
): { readonly notes: readonly BeirNote[]; readonly queries: readonly GoldenQuery[] } {
  const documents = readJsonl(files.corpus, 'corpus.jsonl', documentSchema);
  const qrels = parseBeirQrels(files.qrels);
  const queries = readJsonl(files.queries, 'queries.jsonl', querySchema).flatMap(({ _id, text }) => {
    const grades = [...(qrels.get(_id) ?? [])].filter(([, grade]) => grade > 0);
    if (grades.length === 0) return [];
    const expected = grades.map(([key, grade]) => ({ key, grade: Math.min(3, grade) }));
    return [
      { id: _id, query: cut(text, LIMITS.queryLength), taskType, expected, kind: 'beir', language: 'und' },
    ];
  });
  const notes = documents.map(({ _id, title, text }) => ({
    key: _id,
    taskType,
    wrongAnswer: `Document ${_id} was not known.`,
    correction: cut(text.trim() || title, LIMITS.correctionLength),
    lesson: cut(title.trim() || text, LIMITS.lessonLength),
    source: { kind: 'beir', record: cut(_id, 200) },
    createdAt: MADE_AT,
    language: 'und',
  }));
  return { notes, queries };
}

/** Heading `query-id corpus-id score`, tabs between. Errors: `INVALID_FILE` with the line. */
function parseBeirQrels(text: string): Judgements {
  const judgements = new Map<string, Map<string, number>>();
  text.split('\n').forEach((line, index) => {
    if (line.trim() === '' || (index === 0 && /^query-id\t/.test(line))) return;
    const [query, document, grade] = line.trimEnd().split('\t');
    if (query === undefined || document === undefined || !/^\d+$/.test(grade ?? '')) {
      throw invalid('qrels', index + 1, 'query, document and whole grade with tabs between');
    }
    const grades = judgements.get(query) ?? new Map<string, number>();
    judgements.set(query, grades.set(document, Number(grade)));
  });
  return judgements;
}

function readJsonl<T>(text: string, name: string, schema: z.ZodType<T>): readonly T[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    try {
      return [schema.parse(JSON.parse(line))];
    } catch {
      throw invalid(name, index + 1, 'a JSON object with _id and text');
    }
  });
}

function cut(text: string, length: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  // Limits count UTF-16 units; half a pair at the end is dropped.
  return line.slice(0, length).replace(/[\ud800-\udbff]$/, '');
}

function invalid(name: string, line: number, expected: string): ErrataError {
  return new ErrataError(
    'INVALID_FILE',
    `Expected ${expected} for ${name} line ${line}, received another form`,
    {
      details: { line },
    },
  );
}
