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
const padded = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

/**
 * The directory section of schema/snapshot-v1.md: length of the head (u32) and of the ids (u32 each, 8 bytes in all), the head as JSON, then columns
 * over the notes: keys and versions (f64), partition and attributes (u32), ends of the ids (u32), and the ids as UTF-8.
 */
export function encodeDirectory(image: DirectoryImage): Uint8Array {
  const records = [...image.records];
  const count = records.length;
  const attributes: Attributes[] = [];
  const places = new Map<string, number>();
  const numbers = new Float64Array(2 * count);
  const words = new Uint32Array(3 * count);
  const ids: string[] = [];
  let end = 0;
  records.forEach((record, i) => {
    const json = JSON.stringify(record.attributes);
    let place = places.get(json);
    if (place === undefined) {
      place = attributes.push(record.attributes) - 1;
      places.set(json, place);
    }
    numbers[i] = record.key;
    numbers[count + i] = record.version;
    words[i] = record.partition;
    words[count + i] = place;
    end += Buffer.byteLength(record.id);
    words[2 * count + i] = end;
    ids.push(record.id);
  });
  const { nextKey, nextTag, tags, partitions, removed } = image;
  const head: Head = { nextKey, nextTag, tags, partitions, removed, attributes, count };
  const text = Buffer.from(JSON.stringify(head));
  const headBytes = padded(text.length);
  const bytes = Buffer.alloc(ALIGNMENT + headBytes + numbers.byteLength + words.byteLength + end, ' ');
  bytes.writeUInt32LE(headBytes, 0);
  bytes.writeUInt32LE(end, 4);
  let at = ALIGNMENT;
  for (const part of [text, numbers, words, Buffer.from(ids.join(''))]) {
    bytes.set(new Uint8Array(part.buffer, part.byteOffset, part.byteLength), at);
    at += part === text ? headBytes : part.byteLength;
  }
  return bytes;
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
  if (from + count * 28 + idBytes !== own.length) return undefined;
  const numbers = new Float64Array(own.buffer, from, 2 * count);
  const words = new Uint32Array(own.buffer, from + numbers.byteLength, 3 * count);
  const ids = Buffer.from(own.buffer, from + count * 28, idBytes);
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
