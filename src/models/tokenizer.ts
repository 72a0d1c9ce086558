export interface EncodedText {
  /** `[tokens]`, special tokens included, at most the model's maxTokens; owned by the caller. */
  readonly ids: Int32Array<ArrayBuffer>;
  /** `[tokens, 2]` UTF-16 offsets into the text, equal for special tokens; only where they were asked for. */
  readonly spans?: Int32Array<ArrayBuffer> | undefined;
  /** Whether the text had more tokens than the model reads. */
  readonly truncated: boolean;
}

export interface EncodedPair {
  /** `[tokens]`, special tokens included, at most the model's maxTokens; owned by the caller. */
  readonly ids: Int32Array<ArrayBuffer>;
  /** `[tokens]`: 0 for the first text, 1 for the second, as the model's template says. */
  readonly typeIds: Int32Array<ArrayBuffer>;
  /** Whether one of the texts was cut. */
  readonly truncated: boolean;
}

/** Text to token ids, exactly as the model's reference tokenizer does it. */
export interface TextTokenizer {
  readonly maxTokens: number;
  /** Off the event loop but for what takes some tens of microseconds. A lone surrogate counts as U+FFFD. Errors: `MODEL_UNAVAILABLE` where the library fails. */
  encode(text: string, options?: { readonly spans?: boolean }): Promise<EncodedText>;
  /**
   * Each second text behind the first. Where both do not fit, the longer one is cut first (`longest_first`), so that neither
   * is lost. Errors: as `encode`.
   */
  encodePairs(first: string, seconds: readonly string[]): Promise<readonly EncodedPair[]>;
}
