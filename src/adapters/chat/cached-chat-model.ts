import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { ChatAnswer, ChatModel, ChatRequest } from '../../ports/chat-model.js';

const entrySchema = z.strictObject({
  text: z.string(),
  promptTokens: z.number(),
  completionTokens: z.number(),
});

/**
 * Answers kept in a folder, one file a request, so that a run that was stopped goes on where it was and the same run costs nothing.
 * The files hold answers, the requests only as digests. `scope` tells services of the same model name apart.
 */
export function createCachedChatModel(model: ChatModel, folder: string, scope: string): ChatModel {
  const running = new Map<string, Promise<ChatAnswer>>();

  async function lookUp(
    request: ChatRequest,
    signal: AbortSignal | undefined,
    key: string,
  ): Promise<ChatAnswer> {
    const file = join(folder, key.slice(0, 2), `${key}.json`);
    const kept = await readEntry(file);
    if (kept !== undefined) return { ...kept, cached: true };
    const answer = await model.complete(request, { signal });
    const { text, promptTokens, completionTokens } = answer;
    await mkdir(dirname(file), { recursive: true });
    const part = `${file}.${randomUUID()}.part`;
    await writeFile(part, JSON.stringify({ text, promptTokens, completionTokens }));
    await rename(part, file);
    return answer;
  }

  return {
    modelId: model.modelId,
    complete(request, { signal } = {}) {
      const key = createHash('sha256')
        .update(JSON.stringify([scope, model.modelId, request]))
        .digest('hex');
      const waiting = running.get(key);
      if (waiting !== undefined) return waiting.then((answer) => ({ ...answer, cached: true }));
      const answer = lookUp(request, signal, key).finally(() => running.delete(key));
      running.set(key, answer);
      return answer;
    },
  };
}

/** Undefined where there is none, or one that a crash cut off or that another version wrote. */
async function readEntry(file: string): Promise<z.infer<typeof entrySchema> | undefined> {
  try {
    return entrySchema.safeParse(JSON.parse(await readFile(file, 'utf8'))).data;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
