import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { ErrataError } from '../../domain/errors.js';
import type { ChatAnswer, ChatModel, ChatRequest } from '../../ports/chat-model.js';

export interface OpenAiChatOptions {
  /** Up to `/v1`; `/chat/completions` is added. */
  readonly baseUrl: string;
  readonly model: string;
  readonly apiKey?: string | undefined;
  readonly fetch?: typeof fetch | undefined;
  /** Of one attempt. Default 60 s. */
  readonly timeoutMs?: number | undefined;
  /** Default 5. */
  readonly attempts?: number | undefined;
  /** First pause before a new attempt, doubled each time; default 500 ms. */
  readonly backoffMs?: number | undefined;
}

/** Longest pause that a service may ask for with Retry-After. */
const MAX_PAUSE_MS = 60_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;

const answerSchema = z.looseObject({
  choices: z.array(z.looseObject({ message: z.looseObject({ content: z.string().nullable() }) })).min(1),
  usage: z
    .looseObject({ prompt_tokens: z.number().default(0), completion_tokens: z.number().default(0) })
    .nullish(),
});

/** A failed attempt that may succeed next time, with what the service says about when. */
class Retryable extends Error {
  readonly retryAfterMs: number | undefined;
  readonly timedOut: boolean;
  constructor(
    message: string,
    options: { retryAfterMs?: number | undefined; timedOut?: boolean; cause?: unknown },
  ) {
    super(message, { cause: options.cause });
    this.retryAfterMs = options.retryAfterMs;
    this.timedOut = options.timedOut ?? false;
  }
}

/**
 * Chat completions of an OpenAI-compatible service. Timeouts, connection errors and HTTP 408, 409, 429 and 5xx are tried again
 * after growing pauses; anything else is not. Errors quote neither prompt nor answer.
 */
export function createOpenAiChatModel(options: OpenAiChatOptions): ChatModel {
  const { model, attempts = 5, backoffMs = 500 } = options;
  return {
    modelId: model,
    async complete(request, { signal } = {}) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await once(options, request, signal);
        } catch (error) {
          if (!(error instanceof Retryable)) throw error;
          if (attempt >= attempts) {
            throw new ErrataError(error.timedOut ? 'TIMED_OUT' : 'MODEL_UNAVAILABLE', error.message, {
              cause: error.cause ?? error,
            });
          }
          // Half of the pause is chance, so that parallel requests do not come back together.
          const pause = backoffMs * 2 ** (attempt - 1) * (0.5 + Math.random() / 2);
          await wait(Math.min(MAX_PAUSE_MS, error.retryAfterMs ?? pause), signal);
        }
      }
    },
  };
}

async function once(
  { baseUrl, model, apiKey, fetch: send = fetch, timeoutMs = 60_000 }: OpenAiChatOptions,
  { messages, temperature, seed, maxTokens }: ChatRequest,
  signal: AbortSignal | undefined,
): Promise<ChatAnswer> {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await send(`${baseUrl.replace(/\/+$/, '')}/chat/completions`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      body: JSON.stringify({ model, messages, temperature, seed, max_tokens: maxTokens }),
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    if (!response.ok) {
      await response.body?.cancel();
      throw refusal(response);
    }
    return readAnswer(await response.text());
  } catch (cause) {
    if (cause instanceof ErrataError || cause instanceof Retryable) throw cause;
    if (signal?.aborted) throw aborted(cause);
    if (timeout.aborted) {
      throw new Retryable(`Expected a chat answer within ${timeoutMs} ms, received none`, {
        timedOut: true,
        cause,
      });
    }
    throw new Retryable('Expected a chat answer, received a connection error', { cause });
  }
}

function refusal(response: Response): Error {
  const text = `Expected HTTP 200 of the chat endpoint, received ${response.status}`;
  if (response.status >= 500 || [408, 409, 429].includes(response.status)) {
    return new Retryable(text, { retryAfterMs: retryAfter(response.headers.get('retry-after')) });
  }
  return new ErrataError('MODEL_UNAVAILABLE', text, { details: { status: response.status } });
}

/** Seconds or an HTTP date. */
function retryAfter(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = Number(header);
  const ms = Number.isFinite(seconds) ? seconds * 1_000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(0, ms) : undefined;
}

function readAnswer(body: string): ChatAnswer {
  const parsed = body.length > MAX_ANSWER_BYTES ? undefined : answerSchema.safeParse(parseJson(body));
  const content = parsed?.data?.choices[0]?.message.content;
  if (content == null) {
    throw new ErrataError('MODEL_UNAVAILABLE', 'Expected a chat completion with text, received another body');
  }
  const usage = parsed?.data?.usage;
  return {
    text: content,
    promptTokens: usage?.prompt_tokens ?? 0,
    completionTokens: usage?.completion_tokens ?? 0,
    cached: false,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, signal === undefined ? {} : { signal });
  } catch (cause) {
    throw aborted(cause);
  }
}

function aborted(cause: unknown): ErrataError {
  return new ErrataError('ABORTED', 'Expected to wait for a chat answer, received an interrupt', { cause });
}
