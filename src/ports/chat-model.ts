export interface ChatMessage {
  readonly role: 'system' | 'user';
  readonly content: string;
}

export interface ChatRequest {
  readonly messages: readonly ChatMessage[];
  /** 0: as repeatable as the service is. */
  readonly temperature: number;
  /** Tells repeated requests apart, for services and caches alike. */
  readonly seed: number;
  /** Longest answer, in tokens of the model. */
  readonly maxTokens: number;
}

export interface ChatAnswer {
  readonly text: string;
  /** As the service counted them; 0 where it does not say. */
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Whether it came out of a cache: it cost nothing now. */
  readonly cached: boolean;
}

/**
 * A language model that answers: only evaluation needs one, retrieval never does.
 *
 * Errors: `MODEL_UNAVAILABLE`, `TIMED_OUT`, `ABORTED`, `BUDGET_EXCEEDED`.
 */
export interface ChatModel {
  readonly modelId: string;
  complete(request: ChatRequest, options?: { signal?: AbortSignal | undefined }): Promise<ChatAnswer>;
}
