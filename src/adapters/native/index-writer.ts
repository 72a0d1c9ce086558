import type { IndexedNote, IndexRemoval } from '../../ports/vector-index.js';
import type { NativePartition } from './load-addon.js';
import type { NoteDirectory, NoteRecord, PartitionEntry } from './note-directory.js';
import { type KeyedNote, packBatch } from './pack-batch.js';

/** Notes of one call into the addon: bounds what is packed on the event loop in one go (3 MB at 384 dimensions). */
const CHUNK = 512;

/** Applies writes to directory and partitions. Not reentrant: the index runs one write at a time. */
export class IndexWriter {
  readonly #directory: NoteDirectory;
  readonly #dimensions: number;
  readonly #createPartition: () => NativePartition;

  constructor(directory: NoteDirectory, dimensions: number, createPartition: () => NativePartition) {
    this.#directory = directory;
    this.#dimensions = dimensions;
    this.#createPartition = createPartition;
  }

  /** Notes must be checked copies. */
  async upsert(notes: readonly IndexedNote[]): Promise<void> {
    const groups = new Map<string, IndexedNote[]>();
    for (const note of this.#newest(notes)) {
      const place = `${note.namespace.length}:${note.namespace}${note.taskType}`;
      const group = groups.get(place);
      if (group === undefined) groups.set(place, [note]);
      else group.push(note);
    }
    for (const group of groups.values()) {
      for (let i = 0; i < group.length; i += CHUNK) await this.#put(group.slice(i, i + CHUNK));
    }
  }

  async remove(removals: readonly IndexRemoval[]): Promise<void> {
    const records = new Set<NoteRecord>();
    for (const { namespace, id, version } of removals) {
      const held = this.#directory.record(namespace, id);
      if (held !== undefined && held.version >= version) continue;
      this.#directory.rememberRemoval(namespace, id, version);
      if (held !== undefined) records.add(held);
    }
    await this.#drop([...records]);
  }

  /** The newest version of each note, where it is newer than what is held or was removed. */
  #newest(notes: readonly IndexedNote[]): Iterable<IndexedNote> {
    const newest = new Map<string, IndexedNote>();
    for (const note of notes) {
      const held = this.#directory.record(note.namespace, note.id)?.version;
      const removed = this.#directory.removedVersion(note.namespace, note.id);
      if (note.version <= (held ?? -1) || note.version <= (removed ?? -1)) continue;
      const name = `${note.namespace.length}:${note.namespace}${note.id}`;
      if (note.version > (newest.get(name)?.version ?? -1)) newest.set(name, note);
    }
    return newest.values();
  }

  /** `notes` share a namespace and a task type. */
  async #put(notes: readonly IndexedNote[]): Promise<void> {
    const [first] = notes;
    if (first === undefined) return;
    const directory = this.#directory;
    const { namespace, taskType } = first;
    const partition =
      directory.partition(namespace, taskType) ??
      directory.addPartition(namespace, taskType, this.#createPartition());
    const keyed = notes.map((note): KeyedNote => {
      const key = directory.record(namespace, note.id)?.key ?? directory.claimKey(note.id);
      return { note, key, tags: directory.tags.acquire(note.attributes) };
    });
    try {
      await partition.native.put(packBatch(keyed, this.#dimensions));
    } catch (error) {
      await this.#abandon(keyed, partition);
      throw error;
    }
    const moved: NoteRecord[] = [];
    for (const { note, key } of keyed) {
      const held = directory.record(namespace, note.id);
      if (held !== undefined) directory.tags.release(held.attributes);
      if (held === undefined || held.taskType !== taskType) partition.notes += 1;
      if (held !== undefined && held.taskType !== taskType) moved.push(held);
      const { id, version, attributes } = note;
      directory.commit({ key, id, namespace, taskType, version, attributes });
    }
    // After the rows are in the new partition: a search may see the note twice, and merges, but never not at all.
    await this.#removeRows(moved);
  }

  /** After a failed put some rows may be in and some not: hold none; the reconcile with the store brings them back. */
  async #abandon(keyed: readonly KeyedNote[], partition: PartitionEntry): Promise<void> {
    const held: NoteRecord[] = [];
    for (const { note, key } of keyed) {
      this.#directory.tags.release(note.attributes);
      const record = this.#directory.record(note.namespace, note.id);
      if (record === undefined) this.#directory.dropKey(key);
      else held.push(record);
    }
    // The put's own error is what the caller gets; a partition that cannot remove either is closed or out of memory.
    await partition.native.remove(Float64Array.from(keyed, ({ key }) => key)).catch(() => 0);
    await this.#drop(held).catch(() => undefined);
  }

  async #drop(records: readonly NoteRecord[]): Promise<void> {
    await this.#removeRows(records);
    for (const record of records) {
      this.#directory.tags.release(record.attributes);
      this.#directory.forget(record);
    }
  }

  /** Takes the rows out of the partitions that the records name; a partition left without notes goes. */
  async #removeRows(records: readonly NoteRecord[]): Promise<void> {
    const byPartition = new Map<PartitionEntry, NoteRecord[]>();
    for (const record of records) {
      const partition = this.#directory.partition(record.namespace, record.taskType);
      if (partition === undefined) continue;
      const group = byPartition.get(partition);
      if (group === undefined) byPartition.set(partition, [record]);
      else group.push(record);
    }
    for (const [partition, group] of byPartition) {
      await partition.native.remove(Float64Array.from(group, ({ key }) => key));
      partition.notes -= group.length;
      const [first] = group;
      if (partition.notes > 0 || first === undefined) continue;
      this.#directory.dropPartition(first.namespace, first.taskType);
      partition.native.close();
    }
  }
}
