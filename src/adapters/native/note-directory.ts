import type { Attributes, NoteId } from '../../domain/note.js';
import type { DirectoryImage, ImageRecord } from './directory-codec.js';
import type { NativePartition } from './load-addon.js';

/** What the index holds of one note; the vectors are in the partition. */
export interface NoteRecord {
  /** Stable while the note is held and never used again, so that a late answer cannot name the wrong note. */
  readonly key: number;
  readonly id: NoteId;
  readonly namespace: string;
  readonly taskType: string;
  readonly version: number;
  readonly attributes: Attributes;
}

export interface PartitionEntry {
  readonly native: NativePartition;
  notes: number;
}

interface NamespaceEntry {
  readonly notes: Map<NoteId, NoteRecord>;
  /** Versions of removals, so that a late upsert of an older version stays out. One number a removed note. */
  readonly removed: Map<NoteId, number>;
  readonly partitions: Map<string, PartitionEntry>;
}

/** Numbers for attributes: the addon knows "key=value" as an integer. Numbers are never used twice. */
export class TagDirectory {
  readonly #tags = new Map<string, { readonly tag: number; uses: number }>();
  #next = 1;

  /** Tags of a note that is about to be held; pair with `release`. */
  acquire(attributes: Attributes): number[] {
    return Object.entries(attributes).map(([key, value]) => {
      const name = tagName(key, value);
      const held = this.#tags.get(name);
      if (held !== undefined) {
        held.uses += 1;
        return held.tag;
      }
      const tag = this.#next;
      this.#next += 1;
      this.#tags.set(name, { tag, uses: 1 });
      return tag;
    });
  }

  release(attributes: Attributes): void {
    for (const [key, value] of Object.entries(attributes)) {
      const name = tagName(key, value);
      const held = this.#tags.get(name);
      if (held === undefined) continue;
      held.uses -= 1;
      if (held.uses === 0) this.#tags.delete(name);
    }
  }

  /** Undefined where no note has it. */
  tagOf(key: string, value: string): number | undefined {
    return this.#tags.get(tagName(key, value))?.tag;
  }

  clear(): void {
    this.#tags.clear();
  }

  /** For a snapshot: number of the next tag, and name, number and uses of each. */
  image(): { readonly nextTag: number; readonly tags: [string, number, number][] } {
    return {
      nextTag: this.#next,
      tags: Array.from(this.#tags, ([name, { tag, uses }]) => [name, tag, uses]),
    };
  }

  adopt(nextTag: number, tags: DirectoryImage['tags']): void {
    this.#next = nextTag;
    for (const [name, tag, uses] of tags) this.#tags.set(name, { tag, uses });
  }
}

// Length-prefixed, so that no pair can be read as another.
const tagName = (key: string, value: string): string => `${key.length}:${key}${value}`;

/** Which notes are held, where, and at which version. */
export class NoteDirectory {
  readonly tags = new TagDirectory();
  readonly #namespaces = new Map<string, NamespaceEntry>();
  readonly #ids = new Map<number, NoteId>();
  #nextKey = 1;
  #count = 0;
  /** While an image is read: notes of its namespaces that changed since, as they were; undefined where they were not there. */
  #before: Map<NamespaceEntry, Map<NoteId, NoteRecord | undefined>> | undefined;

  record(namespace: string, id: NoteId): NoteRecord | undefined {
    return this.#namespaces.get(namespace)?.notes.get(id);
  }

  /** The note behind a key of an answer; undefined once it was removed. */
  idOf(key: number): NoteId | undefined {
    return this.#ids.get(key);
  }

  removedVersion(namespace: string, id: NoteId): number | undefined {
    return this.#namespaces.get(namespace)?.removed.get(id);
  }

  /** A key for a note that is about to be held: before its rows, for a search may meet them at once. */
  claimKey(id: NoteId): number {
    const key = this.#nextKey;
    this.#nextKey += 1;
    this.#ids.set(key, id);
    return key;
  }

  dropKey(key: number): void {
    this.#ids.delete(key);
  }

  /** Makes a note count as held, once its rows are in. */
  commit(record: NoteRecord): void {
    const entry = this.#namespace(record.namespace);
    this.#keep(entry, record.id);
    if (!entry.notes.has(record.id)) this.#count += 1;
    entry.notes.set(record.id, record);
    entry.removed.delete(record.id);
  }

