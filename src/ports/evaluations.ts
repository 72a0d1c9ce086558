import type { Caller } from '../domain/api-key.js';
import type { Calibration } from '../domain/calibration.js';
import type { Attributes, Instant, NoteId } from '../domain/note.js';
import type { AnswerCases, AnswerRun } from './answer-runs.js';
import type { SweepRun } from './sweep-runs.js';

/** Means of a run's measures by name, such as `recallAt3`; see `src/evaluation/metrics.ts`. */
export type MetricValues = Readonly<Record<string, number>>;

export interface MetricInterval {
  readonly name: string;
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
}

/** One evaluation of a namespace's golden set, without query texts. */
export interface EvaluationRun {
  readonly id: string;
  readonly namespace: string;
  readonly createdAt: Instant;
  /** Which version of the golden set. */
  readonly goldenDigest: string;
  readonly embeddingModel: string;
  readonly rerankModel?: string | undefined;
  readonly scoreScale: string;
  readonly threshold: number;
  readonly queries: number;
  readonly medianMs: number;
  readonly p95Ms: number;
  readonly all: MetricValues;
  readonly tune: MetricValues;
  readonly test: MetricValues;
  /** 95% bootstrap intervals over the test half's queries; none for runs of earlier versions. */
  readonly intervals?: readonly MetricInterval[] | undefined;
  /** Over the test half. */
  readonly groups: readonly {
    readonly grouping: string;
    readonly value: string;
    readonly metrics: MetricValues;
  }[];
}

/** What one golden query got in a run, without its text. */
export interface RunCase {
  readonly id: string;
  readonly half: 'tune' | 'test';
  readonly taskType: string;
  readonly expected: readonly NoteId[];
  /** Best first. */
  readonly answered: readonly NoteId[];
  /** Of the measures that are defined for it. */
  readonly measures: MetricValues;
}

export interface MeasureChange {
  readonly name: string;
  readonly pairs: number;
  readonly before: number;
  readonly after: number;
  /** 95% interval of after − before, paired bootstrap. */
  readonly low: number;
  readonly high: number;
  /** Paired permutation test, two-sided. */
  readonly pValue: number;
  readonly detectable: number;
}

export interface RunQueryChange {
  readonly id: string;
  readonly worse: readonly string[];
  readonly better: readonly string[];
  readonly expected: readonly NoteId[];
  readonly before: readonly NoteId[];
  readonly after: readonly NoteId[];
}

export interface RunComparison {
  readonly half: 'test' | 'tune' | 'all';
  readonly sameGoldenSet: boolean;
  readonly measures: readonly MeasureChange[];
  readonly changes: readonly RunQueryChange[];
  /** Queries of only one run. */
  readonly unpaired: readonly string[];
}

export interface GoldenSetVersion {
  /** First 16 hex digits of the SHA-256 over the JSONL. */
  readonly digest: string;
  readonly queries: number;
  readonly savedAt: Instant;
  readonly savedBy: string;
}

export interface SavedGoldenSet extends GoldenSetVersion {
  readonly namespace: string;
  readonly answerable: number;
  /** Newest first. */
  readonly versions: readonly GoldenSetVersion[];
}

/** How a text of which the namespace keeps one takes the place of what stands. */
export interface ReplaceOptions {
  /** Only where this is the digest of what stands (null: where nothing does); none: whatever stands. */
  readonly ifDigest?: string | null | undefined;
}

export interface SaveGoldenSetOptions extends ReplaceOptions {
  /** Also with expected notes that the namespace does not hold: such queries cannot be answered right. */
  readonly allowUnknownNotes?: boolean | undefined;
}

/** Recorded answers of a checker, JSONL as `errata answers compare` reads them. */
export interface RecordedAnswers {
  /** None: the namespace's saved cases. */
  readonly cases?: string | undefined;
  readonly before: string;
  readonly after: string;
}

/** A reviewer's judgement: which notes a query should have got. */
export interface GoldenQueryInput {
  readonly namespace?: string | undefined;
  readonly query: string;
  readonly taskType?: string | undefined;
  readonly attributes?: Attributes | undefined;
  /** Empty: no note applies. Grades 1…3. */
  readonly expected: readonly { readonly noteId: NoteId; readonly grade: number }[];
  /** The receipt of the answer that was judged: must be of this query; gives task type and attributes. */
  readonly receiptId?: string | undefined;
  readonly difficulty?: string | undefined;
  readonly language?: string | undefined;
}

