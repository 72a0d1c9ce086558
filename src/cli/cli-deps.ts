import type { Config } from '../config/config.js';
import type { AnsweredCase, AskedAnswers } from '../evaluation/answers/ask-checker.js';
import type { CheckerCase } from '../evaluation/answers/checker-records.js';
import type { ChatSpending } from '../evaluation/answers/limited-chat-model.js';
import type { VariantGroup } from '../evaluation/sweep/variants.js';
import type { AuditHead, AuditVerification } from '../guard/verify-audit.js';
import type { ImportFormat } from '../notes/import/import-file.js';
import type { Embedder } from '../ports/embedder.js';
import type { LexicalIndex } from '../ports/lexical-index.js';
import type { NamespaceScope, NoteFilter, NoteStore } from '../ports/note-store.js';
import type { UseCases } from '../ports/use-cases.js';
import type { VectorIndex } from '../ports/vector-index.js';
import type { SnapshotState } from '../retrieval/snapshot-keeper.js';

/** How far a long piece of work has come. */
export interface Progress {
  readonly done: number;
  readonly total?: number | undefined;
}

export type OnProgress = (progress: Progress) => void;

/** One file to import. The format and the encoding are detected where not given. */
export interface ImportRequest {
  readonly file: string;
  readonly namespace: string;
  readonly format?: ImportFormat | undefined;
  readonly encoding?: string | undefined;
  /** For rows that carry none. */
  readonly taskType?: string | undefined;
  readonly onProgress?: OnProgress | undefined;
  readonly signal: AbortSignal;
}

/** What became of one row. Holds no note text. */
export interface ImportedRow {
  /** 1 is the first record of the file. */
  readonly row: number;
  /** Line of the file where the record starts. */
  readonly line?: number | undefined;
  /** A `SubmitOutcome` or SKIPPED; REFUSED rows say why. */
  readonly outcome: string;
  readonly noteId?: string | undefined;
  /** Ids of notes that left retrieval, since the row names something they depend on in another state. */
  readonly demoted?: readonly string[] | undefined;
  readonly reason?: string | undefined;
}

export interface ImportReport {
  readonly file: string;
  readonly format: string;
  readonly encoding: string;
  readonly rows: readonly ImportedRow[];
  /** Columns or elements of the file that mean nothing here. */
  readonly ignored?: readonly string[] | undefined;
}

export interface ExportRequest {
  readonly scope: NamespaceScope;
  readonly filter: NoteFilter;
  readonly signal: AbortSignal;
}

/** The opened parts that `doctor` looks at. */
export interface Diagnostics {
  readonly storeDescription: string;
  readonly notes: Pick<NoteStore, 'count' | 'corruptRecords' | 'lastRevision' | 'changesSince'>;
  /** Absent where only the store was opened. */
  readonly retrieval?: {
    readonly vectorIndex: Pick<VectorIndex, 'count' | 'stats'>;
    readonly lexicalIndex: Pick<LexicalIndex, 'count' | 'search'>;
    readonly embedder: Pick<Embedder, 'model' | 'embed'>;
    /** What the start made of the index's snapshot; undefined where snapshots are switched off. */
    readonly snapshot?: SnapshotState | undefined;
  };
}

/** Bounds of a run that asks a chat service. */
export interface ChatRunLimits {
  readonly concurrency: number;
  readonly maxCalls?: number | undefined;
  readonly maxCost?: number | undefined;
  /** For a million tokens. */
  readonly promptPrice: number;
  readonly completionPrice: number;
  /** Folder of kept answers; none: nothing is kept. */
  readonly cache?: string | undefined;
}

export interface AskCheckerRequest {
  readonly namespace: string;
  readonly cases: readonly CheckerCase[];
  readonly instructions: string;
  readonly attribute: boolean;
  readonly limits: ChatRunLimits;
  readonly onProgress?: OnProgress | undefined;
  /** A case's answers as soon as they are there, with what was spent so far. */
  readonly onAnswered?: ((answers: AnsweredCase, spending: ChatSpending) => Promise<void>) | undefined;
  readonly signal: AbortSignal;
}

export interface AskCheckerResult extends AskedAnswers {
  readonly spending: ChatSpending;
  /** Id of the model that was asked. */
  readonly checker: string;
}

