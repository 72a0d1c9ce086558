import type { Anchor } from './anchor.js';
import type { ReviewState } from './review.js';

export const NOTE_STATUSES = ['PENDING', 'ACTIVE', 'DEPRECATED', 'QUARANTINED'] as const;
export const IMPACTS = ['LOW', 'NORMAL', 'HIGH'] as const;

export type NoteStatus = (typeof NOTE_STATUSES)[number];
export type Impact = (typeof IMPACTS)[number];

/** Lower-case hex SHA-256 over the canonical form; see `content-hash.ts`. Unique over all namespaces. */
export type NoteId = string;
/** RFC 3339 in UTC with milliseconds, `2026-01-31T09:30:00.000Z`: fixed width, so text order is time order. */
export type Instant = string;
/** Small string map to filter on (repo, language, product, rule). */
export type Attributes = Readonly<Record<string, string>>;

/** Provenance of a correction: who, what tool, where. */
export interface NoteSource {
  readonly kind: string;
  readonly author?: string | undefined;
  readonly tool?: string | undefined;
  readonly url?: string | undefined;
  /** The original record's name in its system, such as a ticket or a file and line. */
  readonly record?: string | undefined;
  /** Id of the import that brought it: the same for the same file, whenever it is imported. */
  readonly run?: string | undefined;
  readonly at?: Instant | undefined;
}

/** What screening, redaction or validation noticed; `rule` is a stable dotted id, `reason` is shown to reviewers. */
export interface Finding {
  readonly rule: string;
  readonly field: string;
  readonly reason: string;
}

export interface OutcomeCounts {
  readonly retrieved: number;
  readonly helpful: number;
  readonly harmful: number;
  readonly ignored: number;
}

/** A near duplicate that a reviewer should look at beside this note. */
export interface MergeCandidate {
  readonly noteId: NoteId;
  readonly similarity: number;
  /** Whether it waited itself when the two were compared: live, it is shown once more. */
  readonly waiting?: true | undefined;
}

/** A reviewer's correction. Never hard-deleted; every change makes a new version and an audit event. */
export interface FeedbackNote {
  readonly id: NoteId;
  readonly namespace: string;
  readonly taskType: string;
  readonly wrongAnswer: string;
  readonly correction: string;
  /** One line; the rule that is injected. */
  readonly lesson: string;
  readonly attributes: Attributes;
  readonly impact: Impact;
  readonly status: NoteStatus;
  readonly sources: readonly NoteSource[];
  /** Number of distinct sources that stand behind the note, merged duplicates' included. */
  readonly supportCount: number;
  readonly findings: readonly Finding[];
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly expiresAt?: Instant | undefined;
  readonly reviewAfter?: Instant | undefined;
  readonly supersedes: readonly NoteId[];
  readonly supersededBy?: NoteId | undefined;
  readonly mergeCandidate?: MergeCandidate | undefined;
  /** A newer note that says the opposite, until a reviewer has decided between the two. */
  readonly contestedBy?: NoteId | undefined;
  /** What the note depends on. */
  readonly anchors?: readonly Anchor[] | undefined;
  /** Of a waiting note. */
  readonly review?: ReviewState | undefined;
  /** 1 for a new note, + 1 with every change: compare-and-set and audit hang on it. */
  readonly version: number;
  /** Id of the model that made the stored vectors; none: not embedded yet. */
  readonly embeddingModel?: string | undefined;
  readonly outcomes: OutcomeCounts;
}

/** Unit-length vectors, `[dimensions]` float32 each, written once at write time. */
export interface NoteVectors {
  readonly modelId: string;
  readonly lesson: Float32Array;
  readonly situation?: Float32Array | undefined;
}

export const NO_OUTCOMES: OutcomeCounts = { retrieved: 0, helpful: 0, harmful: 0, ignored: 0 };

/** The text that is embedded for a note's lesson (as a passage). */
export function lessonText(note: Pick<FeedbackNote, 'taskType' | 'lesson'>): string {
  return `${note.taskType}: ${note.lesson}`;
}

/** The text that is embedded for a note's situation (as a passage). */
export function situationText(note: Pick<FeedbackNote, 'wrongAnswer' | 'correction'>): string {
  return `${note.wrongAnswer}\n${note.correction}`;
}
