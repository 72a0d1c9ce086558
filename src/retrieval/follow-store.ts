import { isErased } from '../domain/lifecycle.js';
import type { FeedbackNote, NoteId } from '../domain/note.js';
import type { LexicalIndex } from '../ports/lexical-index.js';
import type { NoteStore, StoredNote } from '../ports/note-store.js';
import type { IndexedNote, VectorIndex } from '../ports/vector-index.js';
import type { NamespaceCentres } from './namespace-centres.js';
import type { RecentVectors } from './recent-vectors.js';

/** Notes a page: 1,000 × 2 vectors × 1.5 KB is 3 MB, small beside the index and large enough to hide round trips. */
const PAGE = 1_000;

export interface FollowerOptions {
  readonly store: NoteStore;
  readonly vectorIndex: VectorIndex;
  readonly lexicalIndex: LexicalIndex;
  /** Vectors of any other model are left out of the index: two models' vectors never meet. */
  readonly modelId: string;
  /** Follows along where given. */
  readonly centres?: NamespaceCentres | undefined;
  /** Forgets what has changed. */
  readonly recentVectors?: RecentVectors | undefined;
  /**
   * Embeds active notes that another process wrote with another model's vectors, as happens while the model is being changed.
   * Absent: such notes are found by their words only.
   */
  readonly embedMissing?: ((notes: readonly FeedbackNote[]) => Promise<readonly StoredNote[]>) | undefined;
  /** An erased note came by, whoever erased it: what holds its vectors besides the indexes must go. */
  readonly onErased?: (() => Promise<void>) | undefined;
  /** Sees every applied change, this process's and other processes', oldest first. */
  readonly onChange?: ((note: FeedbackNote) => void) | undefined;
}

/** Keeps both indexes equal to the store's active notes. The indexes are caches; the store is the truth. */
export interface IndexFollower {
  /** Store revision up to which the indexes hold every change. */
  readonly revision: number;
  /**
   * Fills the indexes from the store. `restoredRevision`: the vector index already holds every change up to there, from a
   * snapshot; where it turns out not to be this store's, it is cleared and filled too, and `false` comes back.
   */
  fill(restoredRevision?: number): Promise<boolean>;
  /** Resolves when every change acknowledged before this call is in the indexes. */
  catchUp(): Promise<void>;
  /** Compares all versions with the store and mends what differs; returns how many notes did. */
  resync(): Promise<number>;
}

export function createIndexFollower(options: FollowerOptions): IndexFollower {
  return new StoreFollower(options);
}

