import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ErrataError } from '../../src/domain/errors.js';
import { createGraphqlServer } from '../../src/graphql/create-graphql-server.js';
import { GRAPHQL_SERVER_DEFAULTS } from '../../src/graphql/server-config.js';
import { type InMemoryUseCases, populatedUseCases } from './doubles/in-memory-use-cases.js';
import { startTestServer, type TestServer } from './doubles/test-server.js';

let useCases: InMemoryUseCases;
let server: TestServer;

beforeAll(async () => {
  useCases = populatedUseCases();
  server = await startTestServer(useCases, { bodyLimitBytes: 1_000, reviewerBodyLimitBytes: 5_000 });
});
afterAll(() => server.close());
afterEach(() => useCases.interventions.clear());

const bodyOf = (sizeBytes: number): string => {
  const body = JSON.stringify({ query: '{ stats { notes } }', pad: '' });
  return body.replace('"pad":""', `"pad":"${'x'.repeat(sizeBytes - body.length)}"`);
};

/** Sends raw bytes and reads until the server closes. */
const raw = (text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.on('data', (data) => {
      answer += data;
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });

describe('the origin of a request', () => {
  it('is its connection and what the client calls itself, over HTTP and over WebSocket', async () => {
    const seen: unknown[] = [];
    const authenticate = useCases.keys.authenticate;
    Object.assign(useCases.keys, {
      authenticate: (key: string, from: unknown) => {
        seen.push(from);
        return authenticate(key);
      },
    });
    try {
      const headers = { 'user-agent': 'checker/2.1', 'x-forwarded-for': '203.0.113.7' };
      await server.query('{ stats { notes } }', { headers });
      const client = server.socket('reader-key');
      for await (const _ of client.iterate({ query: '{ stats { notes } }' })) break;
      await client.dispose();
    } finally {
      Object.assign(useCases.keys, { authenticate });
    }
    expect(seen[0]).toEqual({ via: 'API', address: '127.0.0.1', client: 'checker/2.1' });
    expect(seen.slice(1)).not.toEqual([]);
    for (const from of seen.slice(1)) expect(from).toMatchObject({ via: 'API', address: '127.0.0.1' });
  });
});

describe('bodies', () => {
  it.each([
    ['reader-key', 1_000],
    ['reviewer-key', 5_000],
  ])('of %s may have %d bytes and no more', async (key, limit) => {
    const authorization = `Bearer ${key}`;
    expect((await server.post(bodyOf(limit), { authorization })).status).toBe(200);
    const answer = await server.post(bodyOf(limit + 1), { authorization });
    expect(answer.status).toBe(413);
    expect(answer.errors).toMatchObject([
      { extensions: { code: 'INPUT_TOO_LARGE', details: { maximum: limit } } },
    ]);
  });

  it('are limited while they arrive where no length is told', async () => {
    const answer = await new Promise<{ status?: number | undefined; text: string }>((resolve, reject) => {
      const request = httpRequest(
        `${server.url}/graphql`,
        {
          method: 'POST',
          headers: { 'content-type': 'application/json', authorization: 'Bearer reader-key' },
        },
        (response) => {
          let text = '';
          response.on('data', (data) => {
            text += data;
          });
          response.on('end', () => resolve({ status: response.statusCode, text }));
        },
      );
      request.on('error', reject);
      for (let sent = 0; sent < 20; sent += 1) request.write('x'.repeat(500));
      request.end();
    });
    expect(answer.status).toBe(413);
    expect(answer.text).toContain('INPUT_TOO_LARGE');
  });

  it.each<[string, string | Uint8Array, string, number, string]>([
    ['JSON cut short', '{"query":', 'application/json', 400, 'INVALID_INPUT'],
    [
      'bytes that are not UTF-8',
      Buffer.from('7b227175657279223a22ff227d', 'hex'),
      'application/json',
      400,
      'INVALID_TEXT',
    ],
    ['an empty body', '', 'application/json', 400, 'INVALID_INPUT'],
    ['a number', '5', 'application/json', 400, 'BAD_REQUEST'],
    ['null', 'null', 'application/json', 400, 'BAD_REQUEST'],
    ['a query that is no text', '{"query":5}', 'application/json', 400, 'BAD_REQUEST'],
    [
      'variables that are a list',
      '{"query":"{ stats { notes } }","variables":[]}',
      'application/json',
      400,
      'BAD_REQUEST',
    ],
    ['a form', 'query={stats{notes}}', 'application/x-www-form-urlencoded', 415, 'INVALID_INPUT'],
    [
      'plain text, as a forged page could send',
      '{"query":"{ stats { notes } }"}',
      'text/plain',
      415,
      'INVALID_INPUT',
    ],
  ])('are refused with a code: %s', async (_name, body, type, status, code) => {
    const answer = await server.post(body, { 'content-type': type });
    expect([answer.status, answer.errors[0]?.extensions.code]).toEqual([status, code]);
    expect(answer.headers.get('cache-control')).toBe('no-store');
  });

  it('may poison no prototype', async () => {
    const answer = await server.post(
      '{"__proto__":{"polluted":1},"query":"{ stats { notes } }","variables":{"__proto__":{"x":1}}}',
    );
    expect(answer.status).toBe(200);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });
});

describe('requests', () => {
  it('of other methods, paths or forms get a coded answer', async () => {
    const put = await fetch(`${server.url}/graphql`, {
      method: 'PUT',
      headers: { authorization: 'Bearer admin-key' },
    });
    expect([put.status, await put.text()]).toEqual([404, expect.stringContaining('INVALID_INPUT')]);
    const path = await fetch(`${server.url}/nope`);
    expect([path.status, await path.text()]).toEqual([404, expect.stringContaining('INVALID_INPUT')]);
    const host = await raw(
      'GET /graphql?query={stats{notes}} HTTP/1.1\r\nHost: [\r\nConnection: close\r\n\r\n',
    );
    expect(host).toMatch(/^HTTP\/1.1 400 /);
    expect(host).toContain('INVALID_INPUT');
  });

  it('that the client gives up tell the use case', async () => {
    const aborted = new Promise<unknown>((resolve) => {
      useCases.interventions.set(
        'retrieve',
        (signal) =>
          new Promise((_, reject) => {
            signal?.addEventListener('abort', () => {
              resolve(signal.reason);
              reject(signal.reason);
            });
            giveUp.abort();
          }),
      );
    });
    const giveUp = new AbortController();
    const answer = fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer reader-key' },
      body: JSON.stringify({ query: '{ retrieve(input: { query: "x" }) { id } }' }),
      signal: giveUp.signal,
    });
    await expect(answer).rejects.toThrow();
    expect(await aborted).toMatchObject({ code: 'ABORTED' });
  });

  it('that take too long are answered and told to stop', async () => {
    const slow = await startTestServer(useCases, { requestTimeoutMs: 100 });
    let reason: unknown;
    useCases.interventions.set(
      'retrieve',
      (signal) =>
        new Promise(() => {
          signal?.addEventListener('abort', () => {
            reason = signal.reason;
          });
        }),
    );
    const { status, errors } = await slow.query('{ retrieve(input: { query: "x" }) { id } }');
    expect([status, errors[0]?.extensions]).toMatchObject([503, { code: 'TIMED_OUT', retryable: true }]);
    expect(reason).toMatchObject({ code: 'TIMED_OUT' });
    await slow.close();
  });

  it('leave one log line with name, time, status and caller, and nothing of their content', async () => {
    server.logs.length = 0;
    await server.query(
      'query Look($input: RetrieveInput!) { retrieve(input: $input) { notes { note { lesson } } } }',
      {
        key: 'reader-key',
        variables: { input: { query: 'PRIVATE QUESTION' } },
      },
    );
    await server.query('query Wrong { stats(namespace: 5) { notes } }');
    await expect.poll(() => server.logs.length).toBe(2);
    expect(server.logs[0]).toMatchObject({
      level: 'info',
      fields: { operation: 'Look', type: 'query', status: 200, caller: 'reader', ms: expect.any(Number) },
    });
    expect(server.logs[1]?.fields).toMatchObject({ status: 400, codes: ['INVALID_INPUT'], caller: 'admin' });
    expect(JSON.stringify(server.logs)).not.toMatch(/PRIVATE|lesson 0|reader-key/);
  });
});

