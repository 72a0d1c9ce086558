import { readFile } from 'node:fs/promises';
import { type Encoding, Tokenizer } from '@anush008/tokenizers';
import { ErrataError } from '../../domain/errors.js';
import type { EncodedPair, EncodedText, TextTokenizer } from '../../models/tokenizer.js';
import { longestFirst, PlainTextReader } from './plain-text-reader.js';

/**
 * A long text is read in growing heads, so that 1 MB costs no more than its first thousands of characters (measured:
 * 1.2 s and 170 ms of blocked event loop against 5 ms). Ordinary text of maxTokens tokens is shorter than the first
 * head: English has 4 to 5 characters a token.
 */
const HEAD_CHARS_PER_TOKEN = 64;
const HEAD_GROWTH = 8;
/** Characters a token up to which a text hardly ever has to be cut: special tokens are then added in the first call. */
const SURELY_SHORT = 3;

/**
 * The Hugging Face tokenizers library (Rust) over a published tokenizer.json. Truncation and padding of the file are
 * ignored: some files say less than the model reads and pad every text. Encoding runs on libuv's thread pool, but for plain
 * text of a BERT tokenizer, which is read at once (`PlainTextReader`).
 */
export class HubTokenizer implements TextTokenizer {
  readonly maxTokens: number;
  readonly #tokenizer: Tokenizer;
  readonly #plain: PlainTextReader | undefined;
  /** Tokens left for the text beside those that the post-processor adds ([CLS] and [SEP]: 2). */
  readonly #room: number;
  /** The same for both texts of a pair. */
  readonly #pairRoom: number;

  private constructor(
    tokenizer: Tokenizer,
    maxTokens: number,
    own: { readonly single: number; readonly pair: number; readonly plain: PlainTextReader | undefined },
  ) {
    this.#tokenizer = tokenizer;
    this.#plain = own.plain;
    this.maxTokens = maxTokens;
    this.#room = maxTokens - own.single;
    this.#pairRoom = maxTokens - own.pair;
  }

  /** Errors: `MODEL_UNAVAILABLE` where the file cannot be read or is not a tokenizer.json. */
  static async open(file: string, maxTokens: number): Promise<HubTokenizer> {
    try {
      const json = await readFile(file, 'utf8');
      const tokenizer = Tokenizer.fromString(json);
      tokenizer.disableTruncation();
      tokenizer.disablePadding();
      const [single, pair] = [await tokenizer.encode(''), await tokenizer.encode('', '')];
      const plain = await PlainTextReader.beside(tokenizer, json);
      return new HubTokenizer(tokenizer, maxTokens, {
        single: single.getLength(),
        pair: pair.getLength(),
        plain,
      });
    } catch (cause) {
      throw new ErrataError('MODEL_UNAVAILABLE', `Expected a tokenizer.json for ${file}, received an error`, {
        cause,
      });
    }
  }

  async encode(text: string, options: { readonly spans?: boolean } = {}): Promise<EncodedText> {
    const wantSpans = options.spans === true;
    const plain = this.#plain?.encode(text, this.#room, wantSpans);
    if (plain !== undefined) return plain;
    try {
      if (text.length <= this.maxTokens * SURELY_SHORT) {
        const whole = await this.#tokenizer.encode(text);
        if (whole.getLength() <= this.maxTokens) {
          const ids = Int32Array.from(whole.getIds());
          return wantSpans
            ? { ids, truncated: false, spans: toUtf16(whole.getOffsets(), text) }
            : { ids, truncated: false };
        }
      }
      return this.#finish(await this.#enough(text, this.#room), text, wantSpans);
    } catch (cause) {
      throw new ErrataError('MODEL_UNAVAILABLE', 'Expected token ids from the tokenizer, received an error', {
        cause,
      });
    }
  }

  async encodePairs(first: string, seconds: readonly string[]): Promise<readonly EncodedPair[]> {
    const room = this.#pairRoom;
    const plainFirst = this.#plain?.read(first);
    try {
      return await Promise.all(
        seconds.map(async (second) => {
          const plain = plainFirst && this.#plain?.encodePair(plainFirst, second, room);
          if (plain !== undefined) return plain;
          // Anew for each pair, since cutting changes the encoding; a query costs a tenth of a millisecond.
          const a = await this.#enough(first, room);
          const b = await this.#enough(second, room);
          const [keepA, keepB] = longestFirst(a.getLength(), b.getLength(), room);
          const truncated = keepA < a.getLength() || keepB < b.getLength();
          if (keepA < a.getLength()) a.truncate(keepA, 0, 'right');
          if (keepB < b.getLength()) b.truncate(keepB, 0, 'right');
          const whole = this.#tokenizer.postProcess(a, b, true);
          return {
            ids: Int32Array.from(whole.getIds()),
            typeIds: Int32Array.from(whole.getTypeIds()),
            truncated,
          };
        }),
      );
    } catch (cause) {
      throw new ErrataError('MODEL_UNAVAILABLE', 'Expected token ids from the tokenizer, received an error', {
        cause,
      });
    }
  }

  /** The tokens of the text, or of a head that holds more than there is room for. */
  async #enough(text: string, room: number): Promise<Encoding> {
    for (let head = this.maxTokens * HEAD_CHARS_PER_TOKEN; head < text.length; head *= HEAD_GROWTH) {
      const encoding = await this.#tokens(text.slice(0, head));
      if (holdsAllThatIsRead(encoding, room)) return encoding;
    }
    return this.#tokens(text);
  }

  #tokens(text: string): Promise<Encoding> {
    return this.#tokenizer.encode(text, null, { addSpecialTokens: false });
  }

  /** What the library does for truncation: room for the special tokens first. */
  #finish(encoding: Encoding, text: string, wantSpans: boolean): EncodedText {
    const truncated = encoding.getLength() > this.#room;
    // The direction must be said: the library's default here drops the beginning.
    if (truncated) encoding.truncate(this.#room, 0, 'right');
    // Byte-level processors trim offsets whenever they run, so that these are taken before the second time.
    const offsets = wantSpans ? toUtf16(encoding.getOffsets(), text) : undefined;
    const whole = this.#tokenizer.postProcess(encoding, null, true);
    const ids = Int32Array.from(whole.getIds());
    if (offsets === undefined) return { ids, truncated };
    const spans = new Int32Array(2 * ids.length);
    // Special tokens stand before and behind the text; theirs stay empty.
    spans.set(offsets, 2 * Math.max(0, whole.getSpecialTokensMask().indexOf(0)));
    return { ids, truncated, spans };
  }
}

/** Words are cut on their own, so only a head's last word can differ from the same word in the whole text. */
function holdsAllThatIsRead(encoding: Encoding, room: number): boolean {
  const length = encoding.getLength();
  return length > room && encoding.tokenToWord(room - 1) !== encoding.tokenToWord(length - 1);
}

/** The library counts code points; beyond the basic plane one is two UTF-16 units. */
function toUtf16(offsets: readonly (readonly number[])[], text: string): Int32Array<ArrayBuffer> {
  const flat = Int32Array.from(offsets.flat());
  if (!/[\ud800-\udfff]/.test(text)) return flat;
  const starts: number[] = [];
  let at = 0;
  for (const character of text) {
    starts.push(at);
    at += character.length;
  }
  return flat.map((offset) => starts[offset] ?? at);
}