class StoreFollower implements IndexFollower {
  readonly #options: FollowerOptions;
  #revision = 0;
  #running: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  get revision(): number {
    return this.#revision;
  }

  async fill(restoredRevision?: number): Promise<boolean> {
    const { store, vectorIndex } = this.#options;
    // Read before the scan: a change made meanwhile is applied twice at worst, and versions make that harmless.
    const revision = await store.lastRevision();
    const sound = await this.#scan(restoredRevision !== undefined);
    // What was deprecated since the snapshot is in no scan of active notes: the changes since then say so.
    this.#revision = sound && restoredRevision !== undefined ? restoredRevision : revision;
    await this.catchUp();
    if (!sound || restoredRevision === undefined) return sound;
    if (vectorIndex.count() <= (await store.count('all', { statuses: ['ACTIVE'] }))) return true;
    await vectorIndex.clear();
    await this.#scan(false);
    this.#revision = revision;
    await this.catchUp();
    return false;
  }

  /** Applies all active notes. False, and everything applied to a cleared index, where it held a newer version than the store. */
  async #scan(restored: boolean): Promise<boolean> {
    const { store, vectorIndex } = this.#options;
    let afterId: NoteId | undefined;
    for (;;) {
      const page = await store.scanActive(afterId, PAGE);
      const newer = ({ note }: StoredNote): boolean =>
        (vectorIndex.versionOf(note.namespace, note.id) ?? 0) > note.version;
      if (restored && page.some(newer)) {
        await vectorIndex.clear();
        await this.#scan(false);
        return false;
      }
      await this.#apply(page);
      afterId = page.at(-1)?.note.id;
      if (page.length < PAGE) return true;
    }
  }

  catchUp(): Promise<void> {
    if (this.#running === undefined) {
      this.#running = this.#readChanges().finally(() => {
        this.#running = undefined;
      });
      return this.#running;
    }
    // The round under way may have read the log before this caller's write: wait for one more, shared by all who wait.
    this.#next ??= this.#running.then(noop, noop).then(() => {
      this.#next = undefined;
      return this.catchUp();
    });
    return this.#next;
  }

  async resync(): Promise<number> {
    const { store, vectorIndex } = this.#options;
    let differing = 0;
    let afterId: NoteId | undefined;
    for (;;) {
      const page = await store.versions(afterId, PAGE);
      const stale = page.filter((entry) => {
        const held = vectorIndex.versionOf(entry.namespace, entry.id);
        return entry.status === 'ACTIVE' ? held !== entry.version : held !== undefined;
      });
      if (stale.length > 0) await this.#apply(await store.load(stale.map((entry) => entry.id)));
      differing += stale.length;
      afterId = page.at(-1)?.id;
      if (page.length < PAGE) return differing;
    }
  }

  async #readChanges(): Promise<void> {
    const { store } = this.#options;
    for (;;) {
      const page = await store.changesSince(this.#revision, PAGE);
      if (page.pruned) {
        const revision = await store.lastRevision();
        await this.resync();
        this.#revision = revision;
        continue;
      }
      const last = page.changes.at(-1);
      if (last === undefined) return;
      const ids = [...new Set(page.changes.flatMap((change) => change.noteIds))];
      for (let start = 0; start < ids.length; start += PAGE) {
        const notes = await this.#embedded(await store.load(ids.slice(start, start + PAGE)));
        await this.#apply(notes);
        for (const { note } of notes) this.#options.onChange?.(note);
      }
      this.#revision = last.revision;
    }
  }

  async #embedded(notes: readonly StoredNote[]): Promise<readonly StoredNote[]> {
    const { embedMissing, modelId } = this.#options;
    const lacks = ({ note, vectors }: StoredNote): boolean =>
      note.status === 'ACTIVE' && note.embeddingModel !== undefined && vectors?.modelId !== modelId;
    if (embedMissing === undefined || !notes.some(lacks)) return notes;
    const mended = await embedMissing(notes.filter(lacks).map(({ note }) => note));
    const byId = new Map(mended.map((stored) => [stored.note.id, stored]));
    return notes.map((stored) => byId.get(stored.note.id) ?? stored);
  }

  async #apply(notes: readonly StoredNote[]): Promise<void> {
    const { vectorIndex, lexicalIndex, modelId } = this.#options;
    const active = notes.filter(({ note }) => note.status === 'ACTIVE');
    const inactive = notes.filter(({ note }) => note.status !== 'ACTIVE').map(({ note }) => note);
    const indexed = active
      .flatMap((stored) => toIndexed(stored, modelId) ?? [])
      .filter(({ namespace, id, version }) => vectorIndex.versionOf(namespace, id) !== version);
    if (inactive.length > 0) {
      await vectorIndex.remove(inactive);
      await lexicalIndex.remove(inactive);
    }
    if (indexed.length > 0) await vectorIndex.upsert(indexed);
    if (active.length > 0) await lexicalIndex.upsert(active.map(({ note }) => note));
    if (notes.some(({ note }) => isErased(note))) await this.#options.onErased?.();
    for (const stored of notes) {
      this.#options.centres?.apply(stored);
      this.#options.recentVectors?.forget(stored.note.namespace, stored.note.id);
    }
  }
}

function toIndexed({ note, vectors }: StoredNote, modelId: string): IndexedNote | undefined {
  if (vectors === undefined || vectors.modelId !== modelId) return undefined;
  const rows =
    vectors.situation === undefined
      ? { lesson: vectors.lesson }
      : { lesson: vectors.lesson, situation: vectors.situation };
  return {
    namespace: note.namespace,
    taskType: note.taskType,
    id: note.id,
    version: note.version,
    attributes: note.attributes,
    vectors: rows,
  };
}

function noop(): void {}
