/**
 * Tells attacks from ordinary texts: a further signal of the injection screen.
 *
 * Errors: `MODEL_UNAVAILABLE`, `QUEUE_FULL`, `TIMED_OUT`, `CLOSED`.
 */
export interface TextClassifier {
  readonly modelId: string;
  /** Log-odds that each text is an attack, in the order given; what does not fit into the model is cut off. */
  attackLogOdds(texts: readonly string[]): Promise<readonly number[]>;
  close(): Promise<void>;
}
