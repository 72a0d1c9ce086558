import type { Attributes, FeedbackNote, NoteId } from '../../domain/note.js';
import type { LexicalHit, LexicalQuery } from '../../ports/lexical-index.js';
import { type LexicalTerms, lexicalTerms } from './lexical-terms.js';
import type { SqlEngine, SqlStatement } from './sql-engine.js';
import { TermDirectory } from './term-directory.js';

/** What a hit is filtered and named by. */
interface Scope {
  readonly id: NoteId;
  readonly taskType: string;
  readonly attributes: Attributes;
}

interface HeldNote {
  readonly row: number;
  readonly version: number;
  readonly terms: Uint32Array;
}

/** Everything but white space belongs to a token: terms arrive ready, and FTS5 only has to keep them whole. */
const TOKENIZER = `tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Co Cn Cs'"`;
/** An identifier that matches as a whole counts three times as much as a word of the same rarity. */
const IDENTIFIER_WEIGHT = 3;
/** Terms of a query that are looked up, rarest first: the rest hardly moves a BM25 ranking. */
const MAX_QUERY_TERMS = 32;
/** Beside the table, on a 64-bit V8: a held note (its id, objects, attributes, array header and map slots), a term of it, a term of all. */
const BYTES = { note: 600, termOfNote: 4, term: 100 };
/** Entries that a query reads at most, beyond its rarest term's: what keeps long queries under 3 ms (bench in the README). */
const MAX_POSTINGS = 1_500;

/**
 * One namespace's notes: its FTS5 table, what is held and what was removed at which version, and term counts. Task types and attributes
 * stand beside the table and not in one: a join costs 1.4 µs a matching row, the score itself .5.
 */
export class FtsNamespace {
  readonly #engine: SqlEngine;
  readonly #table: string;
  readonly #held = new Map<NoteId, HeldNote>();
  readonly #scopes = new Map<number, Scope>();
  readonly #removed = new Map<NoteId, number>();
  readonly #terms = new TermDirectory();
  readonly #statements = new Map<string, SqlStatement>();
  #rows = 0;
  #heldTerms = 0;

  /** `number` makes the table's name: names of namespaces are not for SQL. */
  constructor(engine: SqlEngine, number: number) {
    this.#engine = engine;
    this.#table = `notes_${number}`;
    engine.exec(
      `CREATE VIRTUAL TABLE ${this.#table} USING fts5 (words, identifiers, content = '', contentless_delete = 1, ${TOKENIZER})`,
    );
  }

  get size(): number {
    return this.#held.size;
  }

  /** About what is held outside the tables. O(1). */
  get bookkeepingBytes(): number {
    const notes = this.#held.size * BYTES.note + this.#heldTerms * BYTES.termOfNote;
    return notes + this.#terms.size * BYTES.term;
  }

