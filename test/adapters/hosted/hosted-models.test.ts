import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createHostedEmbedder,
  type HostedEmbedder,
  type HostedEmbedderOptions,
} from '../../../src/adapters/hosted/hosted-embedder.js';
import { HostedReranker, type HostedRerankerOptions } from '../../../src/adapters/hosted/hosted-reranker.js';
import { type HostedKind, parseHostedName } from '../../../src/adapters/hosted/hosted-shapes.js';
import { type Behaviour, chanceOf, MisbehavingServer, numbersOf } from './misbehaving-server.js';

let server: MisbehavingServer;
beforeEach(async () => {
  server = await MisbehavingServer.start();
});
afterEach(() => server.stop());

const redact = (text: string) => text.replaceAll('hunter2', '[secret]');
const QUICK = { backoffMs: 1, timeoutMs: 1_000, redact };

function openEmbedder(kind: HostedKind, more: Partial<HostedEmbedderOptions> = {}): Promise<HostedEmbedder> {
  return createHostedEmbedder({ name: { kind, model: 'm-v3' }, baseUrl: server.baseUrl, ...QUICK, ...more });
}
const openReranker = (kind: HostedKind, more: Partial<HostedRerankerOptions> = {}) =>
  new HostedReranker({ name: { kind, model: 'm' }, baseUrl: server.baseUrl, ...QUICK, ...more });

function unit(text: string): number[] {
  const numbers = numbersOf(text);
  const length = Math.hypot(...numbers);
  return numbers.map((one) => one / length);
}
const rounded = (vector: Iterable<number>) => Array.from(vector, (one) => Number(one.toFixed(5)));

describe.each<[HostedKind, string, object, object]>([
  ['openai', '/v1/embeddings', { encoding_format: 'float' }, { encoding_format: 'float' }],
  ['cohere', '/v1/embed', { input_type: 'search_query' }, { input_type: 'search_document' }],
  ['jina', '/v1/embeddings', { task: 'retrieval.query' }, { task: 'retrieval.passage' }],
  ['voyage', '/v1/embeddings', { input_type: 'query' }, { input_type: 'document' }],
])('a hosted embedder of %s', (kind, path, query, passage) => {
  it('follows the published shape, gives unit vectors and counts what is billed', async () => {
    const embedder = await openEmbedder(kind, { key: 'sk-test' });
    expect(embedder.model).toMatchObject({ name: `${kind}:m-v3`, dimensions: 4 });
    const [a, b] = await embedder.embed(['alpha', 'beta'], { kind: 'passage' });
    expect(rounded(a!.vector)).toEqual(rounded(unit('alpha')));
    expect(rounded(b!.vector)).toEqual(rounded(unit('beta')));
    await embedder.embed(['gamma'], { kind: 'query' });
    const [, second, third] = server.received;
    expect(second).toMatchObject({ path, headers: { authorization: 'Bearer sk-test' }, body: passage });
    expect(second?.body.model).toBe('m-v3');
    expect(third?.body).toMatchObject(query);
    expect(embedder.usage().requests).toBe(3);
    // The two after the first, which asks for the dimensions.
    expect(embedder.usage().billedUnits).toBe(kind === 'cohere' ? 14 : 10);
  });
});

