import type { AnchorKind } from '../domain/anchor.js';
import type { ApiKeyRecord } from '../domain/api-key.js';
import type { AuditDraft, AuditEvent } from '../domain/audit.js';
import type { AuditLink } from '../domain/audit-chain.js';
import type { Job } from '../domain/job.js';
import type {
  Attributes,
  FeedbackNote,
  Impact,
  Instant,
  NoteId,
  NoteSource,
  NoteStatus,
  NoteVectors,
  OutcomeCounts,
} from '../domain/note.js';
import type { Receipt } from '../domain/retrieval.js';
import type { Trial } from '../domain/trial.js';

/** Namespaces that a list may touch: one, several (a key's grants), or every one. */
export type NamespaceScope = readonly string[] | 'all';

export type SourceFilter = Partial<Pick<NoteSource, 'kind' | 'author' | 'tool' | 'url' | 'record' | 'run'>>;

export interface NoteFilter {
  readonly taskTypes?: readonly string[] | undefined;
  readonly statuses?: readonly NoteStatus[] | undefined;
  readonly impact?: Impact | undefined;
  /** Author of any of the note's sources. */
  readonly author?: string | undefined;
  /** One of the note's sources has all of these. Not indexed: it reads every note of the scope. */
  readonly source?: SourceFilter | undefined;
  /** Case-insensitive substring of wrongAnswer, correction or lesson. */
  readonly text?: string | undefined;
  readonly attributes?: Attributes | undefined;
  /** Notes that depend on this. */
  readonly anchor?: { readonly kind: AnchorKind; readonly ref: string } | undefined;
  /** Waiting notes that this reviewer was asked to judge. */
  readonly assignee?: string | undefined;
  /** Waiting notes whose due time lies before the instant. */
  readonly dueBefore?: Instant | undefined;
  readonly createdFrom?: Instant | undefined;
  /** Exclusive. */
  readonly createdTo?: Instant | undefined;
}

/** RISK_DESC: QUARANTINED first, then impact HIGH → LOW, then what entered the queue first. Every order ends with the id. */
export type NoteOrder = 'CREATED_DESC' | 'CREATED_ASC' | 'UPDATED_DESC' | 'RISK_DESC';

/** Keyset position: the order's values of the note that the page starts after (or ends before), id last. */
export type Keyset = readonly (string | number)[];

export interface PageRequest {
  readonly limit: number;
  readonly after?: Keyset | undefined;
  readonly before?: Keyset | undefined;
  /** The page's last entries instead of its first (GraphQL `last`). */
  readonly backwards?: boolean | undefined;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** One keyset an item. */
  readonly keysets: readonly Keyset[];
  readonly hasNext: boolean;
  readonly hasPrevious: boolean;
}

/** A note without what the store itself sets. */
export type NoteWrite = Omit<FeedbackNote, 'version' | 'embeddingModel'>;

export interface NoteInsert {
  readonly note: NoteWrite;
  readonly vectors?: NoteVectors | undefined;
  readonly audit: AuditDraft;
}

export interface NoteUpdate {
  readonly note: NoteWrite;
  /** Compare-and-set: the write happens only on this version. */
  readonly expectedVersion: number;
  /** Absent: the vectors stay as they are. `null`: they are dropped (erasure). */
  readonly vectors?: NoteVectors | null | undefined;
  readonly audit: AuditDraft;
}

export interface InsertOutcome {
  /** Absent: the id was taken already, nothing was written for this entry. */
  readonly note?: FeedbackNote | undefined;
}

/** One entry of the dense change log: `revision` grows by exactly 1. A bulk insert makes one entry with many ids. */
export interface Change {
  readonly revision: number;
  readonly noteIds: readonly NoteId[];
}

export interface ChangePage {
  readonly changes: readonly Change[];
  /** The log no longer reaches back to the revision asked for: resync by scanning versions. */
  readonly pruned: boolean;
}

