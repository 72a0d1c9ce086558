import type { Instant, NoteId } from '../domain/note.js';
import type { Share } from '../domain/wilson.js';

/** Which items a namespace's checker is measured on, without their texts. */
export interface AnswerCases {
  readonly namespace: string;
  /** First 16 hex digits of the SHA-256 over the JSONL as it is kept. */
  readonly digest: string;
  readonly cases: number;
  /** Of them, those with something to find. */
  readonly positives: number;
  /** Of them, those with an item, which a live checker can be asked about. */
  readonly askable: number;
}

/** One error rate of a checker without and with lessons, paired by case. */
export interface AnswerRate {
  readonly before: Share;
  readonly after: Share;
  /** after − before with its 95% paired bootstrap interval; below 0 is better. */
  readonly difference: { readonly estimate: number; readonly low: number; readonly high: number };
  readonly fixed: number;
  readonly broken: number;
  /** Exact McNemar test, two-sided. */
  readonly pValue: number;
  /** What a set of this size finds in 80 of 100 cases. */
  readonly detectable: number;
}

/** A case whose answer changed. */
export interface AnswerChange {
  readonly id: string;
  readonly taskType: string;
  readonly truth: boolean;
  readonly before: boolean;
  readonly after: boolean;
  /** Lessons in the prompt, best first. */
  readonly notes: readonly NoteId[];
}

export interface AnswerNoteEffect {
  readonly noteId: NoteId;
  readonly injected: number;
  readonly fixed: readonly string[];
  readonly broken: readonly string[];
  readonly shared: readonly string[];
}

/** A checker's answers without and with lessons, compared; no texts of items or answers. */
export interface AnswerRun {
  readonly id: string;
  readonly namespace: string;
  readonly createdAt: Instant;
  readonly createdBy: string;
  /** Id of the model that was asked; none: recorded answers. */
  readonly checker?: string | undefined;
  readonly casesDigest: string;
  readonly pairs: number;
  readonly verdict: 'better' | 'worse' | 'same';
  readonly falsePositives: AnswerRate;
  readonly falseNegatives: AnswerRate;
  readonly errors: AnswerRate;
  /** McNemar's p of the two rates, adjusted for looking at both (Holm). */
  readonly adjusted: { readonly falsePositives: number; readonly falseNegatives: number };
  readonly byTaskType: Readonly<
    Record<string, { readonly falsePositives: AnswerRate; readonly falseNegatives: AnswerRate }>
  >;
  readonly utilisation: Share;
  readonly noiseSensitivity: Share;
  /** At most 1,000 of each. */
  readonly regressions: readonly AnswerChange[];
  readonly fixes: readonly AnswerChange[];
  /** Notes that changed an answer, the most harmful first; at most 200. */
  readonly noteEffects: readonly AnswerNoteEffect[];
  /** Cases without both answers, and those with one that could not be read. */
  readonly missing: number;
  readonly unreadable: number;
  /** Of a live run. */
  readonly spending?:
    | {
        readonly calls: number;
        readonly promptTokens: number;
        readonly completionTokens: number;
        readonly cost: number;
      }
    | undefined;
  /** Why not every case was asked. */
  readonly stopped?: string | undefined;
}
