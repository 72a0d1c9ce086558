import type { FeedbackNote, Instant, NoteId } from './note.js';
import type { CosineScore, Probability, RerankLogit, ScoreScale } from './scores.js';
import type { Trial } from './trial.js';

export const RISKS = ['LOW', 'NORMAL'] as const;
/** LOW: no reranking. */
export type Risk = (typeof RISKS)[number];

export interface ScoredNote {
  readonly note: FeedbackNote;
  /** What the order and the threshold use, on the scale that the retrieval names. */
  readonly score: number;
  readonly vectorScore?: CosineScore | undefined;
  /** 1 is best; absent where that list did not hold the note. */
  readonly vectorRank?: number | undefined;
  readonly lexicalRank?: number | undefined;
  readonly rerankScore?: RerankLogit | undefined;
  /** Chance that the note applies, by the namespace's calibration; absent where it has none. */
  readonly probability?: Probability | undefined;
}

export interface Stage {
  readonly name: string;
  readonly ms: number;
  readonly detail?: string | undefined;
}

/** Two notes of an answer that say the opposite, or one whose opposite waits for a reviewer. */
export interface Conflict {
  /** The older note. */
  readonly noteId: NoteId;
  /** The newer one. */
  readonly contestedBy: NoteId;
  /** NEWEST: the older one was left out for the newer. CONTESTED: the older one was served, since the newer waits or was not found. */
  readonly resolution: 'NEWEST' | 'CONTESTED';
}

/** One answer of the read path. Also what a receipt gives back. */
export interface Retrieval {
  /** The receipt's id. */
  readonly id: string;
  readonly namespace: string;
  /** At most finalK, possibly none. */
  readonly notes: readonly ScoredNote[];
  /** What was considered, best first. */
  readonly candidates: readonly ScoredNote[];
  readonly abstained: boolean;
  readonly threshold: number;
  readonly scoreScale: ScoreScale;
  /** Stages that could not run, and why; empty when all did. */
  readonly degraded: readonly string[];
  /** None where the answer was made before there were any. */
  readonly conflicts?: readonly Conflict[] | undefined;
  readonly plan: string;
  readonly exhaustive: boolean;
  /** Store revision that the index had reached. */
  readonly indexRevision: string;
  readonly embeddingModel: string;
  readonly rerankModel?: string | undefined;
  /** Whether the query was longer than the model reads. */
  readonly truncated: boolean;
  /** Set where a coin decided whether one of the eligible notes was served: part of a measurement. */
  readonly trial?: Pick<Trial, 'noteId' | 'withheld'> | undefined;
  readonly stages: readonly Stage[];
  readonly createdAt: Instant;
}

/** A scored note as a receipt keeps it: by id and version, without text. */
export interface ReceiptNote extends Omit<ScoredNote, 'note'> {
  readonly noteId: NoteId;
  readonly version: number;
}

/** What is stored of a retrieval. The query itself is kept only as a digest. */
export interface Receipt extends Omit<Retrieval, 'notes' | 'candidates'> {
  readonly queryDigest: string;
  readonly taskType?: string | undefined;
  readonly attributes: Readonly<Record<string, string>>;
  readonly candidateK: number;
  readonly finalK: number;
  readonly caller: string;
  readonly notes: readonly ReceiptNote[];
  readonly candidates: readonly ReceiptNote[];
}
