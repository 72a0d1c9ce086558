import type { Tokenizer } from '@anush008/tokenizers';
import type { EncodedPair, EncodedText } from '../../models/tokenizer.js';
import { PlainWordPieces, type WordPieces } from './plain-word-pieces.js';

/** What a file's reading is tried on before it is used: words in pieces, unknown and long ones, punctuation, case, empty. */
const TRIALS = [
  '',
  'Plain text.',
  "Don't re-run parse_url() @ 3.14e-9; see https://example.org/a?b=c&d=[1]",
  `UnbelievablyLongIdentifierNames ${'x'.repeat(101)} ~~ {}`,
  ' \t two  spaces\r\nand a line ',
  'a reviewer’s “quote” – and more…',
];

/** Plain text of BERT tokenizers to ids with special tokens, on the calling thread; the same ids as the library's. */
export class PlainTextReader {
  readonly #pieces: PlainWordPieces;
  readonly #cls: number;
  readonly #sep: number;

  private constructor(pieces: PlainWordPieces, cls: number, sep: number) {
    this.#pieces = pieces;
    this.#cls = cls;
    this.#sep = sep;
  }

  /**
   * Undefined where the file is of another kind, its template is not `[CLS] a [SEP] b [SEP]` with types 0 and 1, or the library
   * reads a trial text differently. `json` is the file that the tokenizer was made of.
   */
  static async beside(tokenizer: Tokenizer, json: string): Promise<PlainTextReader | undefined> {
    const pieces = PlainWordPieces.of(json);
    if (pieces === undefined) return undefined;
    const [cls, sep, ...more] = (await tokenizer.encode('')).getIds();
    if (cls === undefined || sep === undefined || more.length > 0) return undefined;
    const reader = new PlainTextReader(pieces, cls, sep);
    for (const [at, text] of TRIALS.entries()) {
      const other = TRIALS[(at + 1) % TRIALS.length] ?? '';
      const single = await tokenizer.encode(text);
      const pair = await tokenizer.encode(text, other);
      const first = reader.read(text);
      const ours = first && reader.encodePair(first, other, Number.POSITIVE_INFINITY);
      const same =
        String(reader.encode(text, Number.POSITIVE_INFINITY, true)?.ids) === String(single.getIds()) &&
        String(ours?.ids) === String(pair.getIds()) &&
        String(ours?.typeIds) === String(pair.getTypeIds());
      if (!same) return undefined;
    }
    return reader;
  }

  /** A text's pieces for `encodePair`; undefined for text that is the library's. */
  read(text: string): WordPieces | undefined {
    return this.#pieces.read(text);
  }

  /** At most `room` tokens beside the special ones; undefined for text that is the library's. */
  encode(text: string, room: number, wantSpans: boolean): EncodedText | undefined {
    const pieces = this.#pieces.read(text);
    if (pieces === undefined) return undefined;
    const kept = Math.min(pieces.ids.length, room);
    const ids = new Int32Array(kept + 2);
    ids[0] = this.#cls;
    put(ids, 1, pieces.ids, kept);
    ids[kept + 1] = this.#sep;
    const truncated = kept < pieces.ids.length;
    if (!wantSpans) return { ids, truncated };
    const spans = new Int32Array(2 * ids.length);
    put(spans, 2, pieces.spans, 2 * kept);
    return { ids, truncated, spans };
  }

  /** At most `room` tokens of both beside the special ones; undefined where the second text is the library's. */
  encodePair(first: WordPieces, second: string, room: number): EncodedPair | undefined {
    const pieces = this.#pieces.read(second);
    if (pieces === undefined) return undefined;
    const [keepFirst, keepSecond] = longestFirst(first.ids.length, pieces.ids.length, room);
    const ids = new Int32Array(keepFirst + keepSecond + 3);
    ids[0] = this.#cls;
    put(ids, 1, first.ids, keepFirst);
    ids[keepFirst + 1] = this.#sep;
    put(ids, keepFirst + 2, pieces.ids, keepSecond);
    ids[ids.length - 1] = this.#sep;
    return {
      ids,
      typeIds: new Int32Array(ids.length).fill(1, keepFirst + 2),
      truncated: keepFirst < first.ids.length || keepSecond < pieces.ids.length,
    };
  }
}

function put(into: Int32Array, at: number, values: readonly number[], count: number): void {
  for (let i = 0; i < count; i += 1) into[at + i] = values[i] ?? 0;
}

/** As the library's own truncation: the longer text gives way, equal ones share, the second takes an odd token. */
export function longestFirst(a: number, b: number, room: number): readonly [number, number] {
  if (a + b <= room) return [a, b];
  const [short, long] = a <= b ? [a, b] : [b, a];
  let keepShort = short;
  let keepLong = Math.min(long, Math.max(short, room - short));
  if (keepShort + keepLong > room) {
    keepShort = Math.floor(room / 2);
    keepLong = keepShort + (room % 2);
  }
  return a <= b ? [keepShort, keepLong] : [keepLong, keepShort];
}
