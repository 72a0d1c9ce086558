import { LRUCache } from 'lru-cache';
import type { FeedbackNote, NoteId, OutcomeCounts } from '../../domain/note.js';

/**
 * Some 15,000 notes of ordinary length with what is derived from them. The bound of one process, whatever the number of stores that
 * are views of one file.
 */
const DEFAULT_MAX_BYTES = 64 * 2 ** 20;
/** Object, entry, map slots and short fields. */
const OVERHEAD_BYTES = 1_500;
/** The text itself, and the sets of terms that the read path keeps beside a note while it lives (`score-candidates.ts`). */
const BYTES_A_CHARACTER = 10;

/** What a row says beside the texts: together with the id it tells whether a note that was read before still stands. */
export interface NoteState {
  readonly id: NoteId;
  readonly version: number;
  readonly embeddingModel: string | undefined;
  readonly outcomes: OutcomeCounts;
}

/**
 * Notes that were read lately, already parsed, opened and checked, which is most of what reading one costs (40 of 50 µs). Never
 * believed without the row: a note is given out only where its row has the version, model and counts that it was read with, so that
 * any number of processes may write the file. Every change of content makes a new version. `forget` is for texts that must not stay in
 * memory. The same objects are given out again; nobody changes them.
 */
export class RecentNotes {
  readonly #held: LRUCache<NoteId, FeedbackNote>;

  constructor(maxBytes = DEFAULT_MAX_BYTES) {
    this.#held = new LRUCache({
      maxSize: maxBytes,
      sizeCalculation: ({ lesson, correction, wrongAnswer, sources, findings }) =>
        OVERHEAD_BYTES +
        BYTES_A_CHARACTER * (lesson.length + correction.length + wrongAnswer.length) +
        300 * (sources.length + findings.length),
    });
  }

  /** The note of a row, where it was read before and has not changed but for its counts. O(1). */
  noteOf(state: NoteState): FeedbackNote | undefined {
    const held = this.#held.get(state.id);
    if (held === undefined) return undefined;
    if (held.version !== state.version || held.embeddingModel !== state.embeddingModel) {
      this.#held.delete(state.id);
      return undefined;
    }
    if (sameCounts(held.outcomes, state.outcomes)) return held;
    const counted = { ...held, outcomes: state.outcomes };
    this.#held.set(state.id, counted);
    return counted;
  }

  /** What is held, by the estimate that bounds it. O(1). */
  get bytes(): number {
    return this.#held.calculatedSize;
  }

  keep(note: FeedbackNote): void {
    this.#held.set(note.id, note);
  }

  /** A note has changed: it may have been erased. */
  forget(id: NoteId): void {
    this.#held.delete(id);
  }
}

function sameCounts(a: OutcomeCounts, b: OutcomeCounts): boolean {
  return (
    a.retrieved === b.retrieved &&
    a.helpful === b.helpful &&
    a.harmful === b.harmful &&
    a.ignored === b.ignored
  );
}