describe('a hosted embedder', () => {
  it.each<HostedKind>(['openai', 'jina', 'voyage'])('puts reordered answers of %s in order', async (kind) => {
    const embedder = await openEmbedder(kind);
    server.behaviours.push({
      change: (answer) => ({ ...answer, data: (answer.data as unknown[]).toReversed() }),
    });
    const [a, b] = await embedder.embed(['alpha', 'beta'], { kind: 'passage' });
    expect(rounded(a!.vector)).toEqual(rounded(unit('alpha')));
    expect(rounded(b!.vector)).toEqual(rounded(unit('beta')));
  });

  it('sends batches no larger than the service takes, and nothing for nothing', async () => {
    const embedder = await openEmbedder('cohere');
    expect(await embedder.embed([], { kind: 'passage' })).toEqual([]);
    const texts = Array.from({ length: 200 }, (_, at) => `${String.fromCharCode(65 + (at % 26))} text`);
    const embedded = await embedder.embed(texts, { kind: 'passage' });
    const sizes = () => server.received.map(({ body }) => (body.texts as string[]).length);
    expect(sizes()).toEqual([1, 96, 96, 8]);
    for (const [at, text] of texts.entries())
      expect(rounded(embedded[at]!.vector)).toEqual(rounded(unit(text)));
    const long = Array.from({ length: 5 }, () => 'x'.repeat(90_000));
    await embedder.embed(long, { kind: 'passage' });
    expect(sizes().slice(4)).toEqual([2, 2, 1]);
  });

  it('redacts before anything leaves, and prefixes where it is told to', async () => {
    const embedder = await openEmbedder('openai', { prefixes: { query: 'query: ', passage: 'passage: ' } });
    await embedder.embed(['the password is hunter2'], { kind: 'query' });
    expect(server.received.at(-1)?.body.input).toEqual(['query: the password is [secret]']);
    expect(JSON.stringify(server.received)).not.toContain('hunter2');
  });

  it.each<[string, Behaviour, number]>([
    ['429', { status: 429 }, 0],
    ['429 with Retry-After in seconds', { status: 429, headers: { 'retry-after': '0.15' } }, 140],
    [
      '503 with Retry-After as a date that is over',
      { status: 503, headers: { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' } },
      0,
    ],
    ['500', { status: 500 }, 0],
    ['a connection that breaks', 'break', 0],
    ['silence', 'silence', 990],
    ['half an answer', { raw: '{"data": [' }, 0],
  ])('asks again after %s', async (_, behaviour, leastMs) => {
    const embedder = await openEmbedder('openai');
    server.behaviours.push(behaviour);
    const startedMs = performance.now();
    expect(await embedder.embed(['alpha'], { kind: 'query' })).toHaveLength(1);
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(leastMs);
    expect(embedder.usage()).toMatchObject({ requests: 2, retries: 1 });
  });

  it.each([400, 401, 403, 404, 422])('does not ask again after %i, and shows no answer', async (status) => {
    const embedder = await openEmbedder('openai');
    server.behaviours.push({ status });
    await expect(embedder.embed(['alpha'], { kind: 'query' })).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: expect.stringMatching(new RegExp(`received HTTP ${status}$`)),
    });
    expect(server.received).toHaveLength(2);
  });

  it.each<[string, (data: { index: number; embedding: number[] }[]) => unknown, string]>([
    ['a short list', (data) => data.slice(1), 'MODEL_UNAVAILABLE'],
    ['one too many', (data) => [...data, { ...data[0], index: 9 }], 'MODEL_UNAVAILABLE'],
    ['an index twice', (data) => data.map((row) => ({ ...row, index: 0 })), 'MODEL_UNAVAILABLE'],
    ['null numbers', (data) => data.map((row) => ({ ...row, embedding: [null, 1, 1, 1] })), 'INVALID_VECTOR'],
    ['only zeros', (data) => data.map((row) => ({ ...row, embedding: [0, 0, 0, 0] })), 'INVALID_VECTOR'],
    ['other dimensions', (data) => data.map((row) => ({ ...row, embedding: [1, 2, 3] })), 'INVALID_VECTOR'],
    ['base64', (data) => data.map((row) => ({ ...row, embedding: 'AAAA' })), 'MODEL_UNAVAILABLE'],
  ])('refuses %s', async (_, change, code) => {
    const embedder = await openEmbedder('openai');
    server.behaviours.push({ change: (answer) => ({ ...answer, data: change(answer.data as never) }) });
    await expect(embedder.embed(['alpha', 'beta'], { kind: 'passage' })).rejects.toMatchObject({ code });
  });

  it('gives up at its deadline without waiting for a Retry-After beyond it', async () => {
    const embedder = await openEmbedder('openai', { deadlineMs: 5_000 });
    server.behaviours.push({ status: 429, headers: { 'retry-after': '60' } });
    const startedMs = performance.now();
    await expect(embedder.embed(['alpha'], { kind: 'query' })).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: /HTTP 429/,
    });
    expect(performance.now() - startedMs).toBeLessThan(4_000);
    expect(server.received).toHaveLength(2);
    const silent = await openEmbedder('openai', { maxAttempts: 2, timeoutMs: 300 });
    server.behaviours.push('silence', 'silence');
    await expect(silent.embed(['alpha'], { kind: 'query' })).rejects.toMatchObject({ code: 'TIMED_OUT' });
  });

  it('stops asking a service that fails, and tries again after the pause', async () => {
    const options = { maxAttempts: 1, breakerFailures: 3, breakerPauseMs: 1_500 };
    const embedder = await openEmbedder('openai', options);
    server.behaviours.push({ status: 500 }, { status: 500 }, { status: 500 });
    const ask = () => embedder.embed(['alpha'], { kind: 'query' });
    for (let at = 0; at < 3; at += 1) await expect(ask()).rejects.toMatchObject({ message: /HTTP 500/ });
    await expect(ask()).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE', message: /3 failures in a row/ });
    expect(server.received).toHaveLength(4);
    await expect.poll(ask).toHaveLength(1);
    expect(await ask()).toHaveLength(1);
  });

  it('ends with ABORTED, while it is sent and while it waits', async () => {
    const embedder = await openEmbedder('openai', { timeoutMs: 20_000 });
    for (const behaviour of ['silence', { status: 429, headers: { 'retry-after': '20' } }] as const) {
      server.behaviours.push(behaviour);
      const controller = new AbortController();
      const before = server.received.length;
      const asked = embedder.embed(['alpha'], { kind: 'query', signal: controller.signal });
      const ended = expect(asked).rejects.toMatchObject({ code: 'ABORTED' });
      await expect.poll(() => server.received.length).toBe(before + 1);
      controller.abort();
      await ended;
    }
    await embedder.close();
    await expect(embedder.embed(['alpha'], { kind: 'query' })).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('follows no redirect with its key', async () => {
    const embedder = await openEmbedder('openai', { key: 'sk-test', maxAttempts: 1 });
    server.behaviours.push({ status: 307, headers: { location: `${server.baseUrl}/elsewhere` } });
    await expect(embedder.embed(['alpha'], { kind: 'query' })).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
    });
    expect(server.received.some(({ path }) => path.includes('elsewhere'))).toBe(false);
  });
});

