import type { Instant } from '../domain/note.js';

/** Stages and settings tried in turn on a namespace's golden set. */
export interface SweepRun {
  readonly id: string;
  readonly namespace: string;
  readonly createdAt: Instant;
  readonly goldenDigest: string;
  readonly embeddingModel: string;
  readonly machine: string;
  readonly queries: number;
  readonly rows: readonly SweepRunRow[];
}

/** One way to answer, and what it gave. */
export interface SweepRunRow {
  /** Which setting was changed, such as `candidateK`; `stages` build upon each other. */
  readonly group: string;
  readonly name: string;
  /** Whether this is what ships. */
  readonly shipped: boolean;
  /** Means by measure on the half to choose on, and on the half to quote. */
  readonly tune: Readonly<Record<string, number>>;
  readonly test: Readonly<Record<string, number>>;
  /** Both halves. */
  readonly ndcgByKind: Readonly<Record<string, number>>;
  /** Of nDCG@10 on the tuning half against the group's shipped row; none for that row. */
  readonly pValue?: number | undefined;
  /** Of a query without its embedding. */
  readonly medianMs: number;
}