/** An opened installation without a server. */
export interface OpenedApp {
  readonly useCases: UseCases;
  importFile(request: ImportRequest): Promise<ImportReport>;
  /** JSONL, one line (with its line feed) a note, in a form that `importFile` reads back. */
  exportNotes(request: ExportRequest): AsyncIterable<string>;
  diagnostics(): Diagnostics;
  /** Asks the configured chat service about cases, without and with lessons. Errors: `INVALID_CONFIG`, `MODEL_UNAVAILABLE`. */
  askChecker(request: AskCheckerRequest): Promise<AskCheckerResult>;
  /** Measures retrieval on the installation's own notes. Errors: `INVALID_INPUT`, `INVALID_FILE`. */
  evaluateNamespace(request: EvaluateNamespaceRequest): Promise<EvaluateResult>;
  /** Tries stages and settings on the installation's own notes. Errors: `INVALID_INPUT`, `INVALID_FILE`. */
  sweepNamespace(request: SweepNamespaceRequest): Promise<SweepResult>;
  verifyAudit(noted: AuditHead | undefined): Promise<AuditVerification>;
  /** Idempotent; waits for what runs. */
  close(): Promise<void>;
}

export interface OpenAppOptions {
  /**
   * `store`: what only reads and writes the store (keys, notes, jobs); no model and no index is loaded, and use cases that
   * need them reject with `MODEL_*`. `everything`: models and index too.
   */
  readonly parts: 'store' | 'everything';
  /** Whether this process also takes queued jobs. */
  readonly runJobs: boolean;
  readonly signal: AbortSignal;
}

export interface RunningServer {
  readonly url: string;
  /** Only where this start made it. */
  readonly newAdminKey?: string | undefined;
  readonly firstStart: boolean;
  /** The sample's namespace where this start loaded it. */
  readonly sample?: { readonly namespace: string; readonly notes: number } | undefined;
  /** Active notes at hand. */
  readonly notes: number;
  readonly storeDescription: string;
  readonly embeddingModel: string;
  /** What is weaker about it than about other models, and what to do. */
  readonly embeddingNotice?: string | undefined;
  close(): Promise<void>;
}

export interface ServeOptions {
  /** Shown to watchers. */
  readonly version?: string | undefined;
  /** Start-up work that takes seconds: filling the index, embedding the sample. */
  readonly onProgress?: ((step: string, progress: Progress) => void) | undefined;
  readonly signal: AbortSignal;
}

export interface ModelStatus {
  readonly name: string;
  readonly kind: 'embedding' | 'reranking';
  readonly installed: boolean;
  readonly precision?: string | undefined;
  /** `at first pull`: digests are recorded then and held from then on. */
  readonly digests?: 'pinned' | 'at first pull' | undefined;
  readonly dimensions?: number | undefined;
  readonly sizeBytes?: number | undefined;
  readonly licence?: string | undefined;
}

export interface PulledModel {
  readonly name: string;
  readonly directory: string;
  /** Which source served it; `installed` where everything was there already. */
  readonly source: string;
}

/** Files of models under `config.modelsDir`. Errors: `UNKNOWN_MODEL`, `MODEL_UNAVAILABLE`, `MODEL_NOT_INSTALLED`, `DIGEST_MISMATCH`. */
export interface ModelFiles {
  list(config: Config): Promise<readonly ModelStatus[]>;
  pull(
    config: Config,
    name: string,
    options: { from?: string | undefined; onProgress?: OnProgress | undefined; signal: AbortSignal },
  ): Promise<PulledModel>;
  /** Resolves where every file has its pinned digest. */
  verify(config: Config, name: string): Promise<{ readonly files: number }>;
  /** False where it was not installed. */
  remove(config: Config, name: string): Promise<boolean>;
}

export interface ModelBenchRequest {
  readonly config: Config;
  readonly name: string;
  /** Notes and golden queries; none: the project's own sample for a reranker, no quality for an embedder. */
  readonly notes?: string | undefined;
  readonly golden?: string | undefined;
  readonly onProgress?: OnProgress | undefined;
  readonly signal: AbortSignal;
}

/** One model file on one execution provider: figures, or why the provider cannot run it here. */
export type ModelSpeed = { readonly provider: string; readonly precision: string } & (
  | SpeedFigures
  | { readonly refused: string }
);

export interface SpeedFigures {
  /** From the start to the first answer, digests included. */
  readonly loadMs: number;
  /** What the times are for: `query`, or so many pairs. */
  readonly unit: string;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Bulk throughput of an embedder. */
  readonly textsPerSecond?: number | undefined;
  readonly sessions?: number | undefined;
  readonly threadsPerSession?: number | undefined;
  /** Which texts share a run. */
  readonly batches?: string | undefined;
}