describe('other origins', () => {
  const preflight = (target: TestServer, origin: string) =>
    fetch(`${target.url}/graphql`, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'POST' },
    });

  it('get no CORS header by default', async () => {
    const answer = await preflight(server, 'https://elsewhere.example');
    expect(answer.ok).toBe(false);
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('get it where trusted, others not', async () => {
    const open = await startTestServer(useCases, { trustedOrigins: ['https://desk.example'] });
    const trusted = await preflight(open, 'https://desk.example');
    expect([trusted.status, trusted.headers.get('access-control-allow-origin')]).toEqual([
      204,
      'https://desk.example',
    ]);
    expect(trusted.headers.get('access-control-allow-headers')).toContain('authorization');
    expect(
      (await preflight(open, 'https://elsewhere.example')).headers.get('access-control-allow-origin'),
    ).toBeNull();
    const answer = await open.query('{ stats { notes } }', { headers: { origin: 'https://desk.example' } });
    expect(answer.headers.get('access-control-allow-origin')).toBe('https://desk.example');
    await open.close();
  });
});

describe('probes', () => {
  it('tell alive from ready, without a key', async () => {
    const get = async (path: string): Promise<[number, unknown]> => {
      const response = await fetch(`${server.url}${path}`);
      return [response.status, await response.json()];
    };
    expect(await get('/healthz')).toEqual([200, { status: 'alive' }]);
    expect(await get('/readyz')).toEqual([200, { status: 'ready' }]);
    useCases.notReady = new ErrataError(
      'MODEL_NOT_INSTALLED',
      'Expected an installed model for embedder, received none',
    );
    expect(await get('/readyz')).toEqual([
      503,
      {
        status: 'unavailable',
        code: 'MODEL_NOT_INSTALLED',
        message: 'Expected an installed model for embedder, received none',
      },
    ]);
    useCases.notReady = new Error('secret path');
    expect(await get('/readyz')).toEqual([503, { status: 'unavailable', code: 'INTERNAL' }]);
    useCases.notReady = undefined;
    expect(await get('/healthz')).toEqual([200, { status: 'alive' }]);
  });
});

