import { readFile } from 'node:fs/promises';
import { type Encoding, Tokenizer } from '@anush008/tokenizers';
import { ErrataError } from '../../domain/errors.js';
import type { EncodedText, TextTokenizer } from '../../models/tokenizer.js';

/**
 * A long text is read in growing heads, so that 1 MB costs no more than its first thousands of characters (measured:
 * 1.2 s and 170 ms of blocked event loop against 5 ms). Ordinary text of maxTokens tokens is shorter than the first
 * head: English has 4 to 5 characters a token.
 */
const HEAD_CHARS_PER_TOKEN = 64;
const HEAD_GROWTH = 8;

/**
 * The Hugging Face tokenizers library (Rust) over a published tokenizer.json. Truncation and padding of the file are
 * ignored: some files say less than the model reads and pad every text. Encoding runs on libuv's thread pool.
 */
export class HubTokenizer implements TextTokenizer {
  readonly maxTokens: number;
  readonly #tokenizer: Tokenizer;
  /** Tokens left for the text beside those that the post-processor adds ([CLS] and [SEP]: 2). */
  readonly #room: number;

  private constructor(tokenizer: Tokenizer, maxTokens: number, specialTokens: number) {
    this.#tokenizer = tokenizer;
    this.maxTokens = maxTokens;
    this.#room = maxTokens - specialTokens;
  }

  /** Errors: `MODEL_UNAVAILABLE` where the file cannot be read or is not a tokenizer.json. */
  static async open(file: string, maxTokens: number): Promise<HubTokenizer> {
    try {
      const tokenizer = Tokenizer.fromString(await readFile(file, 'utf8'));
      tokenizer.disableTruncation();
      tokenizer.disablePadding();
      const empty = await tokenizer.encode('');
      return new HubTokenizer(tokenizer, maxTokens, empty.getLength());
    } catch (cause) {
      throw new ErrataError('MODEL_UNAVAILABLE', `Expected a tokenizer.json for ${file}, received an error`, {
        cause,
      });
    }
  }

  async encode(text: string, options: { readonly spans?: boolean } = {}): Promise<EncodedText> {
    const wantSpans = options.spans === true;
    try {
      for (let head = this.maxTokens * HEAD_CHARS_PER_TOKEN; head < text.length; head *= HEAD_GROWTH) {
        const encoding = await this.#tokens(text.slice(0, head));
        if (this.#holdsAllThatIsRead(encoding)) return this.#finish(encoding, text, wantSpans);
      }
      return this.#finish(await this.#tokens(text), text, wantSpans);
    } catch (cause) {
      throw new ErrataError('MODEL_UNAVAILABLE', 'Expected token ids from the tokenizer, received an error', {
        cause,
      });
    }
  }

  #tokens(text: string): Promise<Encoding> {
    return this.#tokenizer.encode(text, null, { addSpecialTokens: false });
  }

  /** Words are cut on their own, so only a head's last word can differ from the same word in the whole text. */
  #holdsAllThatIsRead(encoding: Encoding): boolean {
    const length = encoding.getLength();
    return length > this.#room && encoding.tokenToWord(this.#room - 1) !== encoding.tokenToWord(length - 1);
  }

  /** What the library does for truncation: room for the special tokens first. */
  #finish(encoding: Encoding, text: string, wantSpans: boolean): EncodedText {
    const truncated = encoding.getLength() > this.#room;
    // The direction must be said: the library's default here drops the beginning.
    if (truncated) encoding.truncate(this.#room, 0, 'right');
    const whole = this.#tokenizer.postProcess(encoding, null, true);
    const ids = Int32Array.from(whole.getIds());
    return wantSpans ? { ids, truncated, spans: toUtf16(whole.getOffsets(), text) } : { ids, truncated };
  }
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
