import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface ChatCall {
  readonly model: string;
  readonly temperature: number;
  readonly seed: number;
  readonly max_tokens: number;
  readonly messages: readonly { readonly role: string; readonly content: string }[];
  readonly authorization: string | undefined;
}

/** An OpenAI-compatible service on a port of its own; `answer` gives a text, or answers by itself. */
export async function startChatService(
  answer: (call: ChatCall, response: ServerResponse, attempt: number) => string | undefined | Promise<string>,
) {
  const calls: ChatCall[] = [];
  let running = 0;
  let mostAtOnce = 0;
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    running += 1;
    mostAtOnce = Math.max(mostAtOnce, running);
    const body = JSON.parse(await text(request)) as Omit<ChatCall, 'authorization'>;
    const call = { ...body, authorization: request.headers.authorization };
    calls.push(call);
    const content = await answer(call, response, calls.length);
    running -= 1;
    if (content === undefined) return;
    const usage = { prompt_tokens: 100, completion_tokens: 10 };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ choices: [{ message: { role: 'assistant', content } }], usage }));
  };
  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    calls,
    mostAtOnce: () => mostAtOnce,
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
