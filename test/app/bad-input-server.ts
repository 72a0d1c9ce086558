import { expect } from 'vitest';
import { type GraphqlAnswer, startTestServer, type TestServer } from '../graphql/doubles/test-server.js';
import { ADMIN, openRealApp } from './real-app.js';

/** Stands in every hostile text: no answer and no log line may hold it. */
export const CANARY = 'canary-q7x';
export const MEBIBYTE = 1_024 * 1_024;
const TIME_LIMIT_MS = 1_000;

export interface BadInputServer extends TestServer {
  readonly readerKey: string;
  /** Of the namespace `tenant`; the notes below are of `default`. */
  readonly tenantKey: string;
  readonly noteId: string;
  readonly receiptId: string;
  readonly cursor: string;
  /** Digest of all that a request could have changed. */
  everythingStored(): Promise<string>;
  /**
   * Codes of an answer that must be a refusal: within a second (best of three, so that a loaded machine does not count), short,
   * without what was sent and without where the code lies, and with nothing stored.
   */
  refused(send: () => Promise<GraphqlAnswer>): Promise<readonly unknown[]>;
}

/** The real app with four notes behind the real server; calls without a key of their own are an administrator's. */
export async function startBadInputServer(): Promise<BadInputServer> {
  const real = await openRealApp();
  const { commands, keys, retrieval } = real.app.useCases;
  const readerKey = await keys.create(ADMIN, 'reader', ['reader'], undefined);
  const tenantKey = await keys.create(ADMIN, 'tenant', ['admin'], ['tenant']);
  const adminKey = await keys.create(ADMIN, 'root', ['admin'], undefined);
  const secret = (index: number) => ({
    taskType: 'code-review',
    wrongAnswer: `Said that open_${index}() leaks a file.`,
    correction: `open_${index}() is closed by its caller.`,
    lesson: `The file of open_${index}() is closed by its caller; ${CANARY} belongs to this tenant alone.`,
  });
  const [first] = await commands.submitMany(ADMIN, [1, 2, 3].map(secret));
  await commands.submit({ name: 'tenant', roles: ['admin'] }, { ...secret(4), namespace: 'tenant' });
  const receiptId = (await retrieval.retrieve(ADMIN, { query: 'open_1' })).id;
  const inner = await startTestServer(real.app.useCases);
  const query: TestServer['query'] = (text, options) => inner.query(text, { key: adminKey, ...options });
  const page = await query('{ notes(first: 1) { pageInfo { endCursor } } }');

  async function everythingStored(): Promise<string> {
    const { store } = real;
    return JSON.stringify([
      await store.notes.count('all', {}),
      await store.notes.lastRevision(),
      await store.audit.count('all', {}),
      (await store.jobs.list('all', 10)).length,
      (await store.keys.list()).map(({ name, revokedAt }) => [name, revokedAt]),
    ]);
  }

  async function refused(send: () => Promise<GraphqlAnswer>): Promise<readonly unknown[]> {
    const unchanged = await everythingStored();
    let answer = await send();
    for (let attempt = 1, ms = Number.POSITIVE_INFINITY; ms > TIME_LIMIT_MS; attempt += 1) {
      const startedAt = performance.now();
      answer = await send();
      ms = performance.now() - startedAt;
      if (attempt === 3) expect(ms).toBeLessThan(TIME_LIMIT_MS);
    }
    expect(answer.errors.length, answer.text.slice(0, 300)).toBeGreaterThan(0);
    expect(answer.text.length).toBeLessThan(20_000);
    expect(answer.text).not.toContain(CANARY);
    expect(answer.text).not.toMatch(
      /node_modules|\.[jt]s:\d|\n? {4}at |stacktrace|sqlite|\/src\/|\/dist\//iu,
    );
    expect(await everythingStored()).toBe(unchanged);
    return [...new Set(answer.errors.map(({ extensions }) => extensions?.code))];
  }

  return {
    ...inner,
    post: (body, headers) => inner.post(body, { authorization: `Bearer ${adminKey}`, ...headers }),
    query,
    readerKey,
    tenantKey,
    noteId: first?.note?.id ?? '',
    receiptId,
    cursor: page.data.notes.pageInfo.endCursor,
    everythingStored,
    refused,
    async close() {
      await inner.close();
      await real.close();
    },
  };
}