describe.each<HostedKind>(['cohere', 'jina', 'voyage'])('a hosted reranker of %s', (kind) => {
  it('gives the log-odds of each passage in the order asked', async () => {
    const reranker = openReranker(kind);
    const passages = ['short', 'a longer passage', 'x'.repeat(50), 'y'.repeat(400)];
    const logits = await reranker.rerank('which? hunter2', passages);
    const expected = passages.map((passage) => Math.log(chanceOf(passage) / (1 - chanceOf(passage))));
    expect(rounded(logits)).toEqual(rounded(expected));
    expect(logits[2]).toBeCloseTo(0);
    const body = { model: 'm', query: 'which? [secret]' };
    expect(server.received[0]).toMatchObject({ path: '/v1/rerank', body });
    expect(await reranker.rerank('which?', [])).toEqual([]);
    expect(server.received).toHaveLength(1);
    expect(reranker.usage().billedUnits).toBe(kind === 'cohere' ? 1 : 9);
  });

  it.each<[string, (rows: { index: number; relevance_score: number }[]) => unknown]>([
    ['a short list', (rows) => rows.slice(1)],
    ['an index twice', (rows) => rows.map((row) => ({ ...row, index: 0 }))],
    ['null for a score', (rows) => rows.map((row) => ({ ...row, relevance_score: null }))],
    ['texts for scores', (rows) => rows.map((row) => ({ ...row, relevance_score: 'high' }))],
  ])('refuses %s', async (_, change) => {
    const reranker = openReranker(kind);
    const field = kind === 'voyage' ? 'data' : 'results';
    server.behaviours.push({ change: (answer) => ({ ...answer, [field]: change(answer[field] as never) }) });
    await expect(reranker.rerank('q', ['a', 'b'])).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE' });
  });

  it('says TIMED_OUT where nothing comes in time', async () => {
    const reranker = openReranker(kind, { maxAttempts: 1, timeoutMs: 50 });
    server.behaviours.push('silence');
    await expect(reranker.rerank('q', ['a'])).rejects.toMatchObject({ code: 'TIMED_OUT' });
  });
});

describe('names of hosted models', () => {
  it('are told from those of local ones', () => {
    const name = parseHostedName('openai:text-embedding-3-small');
    expect(name).toEqual({ kind: 'openai', model: 'text-embedding-3-small' });
    expect(parseHostedName('openai:intfloat/e5-small-v2')?.model).toBe('intfloat/e5-small-v2');
    for (const local of ['all-MiniLM-L6-v2', 'bge-small-en-v1.5:fp32', './openai', 'openai:'])
      expect(parseHostedName(local)).toBeUndefined();
    expect(() => openReranker('openai')).toThrowError(expect.objectContaining({ code: 'INVALID_CONFIG' }));
  });
});