export interface NoteVersion {
  readonly namespace: string;
  readonly id: NoteId;
  readonly version: number;
  readonly status: NoteStatus;
}

export interface StoredNote {
  readonly note: FeedbackNote;
  readonly vectors?: NoteVectors | undefined;
}

export interface StatusCounts {
  readonly namespace: string;
  readonly taskType: string;
  readonly active: number;
  readonly pending: number;
  readonly deprecated: number;
  readonly quarantined: number;
}

/**
 * Notes with versions, audit events and a dense change log.
 *
 * Guarantees: a resolved write survives kill -9; note, audit event and change entry belong together (where the server has no
 * transactions, `repair()` and the next write to the note complete what a crash cut off); versions only grow; a namespace is
 * part of every look-up, so that one tenant cannot reach another's note by id.
 *
 * Errors: `VERSION_CONFLICT`, `NOTE_NOT_FOUND`, `STORE_UNAVAILABLE`, `STORE_BUSY`, `CLOSED`. A record that cannot be read
 * is skipped and counted (`corruptRecords`), never thrown into a list.
 */
export interface NoteStore {
  get(namespace: string, id: NoteId): Promise<FeedbackNote | undefined>;
  /** Those that exist, in the order of `ids`; one round trip. */
  getMany(namespace: string, ids: readonly NoteId[]): Promise<readonly FeedbackNote[]>;
  getVectors(namespace: string, ids: readonly NoteId[]): Promise<ReadonlyMap<NoteId, NoteVectors>>;
  list(
    scope: NamespaceScope,
    filter: NoteFilter,
    order: NoteOrder,
    page: PageRequest,
  ): Promise<Page<FeedbackNote>>;
  count(scope: NamespaceScope, filter: NoteFilter): Promise<number>;
  statusCounts(scope: NamespaceScope): Promise<readonly StatusCounts[]>;

  /** One outcome an entry, in order; entries whose id exists are left alone, so that repeating is harmless. One change entry for all. */
  insert(entries: readonly NoteInsert[]): Promise<readonly InsertOutcome[]>;
  update(entry: NoteUpdate): Promise<FeedbackNote>;
  /** Adds to outcome counts without a new version: they are statistics, not content. */
  addOutcome(namespace: string, id: NoteId, delta: Partial<OutcomeCounts>): Promise<void>;

  lastRevision(): Promise<number>;
  /** Entries after `revision`, oldest first. Stops at a gap that a writer is still filling. */
  changesSince(revision: number, limit: number): Promise<ChangePage>;
  /** Notes of change entries, whatever their namespace, with vectors: for index followers only. */
  load(ids: readonly NoteId[]): Promise<readonly StoredNote[]>;
  /** All versions, in id order from after `afterId`: for resync. */
  versions(afterId: NoteId | undefined, limit: number): Promise<readonly NoteVersion[]>;
  /**
   * Active notes that some model has embedded, in id order from after `afterId`, with the vectors of this view's model where
   * they have them: for filling an index.
   */
  scanActive(afterId: NoteId | undefined, limit: number): Promise<readonly StoredNote[]>;
  /** Notes that lack vectors of the model, in id order: what a backfill works through. */
  scanWithoutModel(
    modelId: string,
    namespace: string | undefined,
    afterId: NoteId | undefined,
    limit: number,
  ): Promise<readonly FeedbackNote[]>;
  /** Calls back (coalesced, maybe spuriously) when something changed, also by other processes. A doorbell: reading is `changesSince`. */
  watch(onChange: () => void): Promise<() => Promise<void>>;
  /** Drops change entries up to `revision`, never the newest. */
  pruneChanges(revision: number): Promise<number>;
  /** Completes writes that a crash cut between note, audit event, its link and change entry. Returns how many. */
  repair(): Promise<number>;
  corruptRecords(): number;
  /** Memory of parsed notes that are kept, where any are. O(1). */
  cacheBytes?(): number;

