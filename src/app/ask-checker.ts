import { createCachedChatModel } from '../adapters/chat/cached-chat-model.js';
import { createOpenAiChatModel } from '../adapters/chat/openai-chat-model.js';
import { createRedactedChatModel } from '../adapters/chat/redacted-chat-model.js';
import { createTokenCounters } from '../adapters/tokens/create-token-counters.js';
import type { AskCheckerRequest, AskCheckerResult, ChatRunLimits } from '../cli/cli-deps.js';
import type { Config } from '../config/config.js';
import type { Caller } from '../domain/api-key.js';
import { ErrataError } from '../domain/errors.js';
import { askChecker } from '../evaluation/answers/ask-checker.js';
import { type LimitedChatModel, limitChatModel } from '../evaluation/answers/limited-chat-model.js';
import type { ChatModel } from '../ports/chat-model.js';
import type { RetrievalQueries } from '../ports/use-cases.js';
import { redactionOf } from './open-models.js';

const CHECKER: Caller = { name: 'evaluate', roles: ['reader'] };

export interface ConfiguredChat {
  readonly chat: ChatModel;
  readonly spending: LimitedChatModel['spending'];
}

/**
 * The configured service, held to limits; what the cache answers costs nothing. Every message is redacted before it is sent or counted,
 * as texts for hosted models are: items and queries come from the caller, not from the store. Errors: `INVALID_CONFIG` where none is configured.
 */
export function configuredChat(config: Config, limits: ChatRunLimits): ConfiguredChat {
  const { chatUrl, chatModel, chatKey } = config;
  if (chatUrl === undefined || chatModel === undefined) {
    const name = chatUrl === undefined ? 'ERRATA_CHAT_URL (--chat-url)' : 'ERRATA_CHAT_MODEL (--chat-model)';
    throw new ErrataError('INVALID_CONFIG', `Expected a chat service for ${name}, received none`);
  }
  const service = createOpenAiChatModel({ baseUrl: chatUrl, model: chatModel, apiKey: chatKey });
  const limited = limitChatModel(service, limits);
  const kept = limits.cache === undefined ? limited : createCachedChatModel(limited, limits.cache, chatUrl);
  const chat = createRedactedChatModel(kept, redactionOf(config));
  return { chat, spending: () => limited.spending() };
}

export async function askConfiguredChecker(
  config: Config,
  retrieval: Pick<RetrievalQueries, 'retrieve'>,
  request: AskCheckerRequest,
): Promise<AskCheckerResult> {
  const { chat, spending } = configuredChat(config, request.limits);
  const answers = await askChecker({
    chat,
    retrieval,
    counter: createTokenCounters().get(),
    caller: CHECKER,
    namespace: request.namespace,
    cases: request.cases,
    instructions: request.instructions,
    attribute: request.attribute,
    concurrency: request.limits.concurrency,
    onProgress: (done, total) => request.onProgress?.({ done, total }),
    onAnswered: (answered) => request.onAnswered?.(answered, spending()),
    signal: request.signal,
  });
  return { ...answers, spending: spending(), checker: chat.modelId };
}
