import type { Attributes, FeedbackNote, NoteId } from '../domain/note.js';

export interface LexicalQuery {
  readonly namespace: string;
  readonly taskType?: string | undefined;
  readonly attributes?: Attributes | undefined;
  /** Free text, never query syntax: the adapter quotes it. */
  readonly text: string;
  readonly k: number;
}

export interface LexicalHit {
  readonly id: NoteId;
  /** BM25, larger is better; only comparable within one answer. */
  readonly score: number;
}

/** Number of active notes of a scope that hold a term: what idf weights are made from. */
export interface TermStatistics {
  readonly notes: number;
  readonly notesWithTerm: ReadonlyMap<string, number>;
}

/**
 * Full text over active notes (lesson, wrongAnswer, correction, attribute values). A cache like the vector index, with the
 * same rules for versions. Identifiers (`CVE-2023-20861`, `parse_url`, `log4j-core`, `S2068`) are found as wholes and by part.
 */
export interface LexicalIndex {
  upsert(notes: readonly FeedbackNote[]): Promise<void>;
  remove(removals: readonly { namespace: string; id: NoteId; version: number }[]): Promise<void>;
  search(query: LexicalQuery): Promise<readonly LexicalHit[]>;
  termStatistics(namespace: string, terms: readonly string[]): Promise<TermStatistics>;
  clear(): Promise<void>;
  count(namespace?: string): number;
  /** About what it holds in memory. O(namespaces). */
  memoryBytes?(): number;
  close(): Promise<void>;
}
