import type { Anchor } from '../domain/anchor.js';
import type { Caller } from '../domain/api-key.js';
import type { FeedbackNote, Instant, NoteId } from '../domain/note.js';
import type { ReviewPolicy } from '../domain/review.js';
import type { NamespaceScope } from './note-store.js';

export const REVIEW_DECISIONS = ['APPROVE', 'REJECT', 'MERGE', 'KEEP_BOTH', 'REPLACE'] as const;
export type ReviewDecision = (typeof REVIEW_DECISIONS)[number];

/** What a staleness sweep did to a note. */
export type SweepAction = 'EXPIRED' | 'REVIEW_DUE' | 'ESCALATED' | 'GIVEN_UP';
export type SweepCounts = Readonly<Record<SweepAction, number>>;

/** One note of a sweep. */
export interface SweepEntry {
  readonly namespace: string;
  readonly noteId: NoteId;
  readonly action: SweepAction;
  readonly reason: string;
}

/** A page of what a sweep did or, as a dry run, would do. */
export interface SweepReport {
  /** The sweep's job. */
  readonly run: string;
  readonly dryRun: boolean;
  readonly entries: readonly SweepEntry[];
  readonly hasMore: boolean;
}

export interface AnchorReportRequest extends Pick<Anchor, 'kind' | 'ref' | 'state'> {
  readonly namespace: string;
  readonly dryRun?: boolean | undefined;
}

export interface AnchorReport {
  /** Notes that depend on it. */
  readonly matched: number;
  /** Those that knew it in another state. */
  readonly changed: readonly NoteId[];
  /** Those of them that were live and now wait for a reviewer. */
  readonly demoted: readonly NoteId[];
  readonly dryRun: boolean;
}

/** One note of a bulk decision: what it became, or why it was not decided. */
export interface ReviewResult {
  readonly id: NoteId;
  readonly note?: FeedbackNote | undefined;
  /** Code of the error that refused it. */
  readonly refused?: string | undefined;
}

export interface ReviewMetrics {
  readonly pending: number;
  readonly quarantined: number;
  readonly overdue: number;
  readonly escalated: number;
  readonly unassigned: number;
  /** Since the oldest began to wait; none where nothing waits. */
  readonly oldestDays?: number | undefined;
  /** When that one entered the queue. */
  readonly oldestOpenedAt?: Instant | undefined;
  /** Decisions in the days asked for, most first. */
  readonly decisions: readonly { readonly reviewer: string; readonly decisions: number }[];
  /** Whether there were more decisions or notes than were counted. */
  readonly truncated: boolean;
}

/** The review queue beside `NoteCommands.review`. Errors: as there, and `FORBIDDEN`. */
export interface ReviewCommands {
  policy(namespace: string): Promise<ReviewPolicy>;
  /** As a whole; what is left out has its default. */
  setPolicy(caller: Caller, namespace: string, policy: unknown): Promise<ReviewPolicy>;
  /** None: nobody in particular. */
  assign(caller: Caller, namespace: string, id: NoteId, assignee: string | undefined): Promise<FeedbackNote>;
  /** Into the note's history. */
  comment(caller: Caller, namespace: string, id: NoteId, comment: string): Promise<void>;
  /** The same decision about many notes, each on its own. */
  decideMany(
    caller: Caller,
    request: {
      readonly namespace: string;
      readonly ids: readonly NoteId[];
      readonly decision: ReviewDecision;
      readonly comment?: string | undefined;
    },
  ): Promise<readonly ReviewResult[]>;
  metrics(scope: NamespaceScope, days: number): Promise<ReviewMetrics>;
  reportAnchor(caller: Caller, request: AnchorReportRequest): Promise<AnchorReport>;
  /** For the staleness sweep: does what is due to a note, if anything. */
  sweepNote(namespace: string, id: NoteId, run: string): Promise<SweepAction | undefined>;
  /** For the staleness sweep: keeps what a dry run would do, at most 10,000 notes of the last ten. */
  keepDryRun(run: string, entries: readonly SweepEntry[]): Promise<void>;
  /** The notes of a sweep that lie in the scope, `limit` from `offset` on. Errors: `JOB_NOT_FOUND`, `INVALID_INPUT`. */
  sweepReport(
    scope: NamespaceScope,
    run: string,
    window: { readonly limit: number; readonly offset: number },
  ): Promise<SweepReport>;
  /** What a sweep has done since, notes by what was done to them. */
  swept(scope: NamespaceScope, run: string, since: Instant): Promise<SweepCounts>;
  /** Takes back what a sweep did since; gives how many notes came back. */
  undoSweep(scope: NamespaceScope, run: string, since: Instant): Promise<number>;
}
