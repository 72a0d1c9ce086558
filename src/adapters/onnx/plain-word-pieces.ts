import { z } from 'zod';

/** Tokens of one text without special ones. */
export interface WordPieces {
  readonly ids: readonly number[];
  /** UTF-16 offsets, two a token. */
  readonly spans: readonly number[];
}

/** The parts of a tokenizer.json that this reading of plain text knows; anything else is the library's business. */
const knownFile = z.object({
  normalizer: z.object({
    type: z.literal('BertNormalizer'),
    clean_text: z.literal(true),
    lowercase: z.boolean(),
  }),
  pre_tokenizer: z.object({ type: z.literal('BertPreTokenizer') }),
  added_tokens: z.array(z.object({ content: z.string().min(1), normalized: z.literal(false) })),
  model: z.object({
    type: z.literal('WordPiece'),
    unk_token: z.string(),
    continuing_subword_prefix: z.string(),
    max_input_chars_per_word: z.number().int().positive(),
    vocab: z.record(z.string(), z.number().int().nonnegative()),
  }),
});

const [LETTER, SPACE, PUNCTUATION, FOREIGN] = [0, 1, 2, 3];

/** Of the first 128 code units: what BERT's rules make of them. Control characters, which they drop, are left to the library. */
const CLASSES = Uint8Array.from({ length: 128 }, (_, code) => {
  const character = String.fromCharCode(code);
  if (/[\t\n\r ]/.test(character)) return SPACE;
  if (code < 0x20 || code === 0x7f) return FOREIGN;
  return /[0-9A-Za-z]/.test(character) ? LETTER : PUNCTUATION;
});

/** Dashes, quotes, bullets and dots (U+2010 to U+2027): punctuation of one unit, whose canonical form is itself. */
const isTypographic = (code: number): boolean => code >= 0x2010 && code <= 0x2027;

/** Longer texts are cut to what a model reads, which the library's way of growing heads does. */
const LONGEST = 8_192;

/**
 * BERT's WordPiece for plain text, ASCII and typographic punctuation, in JavaScript: some tens of microseconds on the calling thread,
 * where the library, which has no synchronous call, costs a change of thread there and back (0.4 ms a text on a busy machine). Plain
 * text has no accents, no CJK, no case without a counterpart, which are what tokenizers differ in; any other is left to the library.
 */
export class PlainWordPieces {
  readonly #vocabulary: ReadonlyMap<string, number>;
  readonly #unknown: number;
  readonly #prefix: string;
  readonly #longestWord: number;
  readonly #lowercase: boolean;
  readonly #added: readonly string[];

  private constructor(
    { model, normalizer, added_tokens: added }: z.infer<typeof knownFile>,
    unknown: number,
  ) {
    this.#vocabulary = new Map(Object.entries(model.vocab));
    this.#unknown = unknown;
    this.#prefix = model.continuing_subword_prefix;
    this.#longestWord = model.max_input_chars_per_word;
    this.#lowercase = normalizer.lowercase;
    this.#added = added.map(({ content }) => content);
  }

  /** Undefined for the text of a tokenizer.json of any other kind. */
  static of(file: string): PlainWordPieces | undefined {
    const known = knownFile.safeParse(JSON.parse(file)).data;
    const unknown = known?.model.vocab[known.model.unk_token];
    return known === undefined || unknown === undefined ? undefined : new PlainWordPieces(known, unknown);
  }

  /** Undefined for text that is the library's: other characters, control ones, special tokens by name, very long. */
  read(text: string): WordPieces | undefined {
    if (text.length > LONGEST || this.#added.some((content) => text.includes(content))) return undefined;
    const ids: number[] = [];
    const spans: number[] = [];
    const lower = this.#lowercase ? text.toLowerCase() : text;
    let start = 0;
    for (let at = 0; at < text.length; at += 1) {
      const code = text.charCodeAt(at);
      const kind = CLASSES[code] ?? (isTypographic(code) ? PUNCTUATION : FOREIGN);
      if (kind === LETTER) continue;
      if (kind === FOREIGN) return undefined;
      if (start < at) this.#word(lower, start, at, ids, spans);
      if (kind === PUNCTUATION) this.#word(lower, at, at + 1, ids, spans);
      start = at + 1;
    }
    if (start < text.length) this.#word(lower, start, text.length, ids, spans);
    return { ids, spans };
  }

  /** The longest known piece first, then the longest one of the rest; one unknown token where a rest has none. */
  #word(text: string, start: number, end: number, ids: number[], spans: number[]): void {
    const before = ids.length;
    let from = end - start > this.#longestWord ? end + 1 : start;
    while (from < end) {
      let to = end;
      let id: number | undefined;
      for (; to > from; to -= 1) {
        const piece = text.slice(from, to);
        id = this.#vocabulary.get(from === start ? piece : this.#prefix + piece);
        if (id !== undefined) break;
      }
      if (id === undefined) break;
      ids.push(id);
      spans.push(from, to);
      from = to;
    }
    if (from === end) return;
    ids.length = before;
    spans.length = 2 * before;
    ids.push(this.#unknown);
    spans.push(start, end);
  }
}
