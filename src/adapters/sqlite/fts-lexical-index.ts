import { setImmediate as nextTurn } from 'node:timers/promises';
import { ErrataError } from '../../domain/errors.js';
import type { FeedbackNote, NoteId } from '../../domain/note.js';
import type { LexicalHit, LexicalIndex, LexicalQuery, TermStatistics } from '../../ports/lexical-index.js';
import { FtsNamespace } from './fts-namespace.js';
import { openMemoryEngine, type SqlEngine } from './sql-engine.js';

export interface FtsLexicalIndexOptions {
  /** Library to try first; the other one is the fallback. Default better-sqlite3. */
  readonly engine?: SqlEngine['name'] | undefined;
}

/** Notes written between two turns of the event loop: about 10 ms of work. */
const NOTES_A_TURN = 50;

/**
 * Full text in memory: one SQLite FTS5 table a namespace, so that one tenant's words neither weigh in another's ranking nor
 * cost its searches time. Writes are cut into turns; searches run on the caller's thread.
 */
export function createFtsLexicalIndex(options: FtsLexicalIndexOptions = {}): LexicalIndex {
  return new FtsLexicalIndex(openMemoryEngine(options.engine));
}

class FtsLexicalIndex implements LexicalIndex {
  readonly #engine: SqlEngine;
  readonly #namespaces = new Map<string, FtsNamespace>();
  #tables = 0;
  #writers = 0;
  #closed = false;

  constructor(engine: SqlEngine) {
    this.#engine = engine;
  }

  async upsert(notes: readonly FeedbackNote[]): Promise<void> {
    this.#checkOpen();
    this.#begin();
    try {
      for (const [i, note] of notes.entries()) {
        if (i > 0 && i % NOTES_A_TURN === 0) {
          await nextTurn();
          this.#checkOpen();
        }
        this.#namespace(note.namespace).upsert(note);
      }
    } finally {
      this.#end();
    }
  }

  async remove(removals: readonly { namespace: string; id: NoteId; version: number }[]): Promise<void> {
    this.#checkOpen();
    this.#begin();
    try {
      for (const { namespace, id, version } of removals) this.#namespace(namespace).remove(id, version);
    } finally {
      this.#end();
    }
  }

  async search(query: LexicalQuery): Promise<readonly LexicalHit[]> {
    this.#checkOpen();
    if (!Number.isSafeInteger(query.k) || query.k < 1) {
      throw new ErrataError('INVALID_INPUT', `Expected an integer of 1 or more for k, received ${query.k}`);
    }
    return this.#namespaces.get(query.namespace)?.search(query) ?? [];
  }

  async termStatistics(namespace: string, terms: readonly string[]): Promise<TermStatistics> {
    this.#checkOpen();
    const held = this.#namespaces.get(namespace);
    return {
      notes: held?.size ?? 0,
      notesWithTerm: new Map(terms.map((term) => [term, held?.notesWith(term) ?? 0])),
    };
  }

  async clear(): Promise<void> {
    this.#checkOpen();
    for (const namespace of this.#namespaces.values()) namespace.drop();
    this.#namespaces.clear();
  }

  count(namespace?: string): number {
    this.#checkOpen();
    if (namespace !== undefined) return this.#namespaces.get(namespace)?.size ?? 0;
    return Array.from(this.#namespaces.values()).reduce((sum, held) => sum + held.size, 0);
  }

  memoryBytes(): number {
    this.#checkOpen();
    const [row] = this.#engine
      .prepare('SELECT c.page_count * s.page_size AS bytes FROM pragma_page_count c, pragma_page_size s')
      .all();
    const tables = Number((row as { bytes: number } | undefined)?.bytes ?? 0);
    return Array.from(this.#namespaces.values()).reduce((sum, held) => sum + held.bookkeepingBytes, tables);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#namespaces.clear();
    this.#engine.close();
  }

  #namespace(name: string): FtsNamespace {
    const held = this.#namespaces.get(name);
    if (held !== undefined) return held;
    this.#tables += 1;
    const made = new FtsNamespace(this.#engine, this.#tables);
    this.#namespaces.set(name, made);
    return made;
  }

  /**
   * One transaction from the first write that runs to the end of the last: FTS5 writes a segment a commit, and merging
   * them is most of a bulk load's time. Searches on the same connection see what is not committed yet.
   */
  #begin(): void {
    if (this.#writers === 0) this.#engine.exec('BEGIN');
    this.#writers += 1;
  }

  #end(): void {
    this.#writers -= 1;
    if (this.#writers === 0 && !this.#closed) this.#engine.exec('COMMIT');
  }

  #checkOpen(): void {
    if (!this.#closed) return;
    throw new ErrataError('CLOSED', 'Expected an open lexical index, received a call after close');
  }
}
