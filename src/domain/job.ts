import type { Instant } from './note.js';

export const JOB_KINDS = [
  'BACKFILL',
  'REEMBED',
  'STALENESS_SWEEP',
  'COMPACTION',
  'EVALUATION',
  'CALIBRATION',
  'SWEEP',
  'ANSWERS',
  'ERASURE',
  'KEY_ROTATION',
  'MODEL_SWITCH',
  'VECTOR_DROP',
] as const;
export type JobKind = (typeof JOB_KINDS)[number];
export const JOB_STATES = ['QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED'] as const;
export type JobState = (typeof JOB_STATES)[number];

export interface Job {
  readonly id: string;
  readonly kind: JobKind;
  readonly namespace?: string | undefined;
  readonly options: Readonly<Record<string, string>>;
  readonly state: JobState;
  readonly done: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
  readonly createdAt: Instant;
  readonly startedAt?: Instant | undefined;
  readonly finishedAt?: Instant | undefined;
  readonly cancelRequested: boolean;
  /** Where a run that was killed goes on from; its meaning belongs to the kind. */
  readonly cursor?: string | undefined;
  /** Lease: who runs it, until when, and the fencing number that grows with every taking. */
  readonly leaseOwner?: string | undefined;
  readonly leaseUntil?: Instant | undefined;
  readonly fence: number;
  /** Takings since the last progress whose taker was lost: its lease ran out before it ended or gave back. None: 0. */
  readonly losses?: number | undefined;
}
