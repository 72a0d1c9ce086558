import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createCachedChatModel } from '../../../src/adapters/chat/cached-chat-model.js';
import { createOpenAiChatModel } from '../../../src/adapters/chat/openai-chat-model.js';
import { limitChatModel } from '../../../src/evaluation/answers/limited-chat-model.js';
import { startChatService } from './chat-service.js';

type Service = Awaited<ReturnType<typeof startChatService>>;
let service: Service | undefined;
let folder: string | undefined;
afterEach(async () => {
  await service?.close();
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
});

const request = (content: string) => ({
  messages: [{ role: 'user' as const, content }],
  temperature: 0,
  seed: 1,
  maxTokens: 50,
});
const modelOf = ({ baseUrl }: Service, more = {}) =>
  createOpenAiChatModel({ baseUrl, model: 'm', apiKey: 'secret', backoffMs: 1, ...more });

describe('OpenAI-compatible chat', () => {
  it('sends what was asked and reads text and usage', async () => {
    service = await startChatService(() => 'VERDICT: PASS');
    const answer = await modelOf(service).complete(request('hello'));
    expect(answer).toEqual({ text: 'VERDICT: PASS', promptTokens: 100, completionTokens: 10, cached: false });
    expect(service.calls).toEqual([
      {
        model: 'm',
        messages: [{ role: 'user', content: 'hello' }],
        temperature: 0,
        seed: 1,
        max_tokens: 50,
        authorization: 'Bearer secret',
      },
    ]);
  });

  it.each([408, 409, 429, 500, 503])('tries again after HTTP %i', async (status) => {
    service = await startChatService((_call, response, attempt) => {
      if (attempt === 3) return 'ok';
      response.writeHead(status, { 'retry-after': '0' }).end();
      return undefined;
    });
    expect((await modelOf(service).complete(request('a'))).text).toBe('ok');
    expect(service.calls).toHaveLength(3);
  });

  it('gives up after its attempts, and at once where trying again cannot help; neither key nor prompt is quoted', async () => {
    service = await startChatService((call, response) => {
      response.writeHead(call.messages[0]?.content === 'denied' ? 401 : 500).end('prompt secret');
      return undefined;
    });
    const failure = await modelOf(service, { attempts: 2 })
      .complete(request('a'))
      .catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'MODEL_UNAVAILABLE' });
    expect(service.calls).toHaveLength(2);
    const denied = await modelOf(service)
      .complete(request('denied'))
      .catch((error: unknown) => error);
    expect(denied).toMatchObject({ code: 'MODEL_UNAVAILABLE', details: { status: 401 } });
    expect(service.calls).toHaveLength(3);
    expect(String(denied)).not.toMatch(/secret|denied/);
  });

  it('says when time ran out, and stops waiting on an interrupt', async () => {
    service = await startChatService(() => undefined);
    const slow = modelOf(service, { timeoutMs: 30, attempts: 1 }).complete(request('a'));
    await expect(slow).rejects.toMatchObject({ code: 'TIMED_OUT' });
    const controller = new AbortController();
    const waiting = modelOf(service).complete(request('b'), { signal: controller.signal });
    controller.abort();
    await expect(waiting).rejects.toMatchObject({ code: 'ABORTED' });
  });

  it.each(['{', '{"choices":[]}', '{"choices":[{"message":{"content":null}}]}'])(
    'refuses the body %s',
    async (body) => {
      service = await startChatService((_call, response) => {
        response.end(body);
        return undefined;
      });
      await expect(modelOf(service).complete(request('a'))).rejects.toMatchObject({
        code: 'MODEL_UNAVAILABLE',
      });
    },
  );
});

describe('kept answers', () => {
  it('ask once for the same request, also at the same time, and again for any other', async () => {
    service = await startChatService(({ messages }) => `re: ${messages[0]?.content}`);
    folder = mkdtempSync(join(tmpdir(), 'errata-chat-'));
    const model = createCachedChatModel(modelOf(service), folder, 'here');
    const both = await Promise.all([model.complete(request('a')), model.complete(request('a'))]);
    expect(both.map(({ text, cached }) => [text, cached])).toEqual([
      ['re: a', false],
      ['re: a', true],
    ]);
    const reopened = createCachedChatModel(modelOf(service), folder, 'here');
    expect(await reopened.complete(request('a'))).toMatchObject({ text: 're: a', cached: true });
    expect(service.calls).toHaveLength(1);
    await reopened.complete({ ...request('a'), seed: 2 });
    await createCachedChatModel(modelOf(service), folder, 'elsewhere').complete(request('a'));
    expect(service.calls).toHaveLength(3);
  });

  it('pass over a file that a crash cut off', async () => {
    service = await startChatService(() => 'whole');
    folder = mkdtempSync(join(tmpdir(), 'errata-chat-'));
    const model = createCachedChatModel(modelOf(service), folder, 'here');
    await model.complete(request('a'));
    const [file = ''] = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.json'),
    );
    writeFileSync(join(folder, file), '{"text":"wh');
    expect(await model.complete(request('a'))).toMatchObject({ text: 'whole', cached: false });
  });
});

describe('limits', () => {
  const free = { concurrency: 100, promptPrice: 0, completionPrice: 0 };

  it('hold calls at once to their number', async () => {
    service = await startChatService(() => new Promise((resolve) => setTimeout(() => resolve('ok'), 10)));
    const model = limitChatModel(modelOf(service), { ...free, concurrency: 3 });
    await Promise.all(Array.from({ length: 12 }, (_, index) => model.complete(request(String(index)))));
    expect(service.calls).toHaveLength(12);
    expect(service.mostAtOnce()).toBe(3);
    expect(model.spending()).toEqual({ calls: 12, promptTokens: 1_200, completionTokens: 120, cost: 0 });
  });

  it('end at the number of calls', async () => {
    service = await startChatService(() => 'ok');
    const model = limitChatModel(modelOf(service), { ...free, maxCalls: 2 });
    const all = await Promise.allSettled(['a', 'b', 'c'].map((content) => model.complete(request(content))));
    expect(all.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    expect(all[2]).toMatchObject({ reason: { code: 'BUDGET_EXCEEDED' } });
  });

  it('never overrun the budget, also with calls under way together', async () => {
    service = await startChatService(() => 'ok');
    // A call may cost (1 + 8) × 1 + 50 × 2 = 109 of a millionth at most, and costs 100 × 1 + 10 × 2 = 120 as this service counts.
    const prices = { promptPrice: 1, completionPrice: 2 };
    const model = limitChatModel(modelOf(service), { ...free, ...prices, maxCost: 300e-6 });
    const all = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => model.complete(request(String(index % 10)))),
    );
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect(model.spending()).toMatchObject({ calls: 2 });
    expect(model.spending().cost).toBeCloseTo(240e-6, 9);
  });
});
