import type { JobKind, JobState } from '../domain/job.js';
import type { Instant } from '../domain/note.js';
import type { Retrieval } from '../domain/retrieval.js';
import type { ModelState } from './model-runtime.js';

/** An answer of the read path as watchers see it. */
export interface AnsweredRetrieval {
  readonly retrieval: Retrieval;
  readonly taskType: string | undefined;
  /** Since the epoch, with fractions. */
  readonly startedMs: number;
  readonly tookMs: number;
}

export interface FailedRetrieval {
  /** Of the error table; `INTERNAL` for anything else. */
  readonly code: string;
  readonly startedMs: number;
  readonly tookMs: number;
}

/** Watches answers. Every method returns at once and never throws. */
export interface RetrievalWatcher {
  answered(answer: AnsweredRetrieval): void;
  failed(failure: FailedRetrieval): void;
  /** Share of the exact best candidates that one sampled search by index found, 0…1. */
  liveRecall(recall: number): void;
}

/** Watches jobs that end in this process. Returns at once and never throws. */
export interface JobWatcher {
  jobEnded(end: {
    readonly kind: JobKind;
    readonly state: Exclude<JobState, 'QUEUED' | 'RUNNING'>;
    /** Of the error table where it failed, `JOB_GIVEN_UP` among them; else empty. */
    readonly code: string;
  }): void;
}

/**
 * Bytes by what holds them, each by its owner's own count; what is not there or cannot be counted (the runtime's sessions) is left
 * out. The first five are the vector index.
 */
export type MemoryParts = Readonly<
  Partial<
    Record<
      | 'vectors'
      | 'codes'
      | 'graphs'
      | 'filters'
      | 'bookkeeping'
      | 'lexical index'
      | 'note cache'
      | 'query cache',
      number
    >
  >
>;

/** The review queue of all namespaces, as a dashboard alarms on it. */
export interface WaitingNotes {
  readonly pending: number;
  readonly quarantined: number;
  /** Past their due time. */
  readonly overdue: number;
  /** When the note that has waited longest entered the queue; undefined where none waits. */
  readonly oldestOpenedAt: Instant | undefined;
}

/** What a scrape reads beside what watchers counted. Cheap, or cached by whoever gives it. */
export interface LiveFigures {
  readonly cacheHits: number;
  readonly cacheMisses: number;
  readonly truncatedTexts: number;
  readonly embeddedTexts: number;
  readonly models: readonly ModelState[];
  readonly indexedNotes: number;
  readonly indexBytes: number;
  readonly memory: MemoryParts;
  /** Counted now and then; undefined until the first count ends. */
  readonly activeNotes: number | undefined;
  /** Active notes that no answer ever held. */
  readonly neverUsedNotes: number | undefined;
  /** Counted now and then, too. */
  readonly waiting: WaitingNotes | undefined;
}

/** Text for Prometheus. */
export interface MetricsPage {
  readonly contentType: string;
  render(): Promise<string>;
}
