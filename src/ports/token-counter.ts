/** Counts the tokens that a language model will see. */
export interface TokenCounter {
  /** `o200k_base`, `cl100k_base`, … */
  readonly name: string;
  count(text: string): number;
}

/** Errors: `UNKNOWN_TOKENIZER` naming the known ones. */
export interface TokenCounters {
  get(name?: string): TokenCounter;
  names(): readonly string[];
}
