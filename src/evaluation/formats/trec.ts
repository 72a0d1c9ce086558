import { ErrataError } from '../../domain/errors.js';

/** Grades by query and document. */
export type Judgements = ReadonlyMap<string, ReadonlyMap<string, number>>;
/** Documents of each query, best first. */
export type Rankings = ReadonlyMap<string, readonly string[]>;

/** Lines `query iteration document grade`. Errors: `INVALID_FILE` with the line. */
export function parseQrels(text: string, name: string): Judgements {
  const judgements = new Map<string, Map<string, number>>();
  eachLine(text, (line, number) => {
    const [query, , document, grade, ...rest] = line.split(/\s+/);
    const value = Number(grade);
    if (query === undefined || document === undefined || rest.length > 0 || !/^-?\d+$/.test(grade ?? '')) {
      throw invalid(name, number, '4 fields: query, iteration, document, whole grade');
    }
    entry(judgements, query, () => new Map<string, number>()).set(document, value);
  });
  return judgements;
}

/**
 * Lines `query Q0 document rank score tag`. The order is that of trec_eval: by score (as a 4-byte float), ties by document,
 * later names first; the rank field is not looked at. Errors: `INVALID_FILE` with the line.
 */
export function parseRun(text: string, name: string): Rankings {
  const runs = new Map<string, { document: string; score: number }[]>();
  eachLine(text, (line, number) => {
    const fields = line.split(/\s+/);
    const [query, , document, , score] = fields;
    const value = Math.fround(Number(score));
    if (fields.length !== 6 || query === undefined || document === undefined || !Number.isFinite(value)) {
      throw invalid(name, number, '6 fields: query, Q0, document, rank, score, tag');
    }
    entry(runs, query, () => []).push({ document, score: value });
  });
  return new Map(
    [...runs].map(([query, hits]) => [
      query,
      hits
        .sort((a, b) => b.score - a.score || (a.document < b.document ? 1 : -1))
        .map(({ document }) => document),
    ]),
  );
}

export function writeQrels(judgements: Judgements): string {
  const lines = [...judgements].flatMap(([query, grades]) =>
    [...grades].map(([document, grade]) => `${field(query)} 0 ${field(document)} ${grade}\n`),
  );
  return lines.join('');
}

/**
 * Rankings as a run that every trec_eval-compatible tool reads in the same order: scores fall by 1 a rank, since those tools order by
 * score alone, in single precision, and break ties by name.
 */
export function writeRun(rankings: Rankings, tag: string): string {
  const lines = [...rankings].flatMap(([query, documents]) =>
    documents.map(
      (document, index) =>
        `${field(query)} Q0 ${field(document)} ${index + 1} ${documents.length - index} ${field(tag)}\n`,
    ),
  );
  return lines.join('');
}

/** Names hold no white space there. */
function field(text: string): string {
  return text.replace(/\s+/g, '_');
}

function eachLine(text: string, read: (line: string, number: number) => void): void {
  text.split('\n').forEach((line, index) => {
    if (line.trim() !== '') read(line.trim(), index + 1);
  });
}

function entry<V>(map: Map<string, V>, key: string, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
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
