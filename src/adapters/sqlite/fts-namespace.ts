import type { FeedbackNote, NoteId } from '../../domain/note.js';
import type { LexicalHit, LexicalQuery } from '../../ports/lexical-index.js';
import { type LexicalTerms, lexicalTerms } from './lexical-terms.js';
import type { SqlEngine, SqlStatement } from './sql-engine.js';
import { TermDirectory } from './term-directory.js';

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
/** Beside the table, on a 64-bit V8: a held note (its id, object, array header and map slot), a term of it, a term of all. */
const BYTES = { note: 300, termOfNote: 4, term: 100 };
/** Entries that a query reads at most, beyond its rarest term's: what keeps long queries under 3 ms (bench in the README). */
const MAX_POSTINGS = 1_500;

/** One namespace's notes: its FTS5 table, what is held and what was removed at which version, and term counts. */
export class FtsNamespace {
  readonly #engine: SqlEngine;
  readonly #table: string;
  readonly #held = new Map<NoteId, HeldNote>();
  readonly #removed = new Map<NoteId, number>();
  readonly #terms = new TermDirectory();
  readonly #statements = new Map<string, SqlStatement>();
  #rows = 0;
  #heldTerms = 0;

  /** `number` makes the table's name: names of namespaces are not for SQL. */
  constructor(engine: SqlEngine, number: number) {
    this.#engine = engine;
    this.#table = `notes_${number}`;
    engine.exec(`
      CREATE VIRTUAL TABLE ${this.#table} USING fts5 (words, identifiers, content = '', contentless_delete = 1, ${TOKENIZER});
      CREATE TABLE ${this.#table}_scope (row INTEGER PRIMARY KEY, id TEXT NOT NULL, task_type TEXT NOT NULL);
      CREATE TABLE ${this.#table}_attributes (row INTEGER, key TEXT, value TEXT, PRIMARY KEY (row, key)) WITHOUT ROWID;
    `);
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
    this.#run('INSERT INTO #_scope (row, id, task_type) VALUES (?, ?, ?)', row, note.id, note.taskType);
    for (const [key, value] of Object.entries(note.attributes)) {
      this.#run('INSERT INTO #_attributes (row, key, value) VALUES (?, ?, ?)', row, key, value);
    }
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
    const attributes = Object.entries(query.attributes ?? {});
    const scope = query.taskType === undefined ? '' : 'AND s.task_type = ?';
    const having = `AND EXISTS (SELECT 1 FROM #_attributes a WHERE a.row = s.row AND a.key = ? AND a.value = ?)`;
    const sql = `SELECT s.id, -bm25(#, 1.0, ${IDENTIFIER_WEIGHT}) AS score FROM # JOIN #_scope s ON s.row = #.rowid
      WHERE # MATCH ? ${scope} ${having.repeat(attributes.length)} ORDER BY score DESC, s.id LIMIT ?`;
    const filters = query.taskType === undefined ? attributes.flat() : [query.taskType, ...attributes.flat()];
    return this.#statement(sql).all(match, ...filters, query.k) as LexicalHit[];
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
    for (const name of ['', '_scope', '_attributes']) this.#engine.exec(`DROP TABLE ${this.#table}${name}`);
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
    this.#run('DELETE FROM #_scope WHERE row = ?', held.row);
    this.#run('DELETE FROM #_attributes WHERE row = ?', held.row);
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

/** A term as an FTS5 string: in one, only the quotation mark means something. */
const quote = (term: string): string => `"${term.replaceAll('"', '""')}"`;