describe('listen()', () => {
  it('says what is wrong with host and port', async () => {
    await expect(startTestServer(useCases, { port: server.port })).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
      message: expect.stringContaining(`127.0.0.1:${server.port}, which is in use`),
      details: { port: server.port },
    });
    await expect(startTestServer(useCases, { host: '192.0.2.1' })).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
    });
  });
});

describe('close()', () => {
  it('lets running requests end, refuses new ones, and may be called twice', async () => {
    const own = populatedUseCases();
    const closing = await createGraphqlServer({
      useCases: own,
      config: { ...GRAPHQL_SERVER_DEFAULTS, host: '127.0.0.1', port: 0, cursorSecret: 'x'.repeat(32) },
      logger: {
        debug: () => undefined,
        info: () => undefined,
        warn: () => undefined,
        error: () => undefined,
      },
    });
    const { url } = await closing.listen();
    let release: () => void = () => undefined;
    const started = new Promise<void>((resolve) => {
      own.interventions.set('stats', () => {
        resolve();
        return new Promise<void>((go) => {
          release = go;
        });
      });
    });
    const ask = () =>
      fetch(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: 'Bearer reader-key' },
        body: '{"query":"{ stats { notes } }"}',
      });
    const running = ask();
    await started;
    const closed = Promise.all([closing.close(), closing.close()]);
    release();
    expect((await running).status).toBe(200);
    await closed;
    await expect(ask()).rejects.toThrow();
    await expect(closing.listen()).rejects.toMatchObject({ code: 'CLOSED' });
  });
});
