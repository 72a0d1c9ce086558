import type { ChatModel } from '../../ports/chat-model.js';

/**
 * Redacts every message before the model, its cache and its limits see it. Whole messages, so that one secret has one placeholder
 * in all parts of a prompt. `redact` must be pure, or a repeated run would miss the cache.
 */
export function createRedactedChatModel(model: ChatModel, redact: (text: string) => string): ChatModel {
  return {
    modelId: model.modelId,
    complete(request, options) {
      const messages = request.messages.map((message) => ({ ...message, content: redact(message.content) }));
      return model.complete({ ...request, messages }, options);
    },
  };
}