  upsert(note: FeedbackNote): void {
    const held = this.#held.get(note.id);
    if (note.version <= Math.max(held?.version ?? 0, this.#removed.get(note.id) ?? 0)) return;
    if (note.status !== 'ACTIVE') {
      this.remove(note.id, note.version);
      return;
    }
    if (held !== undefined) this.#delete(note.id, held);
    this.#rows += 1;
    const row = this.#rows;
    const { words, identifiers } = termsOf(note);
    this.#run(
      'INSERT INTO # (rowid, words, identifiers) VALUES (?, ?, ?)',
      row,
      words.join(' '),
      identifiers.join(' '),
    );
    const { id, taskType, attributes } = note;
    this.#scopes.set(row, { id, taskType, attributes });
    const terms = this.#terms.add(new Set([...words, ...identifiers]));
    this.#held.set(note.id, { row, version: note.version, terms });
    this.#heldTerms += terms.length;
  }

  remove(id: NoteId, version: number): void {
    const held = this.#held.get(id);
    if (held !== undefined && held.version >= version) return;
    if (held !== undefined) this.#delete(id, held);
    this.#removed.set(id, Math.max(version, this.#removed.get(id) ?? 0));
  }

  search(query: LexicalQuery): LexicalHit[] {
    const match = this.#matchExpression(query.text);
    if (match === undefined) return [];
    const sql = `SELECT rowid AS row, -bm25(#, 1.0, ${IDENTIFIER_WEIGHT}) AS score FROM # WHERE # MATCH ?`;
    const wanted = Object.entries(query.attributes ?? {});
    const best: LexicalHit[] = [];
    for (const { row, score } of this.#statement(sql).all(match) as { row: number; score: number }[]) {
      const last = best[query.k - 1];
      if (last !== undefined && score < last.score) continue;
      const scope = this.#scopes.get(row);
      if (scope === undefined || (query.taskType !== undefined && scope.taskType !== query.taskType))
        continue;
      if (wanted.some(([key, value]) => scope.attributes[key] !== value)) continue;
      insertHit(best, { id: scope.id, score }, query.k);
    }
    return best;
  }

  /** Notes that hold the term as a whole or, where none does, all of its parts. */
  notesWith(term: string): number {
    const { words, identifiers } = lexicalTerms(term, false);
    const whole = identifiers.length === 1 ? this.#terms.count(identifiers[0] ?? '') : 0;
    const parts = [...new Set(words)];
    if (whole > 0 || parts.length === 0) return whole;
    if (parts.length === 1) return this.#terms.count(parts[0] ?? '');
    if (parts.some((part) => this.#terms.count(part) === 0)) return 0;
    const match = parts.map(quote).join(' AND ');
    const [row] = this.#statement('SELECT count(*) AS notes FROM # WHERE # MATCH ?').all(match);
    return Number((row as { notes: number } | undefined)?.notes ?? 0);
  }

  drop(): void {
    this.#statements.clear();
    this.#engine.exec(`DROP TABLE ${this.#table}`);
  }

  /** The query's terms, quoted and joined by OR; undefined where no note holds any of them. */
  #matchExpression(text: string): string | undefined {
    const { words, identifiers } = lexicalTerms(text, false);
    const terms = Array.from(new Set([...identifiers, ...words]), (term) => ({
      term,
      notes: this.#terms.count(term),
    }));
    const known = terms.filter(({ notes }) => notes > 0).sort((a, b) => a.notes - b.notes);
    let postings = -(known[0]?.notes ?? 0);
    const used = known.slice(0, MAX_QUERY_TERMS).filter(({ notes }) => {
      postings += notes;
      return postings <= MAX_POSTINGS;
    });
    return used.length === 0 ? undefined : used.map(({ term }) => quote(term)).join(' OR ');
  }

  #delete(id: NoteId, held: HeldNote): void {
    this.#run('DELETE FROM # WHERE rowid = ?', held.row);
    this.#scopes.delete(held.row);
    this.#terms.remove(held.terms);
    this.#held.delete(id);
    this.#heldTerms -= held.terms.length;
  }

  #run(sql: string, ...parameters: (string | number)[]): void {
    this.#statement(sql).run(...parameters);
  }

  /** `#` stands for the table. */
  #statement(sql: string): SqlStatement {
    const held = this.#statements.get(sql);
    if (held !== undefined) return held;
    const made = this.#engine.prepare(sql.replaceAll('#', this.#table));
    this.#statements.set(sql, made);
    return made;
  }
}

function termsOf(note: FeedbackNote): LexicalTerms {
  const values = Object.values(note.attributes);
  return lexicalTerms([note.lesson, note.wrongAnswer, note.correction, ...values].join('\n'), true);
}

/** Keeps the `k` best, best first; ties by id. Most of many hits are worse than the last and never come here. */
function insertHit(best: LexicalHit[], hit: LexicalHit, k: number): void {
  let at = best.length;
  for (; at > 0; at -= 1) {
    const before = best[at - 1];
    if (before === undefined || before.score > hit.score) break;
    if (before.score === hit.score && before.id < hit.id) break;
  }
  best.splice(at, 0, hit);
  if (best.length > k) best.pop();
}

/** A term as an FTS5 string: in one, only the quotation mark means something. */
const quote = (term: string): string => `"${term.replaceAll('"', '""')}"`;
