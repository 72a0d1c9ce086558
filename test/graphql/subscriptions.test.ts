import type { Client } from 'graphql-ws';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import WebSocket from 'ws';
import { type InMemoryUseCases, populatedUseCases } from './doubles/in-memory-use-cases.js';
import { noteId } from './doubles/sample-notes.js';
import { startTestServer, type TestServer } from './doubles/test-server.js';

let useCases: InMemoryUseCases;
let server: TestServer;

beforeAll(async () => {
  useCases = populatedUseCases();
  await useCases.jobs.start({ name: 'x', roles: ['admin'] }, 'BACKFILL', undefined, {});
  server = await startTestServer(useCases, {
    webSocket: {
      maxConnections: 10,
      maxSubscriptions: 3,
      connectionInitTimeoutMs: 200,
      keepAliveMs: 100,
      maxPayloadBytes: 10_000,
    },
  });
});
afterAll(() => server.close());

const CHANGED = 'subscription { noteChanged { id version status supersededBy { id version } } }';

/** A bare socket; `closed` resolves with the code. */
function open(headers: Record<string, string> = {}): { socket: WebSocket; closed: Promise<number> } {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/graphql`, 'graphql-transport-ws', { headers });
  const closed = new Promise<number>((resolve) => {
    socket.on('close', (code) => resolve(code));
    socket.on('error', () => resolve(-1));
  });
  return { socket, closed };
}

const follow = (client: Client, query: string) => client.iterate<Record<string, unknown>>({ query });

describe('noteChanged', () => {
  it('delivers what changes, with what hangs on it fresh each time, and cleans up', async () => {
    const events = follow(server.socket('reader-key'), CHANGED);
    const first = events.next();
    await expect.poll(() => useCases.feeds.size).toBe(1);
    await server.query(`mutation { deprecateNotes(ids: ["${noteId(10)}"], reason: "x") { id } }`);
    expect((await first).value.data.noteChanged).toEqual({
      id: noteId(10),
      version: 2,
      status: 'DEPRECATED',
      supersededBy: { id: noteId(11), version: 1 },
    });
    await server.query(`mutation { deprecateNotes(ids: ["${noteId(11)}"], reason: "x") { id } }`);
    expect((await events.next()).value.data.noteChanged.id).toBe(noteId(11));
    await server.query(`mutation { restoreNotes(ids: ["${noteId(10)}"], reason: "x") { id } }`);
    expect((await events.next()).value.data.noteChanged.supersededBy.version).toBe(2);
    await events.return?.();
    await expect.poll(() => useCases.feeds.size).toBe(0);
  });

  it('cleans up when the connection breaks, also while nothing happens', async () => {
    const { socket, closed } = open({ authorization: 'Bearer reader-key' });
    socket.on('open', () => socket.send('{"type":"connection_init"}'));
    socket.on('message', (data) => {
      if (String(data).includes('connection_ack')) {
        socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: CHANGED } }));
      }
    });
    await expect.poll(() => useCases.feeds.size).toBe(1);
    socket.terminate();
    await closed;
    await expect.poll(() => useCases.feeds.size).toBe(0);
  });

  it('masks errors inside events', async () => {
    useCases.interventions.set('getMany', () => {
      throw new Error('SECRET');
    });
    const events = follow(server.socket('reader-key'), CHANGED);
    const next = events.next();
    await expect.poll(() => useCases.feeds.size).toBe(1);
    for (const feed of useCases.feeds) feed.push(useCases.store.get(noteId(20))!);
    const { value } = await next;
    expect(value.errors[0].extensions.code).toBe('INTERNAL');
    expect(JSON.stringify(value)).not.toContain('SECRET');
    useCases.interventions.clear();
    await events.return?.();
  });
});

describe('jobProgress', () => {
  it('ends with the job', async () => {
    const events = follow(
      server.socket('admin-key'),
      'subscription { jobProgress(id: "job-1") { state done } }',
    );
    expect((await events.next()).value.data.jobProgress).toEqual({ state: 'QUEUED', done: 0 });
    for (const feed of useCases.progressFeeds) {
      feed.push({ ...useCases.jobStore.get('job-1')!, state: 'SUCCEEDED', done: 9 });
      feed.push({ ...useCases.jobStore.get('job-1')!, state: 'SUCCEEDED', done: 10 });
    }
    expect((await events.next()).value.data.jobProgress.done).toBe(9);
    expect((await events.next()).value.data.jobProgress.done).toBe(10);
    for (const feed of useCases.progressFeeds) await feed.return();
    expect((await events.next()).done).toBe(true);
  });

  it('knows unknown jobs', async () => {
    const events = follow(server.socket('admin-key'), 'subscription { jobProgress(id: "nope") { state } }');
    const errors = await events.next().then(
      ({ value }) => value?.errors,
      (thrown: unknown) => thrown,
    );
    expect(errors).toMatchObject([{ extensions: { code: 'JOB_NOT_FOUND' } }]);
  });
});

describe('connections', () => {
  it('run queries and mutations too', async () => {
    const events = server.socket('admin-key').iterate({ query: '{ stats { store } }' });
    expect((await events.next()).value).toEqual({ data: { stats: { store: 'memory' } } });
    expect((await events.next()).done).toBe(true);
  });

  it('without a key, or with a wrong one, are closed with 4401', async () => {
    for (const payload of [undefined, {}, { authorization: 'Bearer nope' }, { authorization: 5 }]) {
      const { socket, closed } = open();
      socket.on('open', () => socket.send(JSON.stringify({ type: 'connection_init', payload })));
      expect(await closed).toBe(4_401);
    }
  });

  it('that stay silent, speak out of turn or another protocol are closed', async () => {
    expect(await open().closed).toBe(4_408);
    const early = open({ authorization: 'Bearer reader-key' });
    early.socket.on('open', () =>
      early.socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: CHANGED } })),
    );
    expect(await early.closed).toBe(4_401);
    const noise = open();
    noise.socket.on('open', () => noise.socket.send('noise'));
    expect(await noise.closed).toBe(4_400);
  });

  it('with too large a message are closed with 1009', async () => {
    const { socket, closed } = open({ authorization: 'Bearer reader-key' });
    socket.on('open', () => socket.send('x'.repeat(10_001)));
    expect(await closed).toBe(1_009);
    expect((await server.query('{ stats { store } }')).status).toBe(200);
  });

  it('of foreign pages and on other paths are refused at the upgrade', async () => {
    const statusOf = (path: string, headers: Record<string, string>): Promise<number | undefined> =>
      new Promise((resolve) => {
        const socket = new WebSocket(`ws://127.0.0.1:${server.port}${path}`, 'graphql-transport-ws', {
          headers,
        });
        socket.on('unexpected-response', (_request, response) => resolve(response.statusCode));
        socket.on('open', () => {
          socket.terminate();
          resolve(101);
        });
        socket.on('error', () => undefined);
      });
    expect(await statusOf('/graphql', { origin: 'https://elsewhere.example' })).toBe(403);
    expect(await statusOf('/graphql', { origin: 'null' })).toBe(403);
    expect(await statusOf('/graphql', { origin: `http://127.0.0.1:${server.port}` })).toBe(101);
    expect(await statusOf('/nope', {})).toBe(404);
  });

  it('may have three operations open, not four', async () => {
    const client = server.socket('reader-key');
    const events = Array.from({ length: 3 }, () => follow(client, CHANGED));
    const pending = events.map((each) => each.next());
    await expect.poll(() => useCases.feeds.size).toBe(3);
    const refused = await follow(client, CHANGED)
      .next()
      .then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
    expect(refused).toMatchObject([
      { extensions: { code: 'QUERY_TOO_COMPLEX', details: { limit: 'open operations' } } },
    ]);
    await Promise.all(events.map((each) => each.return?.()));
    await Promise.all(pending);
    await expect.poll(() => useCases.feeds.size).toBe(0);
  });

  it('lose their subscriptions when the key is revoked', async () => {
    const { socket, closed } = open();
    socket.on('open', () =>
      socket.send('{"type":"connection_init","payload":{"authorization":"Bearer team-reader-key"}}'),
    );
    socket.on('message', (data) => {
      if (String(data).includes('connection_ack')) {
        const query = 'subscription { noteChanged(namespace: "team") { id } }';
        socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
      }
    });
    await expect.poll(() => useCases.feeds.size).toBe(1);
    useCases.revoked.add('team-reader-key');
    expect(await closed).toBe(4_401);
    await expect.poll(() => useCases.feeds.size).toBe(0);
    useCases.revoked.clear();
  });

  it('leave a log line an operation', async () => {
    server.logs.length = 0;
    const events = server.socket('reader-key').iterate({ query: 'query Live { stats { store } }' });
    await events.next();
    await events.next();
    await expect
      .poll(() => server.logs.filter(({ level }) => level === 'info').map(({ fields }) => fields))
      .toMatchObject([{ operation: 'Live', type: 'query', transport: 'websocket', caller: 'reader' }]);
  });

  it('end when the server closes', async () => {
    const own = await startTestServer(useCases);
    const events = own.socket('reader-key').iterate({ query: CHANGED });
    const next = events.next().then(
      () => 'ended',
      () => 'closed',
    );
    await expect.poll(() => useCases.feeds.size).toBe(1);
    await own.close();
    expect(['ended', 'closed']).toContain(await next);
    expect(useCases.feeds.size).toBe(0);
  });
});

describe('the number of connections', () => {
  it('is limited for the whole server, and a closed one makes room', async () => {
    const limited = await startTestServer(useCases, {
      webSocket: {
        maxConnections: 2,
        maxSubscriptions: 3,
        connectionInitTimeoutMs: 5_000,
        keepAliveMs: 5_000,
        maxPayloadBytes: 10_000,
      },
    });
    const connect = () => new WebSocket(`ws://127.0.0.1:${limited.port}/graphql`, 'graphql-transport-ws');
    const opened = (socket: WebSocket) =>
      new Promise<string>((resolve) => {
        socket.on('open', () => resolve('open'));
        socket.on('error', (error) => resolve(error.message));
      });
    const [first, second] = [connect(), connect()];
    expect(await Promise.all([opened(first), opened(second)])).toEqual(['open', 'open']);
    expect(await opened(connect())).toContain('503');
    first.close();
    await expect.poll(() => opened(connect())).toBe('open');
    await limited.close();
  });
});
