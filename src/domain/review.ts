/** As in `note.ts`, which imports this file. */
type Instant = string;

/** Why a note waits for a reviewer. */
export const REVIEW_CAUSES = [
  'screening',
  'contradiction',
  'impact',
  'scope',
  'unknown-author',
  'policy',
  'demoted',
  'anchor-changed',
  'review-due',
  'restored',
  'edit',
] as const;
export type ReviewCause = (typeof REVIEW_CAUSES)[number];

/** One reviewer's word where more than one is needed. */
export interface Approval {
  readonly by: string;
  readonly at: Instant;
  /** `APPROVE`, `KEEP_BOTH` or `REPLACE`: only the same words add up. */
  readonly decision: string;
}

/** What a waiting note is waiting for; a note that does not wait has none. */
export interface ReviewState {
  readonly cause: ReviewCause;
  readonly openedAt: Instant;
  /** Once past, the sweep escalates and sets the next one. */
  readonly dueAt: Instant;
  /** Approvals before it goes live. */
  readonly required: number;
  /** Whether the author's own approval does not count. */
  readonly byOthers: boolean;
  /** Name of the caller that brought the text. */
  readonly submittedBy: string;
  /** Other callers whose words it holds: who submitted the text that an edit took over from, who changed it since. */
  readonly coAuthors?: readonly string[] | undefined;
  readonly assignee?: string | undefined;
  readonly approvals: readonly Approval[];
  readonly escalations: number;
}

/** How a namespace reviews. Stored as JSON; what is left out has its default. */
export interface ReviewPolicy {
  /** Approvals needed, by what speaks for looking; the most that applies counts, 0 goes live at once. */
  readonly approvals: {
    readonly ordinary: number;
    readonly highImpact: number;
    /** Notes without attributes: they apply to every check of their task type. */
    readonly broadScope: number;
    readonly unknownAuthor: number;
    /** At least 1: a doubtful text never goes live by itself. */
    readonly doubt: number;
  };
  /** Authors that are not unknown; none: everybody is known. */
  readonly knownAuthors: readonly string[];
  /**
   * NEWEST: a correction that reverses another goes live where nothing else speaks for looking, and retrieval prefers it. HOLD:
   * it waits. Under both, what reverses a note of impact HIGH needs the approvals of one.
   */
  readonly contradictions: 'HOLD' | 'NEWEST';
  readonly dueDays: number;
  /** After this many days without a decision a waiting note is deprecated. */
  readonly giveUpDays: number;
  /** Whether a live note whose `reviewAfter` has passed leaves retrieval until somebody has looked. */
  readonly demoteWhenDue: boolean;
}

export const DEFAULT_REVIEW_POLICY: ReviewPolicy = {
  approvals: { ordinary: 0, highImpact: 1, broadScope: 0, unknownAuthor: 0, doubt: 1 },
  knownAuthors: [],
  contradictions: 'NEWEST',
  dueDays: 7,
  giveUpDays: 60,
  demoteWhenDue: true,
};

/** Most approvals that a policy may ask for. */
export const MAX_APPROVALS = 2;

export function isWaiting(status: string): boolean {
  return status === 'PENDING' || status === 'QUARANTINED';
}

const DAY_MS = 86_400_000;

export function daysAfter(instant: Instant, days: number): Instant {
  return new Date(Date.parse(instant) + days * DAY_MS).toISOString();
}
