import type { Attributes, NoteId } from '../../domain/note.js';

/** Everything a NoteDirectory holds, but for the partitions themselves. */
export interface DirectoryImage {
  readonly nextKey: number;
  readonly nextTag: number;
  /** Name, number, uses. */
  readonly tags: readonly (readonly [string, number, number])[];
  /** In the order of the snapshot's partitions. */
  readonly partitions: readonly {
    readonly namespace: string;
    readonly taskType: string;
    readonly notes: number;
  }[];
  readonly removed: readonly (readonly [namespace: string, id: NoteId, version: number])[];
  readonly records: Iterable<ImageRecord>;
}

export interface ImageRecord {
  readonly key: number;
  readonly id: NoteId;
  readonly version: number;
  /** Index into `partitions`. */
  readonly partition: number;
  readonly attributes: Attributes;
}

interface Head {
  readonly nextKey: number;
  readonly nextTag: number;
  readonly tags: DirectoryImage['tags'];
  readonly partitions: DirectoryImage['partitions'];
  readonly removed: DirectoryImage['removed'];
  /** Different sets of attributes; notes name one by its place. */
  readonly attributes: readonly Attributes[];
  readonly count: number;
}

const ALIGNMENT = 8;
const BYTES_A_NOTE = 28;
/** How long the event loop waits at most, and notes between two looks at the time (a microsecond each). */
const SLICE_MS = 2;
const STEPS_A_LOOK = 256;
const padded = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

/**
 * The directory section of schema/snapshot-v1.md: length of the head (u32) and of the ids (u32 each, 8 bytes in all), the head as JSON, then columns
 * over the notes: keys and versions (f64), partition and attributes (u32), ends of the ids (u32), and the ids as UTF-8. Into memory
 * that `allocate` gives, in slices, so that a million notes do not hold the event loop up.
 */
export async function encodeDirectory<Memory extends { readonly bytes: ArrayBuffer }>(
  image: DirectoryImage,
  allocate: (bytes: number) => Memory,
): Promise<Memory> {
  const attributes: Attributes[] = [];
  const places = new Map<string, number>();
  const records: { readonly record: ImageRecord; readonly place: number }[] = [];
  let idBytes = 0;
  const breath = new Breath();
  for (const record of image.records) {
    const json = JSON.stringify(record.attributes);
    let place = places.get(json);
    if (place === undefined) {
      place = attributes.push(record.attributes) - 1;
      places.set(json, place);
    }
    records.push({ record, place });
    idBytes += Buffer.byteLength(record.id);
    if (breath.due()) await breath.take();
  }
  const count = records.length;
  const { nextKey, nextTag, tags, partitions, removed } = image;
  const head: Head = { nextKey, nextTag, tags, partitions, removed, attributes, count };
  const text = Buffer.from(JSON.stringify(head));
  const headBytes = padded(text.length);
  const from = ALIGNMENT + headBytes;
  const memory = allocate(from + BYTES_A_NOTE * count + idBytes);
  const bytes = Buffer.from(memory.bytes);
  bytes.writeUInt32LE(headBytes, 0);
  bytes.writeUInt32LE(idBytes, 4);
  bytes.fill(' ', ALIGNMENT + text.length, from);
  bytes.set(text, ALIGNMENT);
  const numbers = new Float64Array(memory.bytes, from, 2 * count);
  const words = new Uint32Array(memory.bytes, from + numbers.byteLength, 3 * count);
  const ids = bytes.subarray(from + BYTES_A_NOTE * count);
  let end = 0;
  for (const [i, { record, place }] of records.entries()) {
    numbers[i] = record.key;
    numbers[count + i] = record.version;
    words[i] = record.partition;
    words[count + i] = place;
    end += ids.write(record.id, end);
    words[2 * count + i] = end;
    if (breath.due()) await breath.take();
  }
  return memory;
}

/** Lets the event loop go on now and then. */
class Breath {
  #steps = 0;
  #since = performance.now();

  due(): boolean {
    this.#steps += 1;
    return this.#steps % STEPS_A_LOOK === 0 && performance.now() - this.#since > SLICE_MS;
  }
  async take(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve));
    this.#since = performance.now();
  }
}

/** Undefined where the bytes are no directory, as a faulty writer might leave. O(notes) as the records are read. */
export function decodeDirectory(bytes: Uint8Array): DirectoryImage | undefined {
  if (bytes.length < ALIGNMENT) return undefined;
  // A copy of its own buffer: columns must be aligned.
  const own = Uint8Array.prototype.slice.call(bytes);
  const view = new DataView(own.buffer);
  const headBytes = view.getUint32(0, true);
  const idBytes = view.getUint32(4, true);
  if (headBytes % ALIGNMENT !== 0 || ALIGNMENT + headBytes > own.length) return undefined;
  const head = parseHead(Buffer.from(own.buffer, ALIGNMENT, headBytes).toString('utf8'));
  if (head === undefined) return undefined;
  const { count, ...rest } = head;
  const from = ALIGNMENT + headBytes;
  if (from + count * BYTES_A_NOTE + idBytes !== own.length) return undefined;
  const numbers = new Float64Array(own.buffer, from, 2 * count);
  const words = new Uint32Array(own.buffer, from + numbers.byteLength, 3 * count);
  const ids = Buffer.from(own.buffer, from + count * BYTES_A_NOTE, idBytes);
  function* records(): Iterable<ImageRecord> {
    let start = 0;
    for (let i = 0; i < count; i += 1) {
      const end = words[2 * count + i] ?? 0;
      yield {
        key: numbers[i] ?? 0,
        id: ids.toString('utf8', start, end),
        version: numbers[count + i] ?? 0,
        partition: words[i] ?? 0,
        attributes: rest.attributes[words[count + i] ?? 0] ?? {},
      };
      start = end;
    }
  }
  return { ...rest, records: { [Symbol.iterator]: () => records()[Symbol.iterator]() } };
}

function parseHead(text: string): Head | undefined {
  try {
    const head = JSON.parse(text) as Head;
    const lists = [head.tags, head.partitions, head.removed, head.attributes];
    const sound = Number.isSafeInteger(head.count) && head.count >= 0 && lists.every(Array.isArray);
    return sound ? head : undefined;
  } catch {
    return undefined; // its digest was right, so another program wrote it: refused like any other
  }
}
