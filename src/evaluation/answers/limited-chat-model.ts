import { ErrataError } from '../../domain/errors.js';
import type { ChatAnswer, ChatModel, ChatRequest } from '../../ports/chat-model.js';

export interface ChatLimits {
  readonly concurrency: number;
  /** None: any number. */
  readonly maxCalls?: number | undefined;
  /** In the currency of the prices. */
  readonly maxCost?: number | undefined;
  /** For a million tokens. */
  readonly promptPrice: number;
  readonly completionPrice: number;
}

export interface ChatSpending {
  readonly calls: number;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cost: number;
}

export interface LimitedChatModel extends ChatModel {
  spending(): ChatSpending;
}

/** No tokeniser of today makes more tokens than that of UTF-8 bytes; roles and separators add a few. */
const TOKENS_A_MESSAGE = 8;

/**
 * Holds a model to so many calls at once, in all, and to so much money. What a call may cost at most is set aside before it is made, so
 * that calls under way together cannot overrun the budget. Errors: `BUDGET_EXCEEDED`.
 */
export function limitChatModel(model: ChatModel, limits: ChatLimits): LimitedChatModel {
  const { concurrency, maxCalls, maxCost, promptPrice, completionPrice } = limits;
  const costOf = (promptTokens: number, completionTokens: number) =>
    (promptTokens * promptPrice + completionTokens * completionPrice) / 1e6;
  let spent = { calls: 0, promptTokens: 0, completionTokens: 0, cost: 0 };
  let reserved = 0;
  let running = 0;
  const queue: (() => void)[] = [];

  async function enter(): Promise<void> {
    if (running >= concurrency) await new Promise<void>((resolve) => queue.push(resolve));
    else running += 1;
  }
  function leave(): void {
    const next = queue.shift();
    if (next === undefined) running -= 1;
    else next();
  }

  function reserve(request: ChatRequest): number {
    if (maxCalls !== undefined && spent.calls >= maxCalls) throw exceeded(`at most ${maxCalls} calls`);
    const worst = costOf(mostPromptTokens(request), request.maxTokens);
    if (maxCost !== undefined && spent.cost + reserved + worst > maxCost)
      throw exceeded(`a cost of at most ${maxCost}`);
    spent = { ...spent, calls: spent.calls + 1 };
    reserved += worst;
    return worst;
  }

  return {
    modelId: model.modelId,
    spending: () => spent,
    async complete(request, options) {
      await enter();
      try {
        const worst = reserve(request);
        let answer: ChatAnswer | undefined;
        try {
          answer = await model.complete(request, options);
          return answer;
        } finally {
          reserved -= worst;
          // A call that failed may have been charged all the same.
          const known = answer !== undefined && answer.promptTokens > 0;
          spent = {
            calls: spent.calls,
            promptTokens: spent.promptTokens + (answer?.promptTokens ?? 0),
            completionTokens: spent.completionTokens + (answer?.completionTokens ?? 0),
            cost:
              spent.cost + (known ? costOf(answer?.promptTokens ?? 0, answer?.completionTokens ?? 0) : worst),
          };
        }
      } finally {
        leave();
      }
    },
  };
}

function mostPromptTokens({ messages }: ChatRequest): number {
  return messages.reduce((sum, { content }) => sum + Buffer.byteLength(content) + TOKENS_A_MESSAGE, 0);
}

function exceeded(limit: string): ErrataError {
  return new ErrataError('BUDGET_EXCEEDED', `Expected ${limit} for this run, received a call beyond`);
}