  forget(record: NoteRecord): void {
    const entry = this.#namespaces.get(record.namespace);
    if (entry !== undefined) this.#keep(entry, record.id);
    if (this.#namespaces.get(record.namespace)?.notes.delete(record.id)) this.#count -= 1;
    this.#ids.delete(record.key);
  }

  rememberRemoval(namespace: string, id: NoteId, version: number): void {
    const removed = this.#namespace(namespace).removed;
    removed.set(id, Math.max(version, removed.get(id) ?? 0));
  }

  partition(namespace: string, taskType: string): PartitionEntry | undefined {
    return this.#namespaces.get(namespace)?.partitions.get(taskType);
  }

  addPartition(namespace: string, taskType: string, native: NativePartition): PartitionEntry {
    const entry = { native, notes: 0 };
    this.#namespace(namespace).partitions.set(taskType, entry);
    return entry;
  }

  dropPartition(namespace: string, taskType: string): void {
    this.#namespaces.get(namespace)?.partitions.delete(taskType);
  }

  /** Partitions that a query touches: one, or all of the namespace. */
  partitionsOf(namespace: string, taskType: string | undefined): PartitionEntry[] {
    const partitions = this.#namespaces.get(namespace)?.partitions;
    if (partitions === undefined) return [];
    if (taskType === undefined) return [...partitions.values()];
    const one = partitions.get(taskType);
    return one === undefined ? [] : [one];
  }

  *allPartitions(): Iterable<PartitionEntry> {
    for (const { partitions } of this.#namespaces.values()) yield* partitions.values();
  }

  count(namespace?: string): number {
    return namespace === undefined ? this.#count : (this.#namespaces.get(namespace)?.notes.size ?? 0);
  }

  clear(): void {
    this.#namespaces.clear();
    this.#ids.clear();
    this.#count = 0;
    this.tags.clear();
  }

  /**
   * Everything for a snapshot, as of now; partitions in the order of `allPartitions()`. Records are read as they are asked for, while
   * notes may change: what changed is remembered as it was, until all are read or `release` is called. One at a time.
   */
  image(): DirectoryImage & { release(): void } {
    const partitions: DirectoryImage['partitions'][number][] = [];
    const removed: [string, NoteId, number][] = [];
    const places = new Map<NamespaceEntry, Map<string, number>>();
    const before = new Map<NamespaceEntry, Map<NoteId, NoteRecord | undefined>>();
    this.#before = before;
    const release = (): void => {
      if (this.#before === before) this.#before = undefined;
    };
    for (const [namespace, entry] of this.#namespaces) {
      const own = new Map<string, number>();
      for (const [taskType, { notes }] of entry.partitions)
        own.set(taskType, partitions.push({ namespace, taskType, notes }) - 1);
      places.set(entry, own);
      before.set(entry, new Map());
      for (const [id, version] of entry.removed) removed.push([namespace, id, version]);
    }
    function* records(): Iterable<ImageRecord> {
      for (const [entry, own] of places) {
        const changed = before.get(entry) ?? new Map();
        const read = new Set<NoteId>();
        const imageOf = ({ key, id, version, attributes, taskType }: NoteRecord): ImageRecord => ({
          key,
          id,
          version,
          attributes,
          partition: own.get(taskType) ?? 0,
        });
        for (const record of entry.notes.values()) {
          if (changed.has(record.id)) continue;
          // It may change after it was read.
          read.add(record.id);
          yield imageOf(record);
        }
        for (const [id, record] of changed) if (record !== undefined && !read.has(id)) yield imageOf(record);
      }
      release();
    }
    return { nextKey: this.#nextKey, ...this.tags.image(), partitions, removed, records: records(), release };
  }

  /** Takes an image over into this empty directory; false, and still empty, where it contradicts itself. */
  adopt(image: DirectoryImage, natives: readonly NativePartition[]): boolean {
    this.#nextKey = image.nextKey;
    this.tags.adopt(image.nextTag, image.tags);
    const counts = image.partitions.map(({ namespace, taskType, notes }, i) => {
      const native = natives[i];
      if (native !== undefined) this.addPartition(namespace, taskType, native).notes = notes;
      return 0;
    });
    for (const { key, id, version, attributes, partition } of image.records) {
      const place = image.partitions[partition];
      if (place === undefined || key >= image.nextKey || this.#ids.has(key)) {
        this.clear();
        return false;
      }
      counts[partition] = (counts[partition] ?? 0) + 1;
      this.#ids.set(key, id);
      this.commit({ key, id, version, attributes, namespace: place.namespace, taskType: place.taskType });
    }
    for (const [namespace, id, version] of image.removed) this.rememberRemoval(namespace, id, version);
    const whole = image.partitions.every(({ notes }, i) => notes === counts[i]);
    if (!whole) this.clear();
    return whole;
  }

  #keep(entry: NamespaceEntry, id: NoteId): void {
    const kept = this.#before?.get(entry);
    if (kept !== undefined && !kept.has(id)) kept.set(id, entry.notes.get(id));
  }

  #namespace(name: string): NamespaceEntry {
    let entry = this.#namespaces.get(name);
    if (entry === undefined) {
      entry = { notes: new Map(), removed: new Map(), partitions: new Map() };
      this.#namespaces.set(name, entry);
    }
    return entry;
  }
}
