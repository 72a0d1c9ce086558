import type { Anchor } from '../domain/anchor.js';
import type { Caller, Role } from '../domain/api-key.js';
import type { AuditEvent, CallOrigin } from '../domain/audit.js';
import type { Job, JobKind } from '../domain/job.js';
import type { Difference } from '../domain/newcombe.js';
import type {
  Attributes,
  FeedbackNote,
  Finding,
  Impact,
  Instant,
  NoteId,
  NoteSource,
} from '../domain/note.js';
import type { Retrieval, Risk, ScoredNote } from '../domain/retrieval.js';
import type { Share } from '../domain/wilson.js';
import type { Evaluations } from './evaluations.js';
import type { ModelState } from './model-runtime.js';
import type {
  NamespaceScope,
  NoteFilter,
  NoteHistory,
  NoteOrder,
  Page,
  PageRequest,
  SourceFilter,
  StatusCounts,
} from './note-store.js';
import type { ReviewCommands, ReviewDecision } from './review-commands.js';
import type { VectorIndexStats } from './vector-index.js';

/** REFUSED only in batches: the entry was invalid, its findings say why, nothing of it was stored. */
export const SUBMIT_OUTCOMES = [
  'CREATED',
  'UPDATED',
  'DUPLICATE',
  'MERGE_PROPOSED',
  'NEEDS_REVIEW',
  'QUARANTINED',
  'REFUSED',
] as const;
export type SubmitOutcome = (typeof SUBMIT_OUTCOMES)[number];
export const VERDICTS = ['HELPFUL', 'HARMFUL', 'IGNORED'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** As it comes from outside: unchecked text. Use cases validate, whatever the edge already did. */
export interface CorrectionInput {
  readonly namespace?: string | undefined;
  readonly taskType: string;
  readonly wrongAnswer: string;
  readonly correction: string;
  readonly lesson: string;
  readonly attributes?: Attributes | undefined;
  readonly impact?: Impact | undefined;
  readonly source?: NoteSource | undefined;
  readonly createdAt?: string | undefined;
  readonly expiresAt?: string | undefined;
  readonly reviewAfter?: string | undefined;
  readonly anchors?: readonly Pick<Anchor, 'kind' | 'ref' | 'state'>[] | undefined;
}

export interface SubmitResult {
  readonly outcome: SubmitOutcome;
  /** UPDATED, but the correction brought nothing new: no version was made. */
  readonly unchanged?: true | undefined;
  readonly note?: FeedbackNote | undefined;
  readonly duplicateOf?: FeedbackNote | undefined;
  /** Cosine to the nearest note where one was near enough to matter. */
  readonly similarity?: number | undefined;
  /** Notes that left retrieval, since the correction names something they depend on in another state. */
  readonly demoted?: readonly NoteId[] | undefined;
  readonly findings: readonly Finding[];
}

export interface ReviewInput {
  readonly id: NoteId;
  readonly namespace: string;
  readonly decision: ReviewDecision;
  readonly comment?: string | undefined;
  /** Edit-and-approve: a corrected text makes a new note that supersedes this one. Only with APPROVE. */
  readonly edit?: CorrectionInput | undefined;
}

/** The write path. Every method: `INVALID_INPUT`, `INVALID_TEXT`, `INPUT_TOO_LARGE`, `NOTE_NOT_FOUND`, `INVALID_TRANSITION`, `STORE_*`, `MODEL_*`. */
export interface NoteCommands {
  submit(caller: Caller, input: CorrectionInput): Promise<SubmitResult>;
  /** Up to `LIMITS.batchSize`; each judged on its own, results in order. */
  submitMany(caller: Caller, inputs: readonly CorrectionInput[]): Promise<readonly SubmitResult[]>;
  review(caller: Caller, input: ReviewInput): Promise<FeedbackNote>;
  /** All or none of the ids must exist. Resolves after no process can serve the notes any more. */
  deprecate(
    caller: Caller,
    namespace: string,
    ids: readonly NoteId[],
    reason: string,
  ): Promise<readonly FeedbackNote[]>;
  restore(
    caller: Caller,
    namespace: string,
    ids: readonly NoteId[],
    reason: string,
  ): Promise<readonly FeedbackNote[]>;
  /**
   * Every note that is not deprecated yet and has such a source, of a namespace, as one. With `dryRun` nothing changes.
   * Errors: `INVALID_INPUT` for a selection that names no source and no author.
   */
  deprecateBySource(
    caller: Caller,
    request: {
      readonly namespace: string;
      readonly source: SourceFilter;
      readonly reason: string;
      readonly dryRun: boolean;
    },
  ): Promise<DeprecationReport>;
  /** Gives a note the attributes, impact and dates of an earlier version, as a new version; its status stays. */
  restoreVersion(
    caller: Caller,
    namespace: string,
    id: NoteId,
    version: number,
    reason: string,
  ): Promise<FeedbackNote>;
  recordOutcome(
    caller: Caller,
    receiptId: string,
    noteId: NoteId,
    verdict: Verdict,
    comment?: string,
  ): Promise<boolean>;
  /** Whether the check that an answer was given to came out right; false where it had been said before. */
  recordAnswer(
    caller: Caller,
    receiptId: string,
    correct: boolean,
    comment?: string | undefined,
  ): Promise<boolean>;
  /** For law and leaked secrets: texts, vectors and receipts' mention go, a tombstone with the reason stays. */
  erase(caller: Caller, namespace: string, id: NoteId, reason: string): Promise<FeedbackNote>;
}

/** Right checks with notes served and withheld at random, and what serving them does: a difference of shares, 95% interval. */
export interface NoteEffect {
  readonly served: Share;
  readonly withheld: Share;
  readonly effect: Difference;
}

export interface EffectReport {
  readonly all: NoteEffect;
  /** Most trials first. */
  readonly notes: readonly (NoteEffect & { readonly noteId: NoteId })[];
  readonly truncated: boolean;
}

/** What a version changed in one field; a side is absent where the field had no value. */
export interface FieldChange {
  readonly field: string;
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

export interface NoteVersionEntry {
  /** The note as it was at this version; sources and outcomes as they are now. */
  readonly note: FeedbackNote;
  readonly action?: string | undefined;
  readonly actor?: string | undefined;
  readonly reason?: string | undefined;
  readonly changes: readonly FieldChange[];
}

export interface DeprecationReport {
  readonly dryRun: boolean;
  /** Notes that the selection names and that are, or were, not deprecated. */
  readonly matched: number;
  readonly deprecated: number;
  /** Of the matched notes, oldest first; at most 1,000. */
  readonly noteIds: readonly NoteId[];
  /** Answers that held one of the notes, as far as their receipts are kept. */
  readonly answers: number;
}

/** Which answers notes had a part in: the notes themselves, or those with such a source; with a time alone, any notes. */
export interface InfluenceRequest {
  readonly namespace: string;
  readonly noteIds?: readonly NoteId[] | undefined;
  readonly source?: SourceFilter | undefined;
  readonly from?: Instant | undefined;
  /** Exclusive. */
  readonly to?: Instant | undefined;
}

export interface InfluencedAnswer {
  readonly receiptId: string;
  readonly at: Instant;
  readonly caller: string;
  /** The chosen notes that the answer held. */
  readonly noteIds: readonly NoteId[];
}

export interface Influence {
  readonly notes: number;
  readonly answers: number;
  /** Answers a caller, most first. */
  readonly callers: readonly { readonly caller: string; readonly answers: number }[];
  readonly firstAt?: Instant | undefined;
  readonly lastAt?: Instant | undefined;
  /** Newest first, at most as many as asked for. */
  readonly newest: readonly InfluencedAnswer[];
  /** Whether more answers or notes exist than were counted. */
  readonly truncated: boolean;
}

export interface NoteQueries {
  get(namespace: string, id: NoteId): Promise<FeedbackNote | undefined>;
  getMany(namespace: string, ids: readonly NoteId[]): Promise<readonly FeedbackNote[]>;
  list(
    scope: NamespaceScope,
    filter: NoteFilter,
    order: NoteOrder,
    page: PageRequest,
  ): Promise<Page<FeedbackNote>>;
  count(scope: NamespaceScope, filter: NoteFilter): Promise<number>;
  /** Newest first, the present one included. */
  versions(namespace: string, id: NoteId, first: number): Promise<readonly NoteVersionEntry[]>;
  influence(request: InfluenceRequest, first: number): Promise<Influence>;
  /** From settled trials; for the `first` notes with most of them and over all. */
  effects(namespace: string, first: number): Promise<EffectReport>;
  similar(namespace: string, id: NoteId, first: number): Promise<readonly ScoredNote[]>;
  audit(
    scope: NamespaceScope,
    filter: { noteId?: NoteId; actor?: string },
    page: PageRequest,
  ): Promise<Page<AuditEvent>>;
  auditCount(scope: NamespaceScope, filter: { noteId?: NoteId; actor?: string }): Promise<number>;
  /** The newest `first` events of each note at once, so that a page of notes costs one call. Notes without events may be left out. */
  histories(
    scope: NamespaceScope,
    noteIds: readonly NoteId[],
    first: number,
  ): Promise<ReadonlyMap<NoteId, NoteHistory>>;
}

export interface RetrieveRequest {
  readonly namespace?: string | undefined;
  readonly query: string;
  readonly taskType?: string | undefined;
  readonly attributes?: Attributes | undefined;
  readonly candidateK?: number | undefined;
  readonly finalK?: number | undefined;
  /** Beam where vectors are searched by a graph; none: the installation's. */
  readonly efSearch?: number | undefined;
  readonly threshold?: number | undefined;
  readonly risk?: Risk | undefined;
}

export interface BuildPromptRequest {
  readonly retrieve: RetrieveRequest;
  readonly baseInstructions: string;
  readonly item: string;
  readonly maxContextTokens?: number | undefined;
  readonly tokenizer?: string | undefined;
}

export interface PromptBlock {
  readonly prompt: string;
  /** The fenced block alone. */
  readonly context: string;
  readonly contextTokens: number;
  readonly included: readonly FeedbackNote[];
  /** Found, but over the budget. */
  readonly omitted: readonly FeedbackNote[];
  readonly retrieval: Retrieval;
}

/** The read path. Errors: `INVALID_INPUT`, `INVALID_TEXT`, `INPUT_TOO_LARGE`, `UNKNOWN_TOKENIZER`, `STORE_*`, `MODEL_*`. */
export interface RetrievalQueries {
  retrieve(caller: Caller, request: RetrieveRequest, options?: { signal?: AbortSignal }): Promise<Retrieval>;
  buildPrompt(
    caller: Caller,
    request: BuildPromptRequest,
    options?: { signal?: AbortSignal },
  ): Promise<PromptBlock>;
  /** A stored answer with its notes as they are now; undefined where unknown, pruned or outside the scope. */
  receipt(scope: NamespaceScope, id: string): Promise<Retrieval | undefined>;
}

export interface JobCommands {
  start(
    caller: Caller,
    kind: JobKind,
    namespace: string | undefined,
    options: Readonly<Record<string, string>>,
  ): Promise<Job>;
  cancel(caller: Caller, id: string): Promise<Job>;
  get(id: string): Promise<Job | undefined>;
  /** Newest first; jobs without a namespace are seen by scope `all` only. */
  list(scope: NamespaceScope, limit: number): Promise<readonly Job[]>;
  /** The job now and after every change until it has ended, also when another process runs it. `return()` ends a waiting `next()` at once. */
  progress(id: string): AsyncIterableIterator<Job>;
}

export interface KeyCommands {
  /** Returns the key: shown once, stored hashed. */
  create(
    caller: Caller,
    name: string,
    roles: readonly string[],
    namespaces: readonly string[] | undefined,
  ): Promise<string>;
  revoke(caller: Caller, name: string): Promise<boolean>;
  list(): Promise<
    readonly {
      name: string;
      roles: readonly Role[];
      namespaces?: readonly string[] | undefined;
      createdAt: Instant;
      revokedAt?: Instant | undefined;
    }[]
  >;
  /** Undefined for an unknown or revoked key. */
  /** `from` is what the edge knows of where the call comes from; it goes, redacted, into what the caller does. */
  authenticate(key: string, from?: CallOrigin): Promise<Caller | undefined>;
}

export interface Stats {
  readonly notes: number;
  readonly byTaskType: readonly StatusCounts[];
  readonly indexedVectors: number;
  readonly embeddingModel: string;
  /** What is weaker about the model than about others, and what to do. */
  readonly embeddingNotice?: string | undefined;
  readonly rerankModel?: string | undefined;
  readonly store: string;
  /** Query-embedding cache; none before the first look-up. */
  readonly cacheHitRate?: number | undefined;
  readonly truncatedTexts: number;
  readonly uptimeSeconds: number;
  /** Of this process, over all namespaces: only for whoever may see all of them. */
  readonly vectorIndex?: VectorIndexStats | undefined;
  /** The same: the models of this process, and what hosted ones were asked for. */
  readonly models?: readonly ModelState[] | undefined;
}

/** Live changes, this process's and other processes'. Subscribed from the call on; `return()` ends a waiting `next()` at once. */
export interface NoteFeed {
  changes(namespace: string, taskType?: string): AsyncIterableIterator<FeedbackNote>;
}

/** What the edges (GraphQL, command line) may call: the driving side of the hexagon. */
export interface UseCases {
  readonly commands: NoteCommands;
  readonly review: ReviewCommands;
  readonly notes: NoteQueries;
  readonly retrieval: RetrievalQueries;
  readonly jobs: JobCommands;
  readonly keys: KeyCommands;
  readonly feed: NoteFeed;
  readonly evaluations: Evaluations;
  stats(scope: NamespaceScope): Promise<Stats>;
  /** Resolves when models and index serve; else rejects with what is missing. */
  ready(): Promise<void>;
}