  /**
   * The same notes as a process sees them that works with another model: `getVectors`, `load` and `scanActive` give that
   * model's vectors and no other's. Without it, they give the vectors that were written last.
   */
  forModel(modelId: string): NoteStore;
  /**
   * Adds (or replaces) vectors of `vectors.modelId` beside those of other models, without a new version: the texts of a note
   * never change, so neither do its vectors of a model. Erased and unknown notes are left alone. Returns how many were written.
   */
  putVectors(entries: readonly { readonly id: NoteId; readonly vectors: NoteVectors }[]): Promise<number>;
  /** Lets notes that hold vectors of the model name it as theirs (`embeddingModel`, what views without a model read), from after `afterId`; the id to go on from, if any. */
  adoptModel(modelId: string, afterId: NoteId | undefined, limit: number): Promise<NoteId | undefined>;
  /** Drops a model's vectors of at most `limit` notes; returns of how many. Not for the model that notes name as theirs. */
  dropVectors(modelId: string, limit: number): Promise<number>;
  /** Seals what is not sealed with the present key, in id order from after `afterId`; the id to go on from, if any. */
  reseal(afterId: NoteId | undefined, limit: number): Promise<ResealedPage>;
}

export interface ResealedPage {
  readonly resealed: number;
  /** Absent at the end. */
  readonly lastId?: NoteId | undefined;
}

export interface AuditFilter {
  readonly noteId?: NoteId | undefined;
  readonly actor?: string | undefined;
}

/** Append-only; every event is sealed into a hash chain, in the same transaction where the store has them. */
export interface AuditLog {
  /** For events that belong to no note change. False where an event with this id was there already: nothing was written. */
  append(event: AuditEvent): Promise<boolean>;
  /** Newest first. Events without a namespace are seen only by scope `all`. */
  list(scope: NamespaceScope, filter: AuditFilter, page: PageRequest): Promise<Page<AuditEvent>>;
  count(scope: NamespaceScope, filter: AuditFilter): Promise<number>;
  /** The newest `first` events of each note, in one call to the store however many notes; a note without events gets an empty history. */
  histories(
    scope: NamespaceScope,
    noteIds: readonly NoteId[],
    first: number,
  ): Promise<ReadonlyMap<NoteId, NoteHistory>>;
  /** Those that exist, whatever their namespace: for verifying the chain. */
  getMany(ids: readonly string[]): Promise<readonly AuditEvent[]>;
  /** Links of the chain after `number`, in order. */
  links(number: number, limit: number): Promise<readonly AuditLink[]>;
  lastLink(): Promise<AuditLink | undefined>;
  /**
   * Ids of events that are written, or about to be, and wait for their link: their process is at it, or died in between, and
   * another one will complete them. Always none in a store with transactions.
   */
  unsealed(): Promise<readonly string[]>;
}

/** The newest audit events of one note; `total` counts all of them. */
export interface NoteHistory {
  readonly items: readonly AuditEvent[];
  /** One keyset an item. */
  readonly keysets: readonly Keyset[];
  readonly hasNext: boolean;
  readonly total: number;
}

/**
 * What notes were before their later changes. A note's id is a hash of its texts, so texts never differ between versions;
 * sources only grow. Both are shown as they are now, and an erased note has no past left.
 */
export interface VersionStore {
  /** Past states, newest first; the present one is not among them. Notes that changed before this was kept have gaps. */
  past(namespace: string, id: NoteId, limit: number): Promise<readonly FeedbackNote[]>;
}

export interface ReceiptStore {
  put(receipt: Receipt): Promise<void>;
  get(id: string): Promise<Receipt | undefined>;
  /** Receipts whose answer (not only candidates) held the note, newest first. */
  listByNote(namespace: string, noteId: NoteId, limit: number): Promise<readonly Receipt[]>;
  /** Receipts of a namespace whose answer held any note, by time, newest first. `to` is exclusive. */
  listByTime(
    namespace: string,
    time: { readonly from?: Instant | undefined; readonly to?: Instant | undefined },
    limit: number,
  ): Promise<readonly Receipt[]>;
  /** Drops receipts older than the instant. */
  prune(before: Instant): Promise<number>;
}

