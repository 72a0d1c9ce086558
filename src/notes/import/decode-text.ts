import { isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';
import { ErrataError } from '../../domain/errors.js';

export interface FileBytes {
  /** Base name, for messages. */
  readonly fileName: string;
  readonly bytes: Uint8Array;
  /** A label such as `windows-1252` or `shift_jis`; none: UTF-8, or UTF-16 with a byte order mark. */
  readonly encoding?: string | undefined;
}

export interface DecodedText {
  /** Without byte order mark. */
  readonly text: string;
  readonly encoding: string;
  /** Offset in the file of a position in the text, in bytes. O(index). */
  byteOffset(index: number): number;
}

const UTF_8_LABEL = /^utf-?8$/iu;
const UTF_16_LABEL = /^utf-?16(le|be)?$/iu;

/**
 * Decodes a file. Nothing is guessed from statistics: a declared encoding is used, a byte order mark is believed, and what
 * is neither must be UTF-8. Nothing is replaced either: a byte that does not fit refuses the file.
 *
 * Errors: `UNSUPPORTED_ENCODING` naming the file and the offset of the first byte that does not fit, or the unknown label.
 */
export function decodeText({ fileName, bytes, encoding }: FileBytes): DecodedText {
  const mark = byteOrderMark(bytes);
  const label = encoding ?? mark?.encoding ?? 'utf-8';
  const skip = mark !== undefined && sameFamily(mark.encoding, label) ? mark.length : 0;
  const content = bytes.subarray(skip);
  if (UTF_8_LABEL.test(label)) {
    return decodeUtf8(fileName, content, skip, encoding !== undefined);
  }
  const known: boolean = iconv.encodingExists(label);
  if (!known) {
    throw new ErrataError(
      'UNSUPPORTED_ENCODING',
      `Expected a known encoding label for ${fileName}, received ${JSON.stringify(label.slice(0, 40))}`,
      { details: { file: fileName } },
    );
  }
  const effective = UTF_16_LABEL.test(label)
    ? (mark?.encoding ?? (label.includes('-') ? label : 'utf-16le'))
    : label;
  const buffer = Buffer.from(content.buffer, content.byteOffset, content.byteLength);
  const text = iconv.decode(buffer, effective, { stripBOM: false });
  const byteOffset = (index: number): number =>
    skip + iconv.encode(text.slice(0, index), effective, { addBOM: false }).length;
  // Every decoder marks what it cannot read with U+FFFD or a lone surrogate; no such character belongs in a note.
  const wrong = text.search(/\uFFFD|\p{Surrogate}/u);
  if (wrong >= 0) {
    throw unreadable(fileName, byteOffset(wrong), label);
  }
  if (UTF_16_LABEL.test(label) && content.byteLength % 2 === 1) {
    throw unreadable(fileName, bytes.byteLength - 1, label);
  }
  return { text, encoding: effective, byteOffset };
}

function decodeUtf8(fileName: string, content: Uint8Array, skip: number, declared: boolean): DecodedText {
  if (!isUtf8(content)) {
    throw unreadable(fileName, skip + firstInvalidUtf8(content), declared ? 'utf-8' : undefined);
  }
  const nul = content.indexOf(0);
  if (nul >= 0) {
    throw unreadable(fileName, skip + nul, declared ? 'utf-8' : undefined);
  }
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(content);
  return {
    text,
    encoding: 'utf-8',
    byteOffset: (index) => skip + Buffer.byteLength(text.slice(0, index), 'utf8'),
  };
}

function byteOrderMark(
  bytes: Uint8Array,
): { readonly encoding: string; readonly length: number } | undefined {
  const [a, b, c] = bytes;
  if (a === 0xef && b === 0xbb && c === 0xbf) {
    return { encoding: 'utf-8', length: 3 };
  }
  if (a === 0xff && b === 0xfe) {
    return { encoding: 'utf-16le', length: 2 };
  }
  return a === 0xfe && b === 0xff ? { encoding: 'utf-16be', length: 2 } : undefined;
}

function sameFamily(mark: string, label: string): boolean {
  return UTF_8_LABEL.test(mark) ? UTF_8_LABEL.test(label) : UTF_16_LABEL.test(label);
}

function unreadable(fileName: string, offset: number, declared: string | undefined): ErrataError {
  const expected = declared ?? 'UTF-8, UTF-16 with a byte order mark, or a declared encoding';
  return new ErrataError(
    'UNSUPPORTED_ENCODING',
    `Expected ${expected} for ${fileName}, received a byte that does not fit at offset ${offset}`,
    { details: { file: fileName, byteOffset: offset } },
  );
}

/** The decoder reports failure but not where: halving finds the longest prefix that decodes. O(n log n), on the error path only. */
function firstInvalidUtf8(content: Uint8Array): number {
  let valid = 0;
  let invalid = content.byteLength;
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >> 1;
    if (isUtf8Prefix(content.subarray(0, middle))) {
      valid = middle;
    } else {
      invalid = middle;
    }
  }
  return startOfCharacter(content, valid);
}

/** Whether bytes are UTF-8 but for a last character that is cut off. */
function isUtf8Prefix(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    // The question was whether it throws.
    return false;
  }
}

/** A broken sequence is reported where it begins, not at the byte that broke it. */
function startOfCharacter(content: Uint8Array, index: number): number {
  for (let start = index; start > Math.max(0, index - 3); start -= 1) {
    const before = content[start - 1] ?? 0;
    if (before >= 0xc0 && !isUtf8(content.subarray(start - 1, index))) {
      return start - 1;
    }
    if (before < 0x80) {
      break;
    }
  }
  return index;
}
