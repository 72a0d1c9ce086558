export interface EncodedText {
  /** `[tokens]`, special tokens included, at most the model's maxTokens; owned by the caller. */
  readonly ids: Int32Array<ArrayBuffer>;
  /** `[tokens, 2]` UTF-16 offsets into the text, equal for special tokens; only where they were asked for. */
  readonly spans?: Int32Array<ArrayBuffer> | undefined;
  /** Whether the text had more tokens than the model reads. */
  readonly truncated: boolean;
}

/** Text to token ids, exactly as the model's reference tokenizer does it. */
export interface TextTokenizer {
  readonly maxTokens: number;
  /** Off the event loop. A lone surrogate counts as U+FFFD. Errors: `MODEL_UNAVAILABLE` where the library fails. */
  encode(text: string, options?: { readonly spans?: boolean }): Promise<EncodedText>;
}