/** Kept longer than receipts: an effect takes months to show. */
export interface TrialStore {
  put(trial: Trial): Promise<void>;
  /** False where the receipt was no trial or is settled. */
  settle(receiptId: string, correct: boolean): Promise<boolean>;
  /** Trials whose outcome is known, newest first. */
  settled(namespace: string, limit: number): Promise<readonly Trial[]>;
}

export interface JobStore {
  put(job: Job): Promise<void>;
  get(id: string): Promise<Job | undefined>;
  /** Newest first, at most `limit` of the scope. Jobs without a namespace span all of them: only scope `all` sees them. */
  list(scope: NamespaceScope, limit: number): Promise<readonly Job[]>;
  /** Takes the oldest queued job, or a running one whose lease ran out, which is one loss more, and raises its fence. */
  take(owner: string, now: Instant, leaseUntil: Instant): Promise<Job | undefined>;
  /** Writes progress or an end state; false where the fence is no longer the caller's. */
  update(
    id: string,
    fence: number,
    patch: Partial<
      Pick<Job, 'state' | 'done' | 'total' | 'message' | 'cursor' | 'finishedAt' | 'leaseUntil' | 'losses'>
    >,
  ): Promise<boolean>;
  /** False where the job has ended or does not exist. A job that nobody runs, queued or with a lease that ran out, turns CANCELLED at once. */
  requestCancel(id: string, now: Instant): Promise<boolean>;
}

export interface KeyStore {
  /** Errors: `KEY_EXISTS` for a name in use (revoked names can be used again). */
  create(key: ApiKeyRecord): Promise<void>;
  /** Unrevoked only. */
  findByHash(keyHash: string): Promise<ApiKeyRecord | undefined>;
  list(): Promise<readonly ApiKeyRecord[]>;
  /** False where no unrevoked key has the name. */
  revoke(name: string, at: Instant): Promise<boolean>;
}

/** Small values that belong to the installation, such as the fitted thresholds: JSON text by name. */
export interface SettingStore {
  get(name: string): Promise<string | undefined>;
  put(name: string, json: string): Promise<void>;
  /** Writes only where the value is still the expected one (undefined: where there is none), in one step; false where it is not. */
  replace(name: string, expected: string | undefined, json: string): Promise<boolean>;
  /** Values whose names begin with `prefix`, by name. */
  list(prefix: string): Promise<ReadonlyMap<string, string>>;
  /** False where there was none. */
  remove(name: string): Promise<boolean>;
  /** Resolves with the value that stands: of several processes' first values exactly one wins. */
  putIfAbsent(name: string, json: string): Promise<string>;
}

export interface StoreSealing {
  /** Lets the store know the key that seals now, which may have changed since it was opened. Resolves with its id. */
  enterKey(): Promise<string>;
  /** Opening the store wants only the present key from now on; returns the ids of the others. Only after everything was resealed. */
  forgetOthers(): Promise<readonly string[]>;
}

/** Everything persistent of one installation. */
export interface Store {
  /** `sqlite` or `mongodb`, and the server's own version, for `stats` and `doctor`. */
  readonly description: string;
  readonly notes: NoteStore;
  readonly audit: AuditLog;
  readonly versions: VersionStore;
  readonly receipts: ReceiptStore;
  readonly trials: TrialStore;
  readonly jobs: JobStore;
  readonly keys: KeyStore;
  readonly settings: SettingStore;
  /** Absent: texts and vectors are stored as they are. */
  readonly sealing?: StoreSealing | undefined;
  /** Resolves when the store answers. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