export interface ModelQuality {
  readonly baseline: string;
  readonly queries: number;
  readonly measures: readonly {
    readonly title: string;
    readonly before: number;
    readonly after: number;
    /** Of a paired permutation test; none for measures of the set as a whole. */
    readonly pValue?: number | undefined;
  }[];
  /** Median time of a query through the whole read path. */
  readonly queryMs: { readonly before: number; readonly after: number };
  readonly verdict: string;
}

export interface ModelBenchResult {
  readonly name: string;
  readonly speed: readonly ModelSpeed[];
  readonly quality?: ModelQuality | undefined;
}

export interface EvaluateRequest {
  readonly config: Config;
  /** Notes (with handles, or exported ones) and golden queries; none: the project's own sample. */
  readonly notes?: string | undefined;
  readonly golden?: string | undefined;
  /** An earlier report to compare with, and the rules of comparison (none: small drops of the main measures are allowed). */
  readonly baseline?: string | undefined;
  readonly gate?: string | undefined;
  /** Places of the ranking at which it is measured besides. */
  readonly cutoffs?: readonly number[] | undefined;
  /** Measures the write path's guards, too, whether the gate asks for them or not. */
  readonly guards?: boolean | undefined;
  /** Lets the configured chat service judge the injected notes, so many times. */
  readonly judge?: { readonly repeats: number; readonly limits: ChatRunLimits } | undefined;
  readonly onProgress?: OnProgress | undefined;
  readonly signal: AbortSignal;
}

export interface EvaluateNamespaceRequest extends Omit<EvaluateRequest, 'config' | 'notes'> {
  readonly namespace: string;
  /** A file by note id, or the digest of a saved version; none: the namespace's saved set. */
  readonly golden?: string | undefined;
}

export interface EvaluateResult {
  readonly report: unknown;
  readonly text: string;
  /** Checks of the gate that failed; each one line. */
  readonly regressions?: readonly string[] | undefined;
  /** Queries that got worse in what failed; each one line. */
  readonly cases?: readonly string[] | undefined;
  /** What the reader should know beside the figures. */
  readonly notes?: readonly string[] | undefined;
  /** Finished files by name: HTML, Markdown, JSON, JUnit XML. */
  readonly documents?: Readonly<Record<string, string>> | undefined;
}

export interface SweepRequest
  extends Pick<EvaluateRequest, 'config' | 'notes' | 'golden' | 'onProgress' | 'signal'> {
  /** None: all. */
  readonly groups?: readonly VariantGroup[] | undefined;
}

export interface SweepNamespaceRequest extends Omit<SweepRequest, 'config' | 'notes'> {
  readonly namespace: string;
  /** A file by note id; none: the namespace's saved set. */
  readonly golden?: string | undefined;
}

export interface SweepResult {
  readonly report: unknown;
  readonly lines: readonly string[];
  /** Finished files by name: JSON, Markdown, HTML, SVG. */
  readonly documents: Readonly<Record<string, string>>;
}

/** Guards of the write path that can be measured on labelled sets. */
export const GUARD_REPORTS = ['duplicates', 'injection', 'secrets'] as const;

export interface GuardReportRequest {
  readonly config: Config;
  readonly report: (typeof GUARD_REPORTS)[number];
  /** Labelled set; none: the project's own under sample/guard. */
  readonly set?: string | undefined;
  readonly signal: AbortSignal;
}

export interface GuardReport {
  readonly report: unknown;
  readonly text: string;
}

export interface AddonStatus {
  readonly file: string;
  readonly isa: string;
  readonly availableIsas: readonly string[];
}

/** What the composition root gives the command line. */
export interface CliDeps {
  readonly version: string;
  openApp(config: Config, options: OpenAppOptions): Promise<OpenedApp>;
  serve(config: Config, options: ServeOptions): Promise<RunningServer>;
  readonly models: ModelFiles;
  evaluate(request: EvaluateRequest): Promise<EvaluateResult>;
  benchModel(request: ModelBenchRequest): Promise<ModelBenchResult>;
  sweep(request: SweepRequest): Promise<SweepResult>;
  guardReport(request: GuardReportRequest): Promise<GuardReport>;
  /** SDL with a final line feed. */
  emitSchema(): Promise<string>;
  /** Loads the native index. Errors: `TOOL_MISSING`, `INVALID_CONFIG`. */
  loadAddon(): AddonStatus;
}