export interface CalibrateRequest {
  readonly namespace?: string | undefined;
  /** Share of queries without an answer that may get a note, 0.001…0.5. Default 0.05. */
  readonly alpha?: number | undefined;
  /** JSONL by note id; none: the namespace's saved set. */
  readonly golden?: string | undefined;
  /** Report only. */
  readonly dryRun?: boolean | undefined;
  /** Whose audit event it is: calibrating again for the same job adds none. */
  readonly jobId?: string | undefined;
  readonly onProgress?: ((done: number, total: number) => void | Promise<void>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Golden sets, evaluations and calibrations of namespaces. */
export interface Evaluations {
  /** Newest first. */
  runs(namespace: string, first: number): Promise<readonly EvaluationRun[]>;
  /** Queries of a run with what they got. Errors: `INVALID_INPUT` where they are not kept. */
  cases(namespace: string, runId: string): Promise<readonly RunCase[]>;
  /** Two runs query by query. Errors: `INVALID_INPUT` for another half, runs whose queries are not kept, or share none. */
  compareRuns(namespace: string, before: string, after: string, half: string): Promise<RunComparison>;
  goldenSet(namespace: string): Promise<SavedGoldenSet | undefined>;
  /** JSONL of a version, or of the current set. Errors: `INVALID_INPUT` where there is none. */
  goldenText(namespace: string, digest?: string): Promise<string>;
  /**
   * Replaces the set. Errors: `INVALID_FILE` with the line; `NOTE_NOT_FOUND` with the lines whose notes the namespace lacks;
   * `VERSION_CONFLICT` where another set stands than the one that was named.
   */
  saveGoldenSet(
    caller: Caller,
    namespace: string,
    jsonl: string,
    options?: SaveGoldenSetOptions,
  ): Promise<SavedGoldenSet>;
  /** Takes one query out. Errors: `INVALID_INPUT` where the set has none of this id, or no other; `VERSION_CONFLICT`. */
  removeGoldenQuery(
    caller: Caller,
    namespace: string,
    id: string,
    options?: ReplaceOptions,
  ): Promise<SavedGoldenSet>;
  /** Adds one query, or replaces the judgement of the same one. Errors: `INVALID_INPUT`, `NOTE_NOT_FOUND`, `RECEIPT_NOT_FOUND`. */
  addGoldenQuery(caller: Caller, input: GoldenQueryInput): Promise<SavedGoldenSet>;
  /** Sweeps of job `SWEEP` and of the command line, newest first. */
  sweeps(namespace: string, first: number): Promise<readonly SweepRun[]>;
  /** Comparisons of a checker's answers, newest first. */
  answerRuns(namespace: string, first: number): Promise<readonly AnswerRun[]>;
  answerCases(namespace: string): Promise<AnswerCases | undefined>;
  /** Replaces the cases that job `ANSWERS` asks about. Errors: `INVALID_FILE` with the line, `INPUT_TOO_LARGE`, `VERSION_CONFLICT`. */
  saveAnswerCases(
    caller: Caller,
    namespace: string,
    jsonl: string,
    options?: ReplaceOptions,
  ): Promise<AnswerCases>;
  /** Compares recorded answers and keeps the figures. Errors: `INVALID_FILE` with the line, `INVALID_INPUT`, `INPUT_TOO_LARGE`. */
  compareAnswers(caller: Caller, namespace: string, answers: RecordedAnswers): Promise<AnswerRun>;
  /** Newest first. */
  calibrations(namespace: string): Promise<readonly Calibration[]>;
  /** Fits, reports on held-out queries and, unless it is a dry run, puts into force. Errors: `INVALID_INPUT` for too few queries. */
  calibrate(caller: Caller, request: CalibrateRequest): Promise<readonly Calibration[]>;
  /** Back to the thresholds that are shipped. False where there was nothing to clear. */
  clearCalibrations(caller: Caller, namespace: string | undefined): Promise<boolean>;
}
