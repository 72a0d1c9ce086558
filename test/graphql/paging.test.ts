import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCursorCodec, cursorBinding } from '../../src/graphql/paging/cursor-codec.js';
import { type InMemoryUseCases, populatedUseCases } from './doubles/in-memory-use-cases.js';
import { noteId } from './doubles/sample-notes.js';
import { startTestServer, type TestServer } from './doubles/test-server.js';

let useCases: InMemoryUseCases;
let server: TestServer;

beforeAll(async () => {
  useCases = populatedUseCases();
  server = await startTestServer(useCases);
});
afterAll(() => server.close());

const page = async (args: string) => {
  const { data, errors } = await server.query(
    `{ notes(${args}) { pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { id } } } }`,
  );
  return { errors, ...data?.notes };
};
const codeOf = async (args: string): Promise<unknown> => (await page(args)).errors[0]?.extensions.code;

describe('connections', () => {
  it('walk forwards through everything once', async () => {
    const seen: string[] = [];
    let after = '';
    for (;;) {
      const { edges, pageInfo } = await page(`first: 7${after}`);
      seen.push(...edges.map((edge: { node: { id: string } }) => edge.node.id));
      expect(pageInfo.endCursor).toBe(edges.at(-1).cursor);
      if (!pageInfo.hasNextPage) break;
      after = `, after: "${pageInfo.endCursor}"`;
    }
    expect(new Set(seen).size).toBe(64);
    expect(seen).toHaveLength(64);
  });

  it('walk backwards', async () => {
    const { edges, pageInfo } = await page('last: 3');
    expect(edges).toHaveLength(3);
    expect(pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });
    const before = await page(`last: 2, before: "${pageInfo.startCursor}"`);
    expect(before.edges).toHaveLength(2);
    expect(before.pageInfo.hasNextPage).toBe(true);
  });

  it('hold 20 where neither first nor last is given', async () => {
    expect((await page('orderBy: CREATED_DESC')).edges).toHaveLength(20);
    expect((await page('first: null')).edges).toHaveLength(20);
  });

  it.each(['first: 0', 'first: -1', 'first: 201', 'last: 0', 'last: 201', 'first: 1, last: 1'])(
    'refuse %s',
    async (args) => {
      expect(await codeOf(args)).toBe('INVALID_INPUT');
    },
  );

  it('refuse sizes of histories, queues, jobs and neighbours the same way', async () => {
    for (const query of [
      `{ note(id: "${noteId(1)}") { history(first: 0) { totalCount } } }`,
      '{ reviewQueue(first: 201) { totalCount } }',
      '{ jobs(first: 0) { id } }',
      `{ similarNotes(id: "${noteId(1)}", first: -3) { score } }`,
      '{ auditLog(first: 1000) { totalCount } }',
    ]) {
      expect((await server.query(query)).errors[0]?.extensions.code).toBe('INVALID_INPUT');
    }
  });

  it('refuse cursors of another order, filter or list, and changed ones', async () => {
    const { pageInfo } = await page('first: 3');
    const cursor: string = pageInfo.endCursor;
    expect(await codeOf(`first: 3, after: "${cursor}"`)).toBeUndefined();
    expect(await codeOf(`first: 3, orderBy: CREATED_ASC, after: "${cursor}"`)).toBe('INVALID_CURSOR');
    expect(await codeOf(`first: 3, filter: { text: "x" }, after: "${cursor}"`)).toBe('INVALID_CURSOR');
    expect(await codeOf(`first: 3, filter: { namespace: "default" }, after: "${cursor}"`)).toBe(
      'INVALID_CURSOR',
    );
    for (const other of [
      '',
      'x',
      `${cursor}A`,
      cursor.slice(0, -1),
      `A${cursor.slice(1)}`,
      `${cursor}==`,
      'é'.repeat(9_000),
    ]) {
      expect([other.slice(0, 9), await codeOf(`first: 3, after: "${other}"`)]).toEqual([
        other.slice(0, 9),
        'INVALID_CURSOR',
      ]);
    }
    const queue = await server.query(`{ reviewQueue(after: "${cursor}") { totalCount } }`);
    expect(queue.errors[0]?.extensions.code).toBe('INVALID_CURSOR');
  });

  it("continue a note's history, and not another note's", async () => {
    const history = (id: string, args: string) =>
      server.query(
        `{ note(id: "${id}") { history(${args}) { totalCount pageInfo { hasNextPage hasPreviousPage endCursor } edges { node { id } } } } }`,
      );
    const first = (await history(noteId(1), 'first: 2')).data.note.history;
    const next = (await history(noteId(1), `first: 2, after: "${first.pageInfo.endCursor}"`)).data.note
      .history;
    expect(next).toMatchObject({ totalCount: 3, pageInfo: { hasNextPage: false, hasPreviousPage: true } });
    expect(next.edges).toHaveLength(1);
    const foreign = await history(noteId(2), `first: 2, after: "${first.pageInfo.endCursor}"`);
    expect(foreign.errors[0]?.extensions.code).toBe('INVALID_CURSOR');
  });

  it('survive a restart with the same secret, and no other secret', async () => {
    const { pageInfo } = await page('first: 3');
    const query = `{ notes(first: 3, after: "${pageInfo.endCursor}") { edges { cursor } } }`;
    const [same, other] = await Promise.all([
      startTestServer(useCases),
      startTestServer(useCases, { cursorSecret: 'another secret of at least thirty-two' }),
    ]);
    expect((await same.query(query)).errors).toEqual([]);
    expect((await other.query(query)).errors[0]?.extensions.code).toBe('INVALID_CURSOR');
    await Promise.all([same.close(), other.close()]);
  });

  it('count only where totalCount is selected', async () => {
    useCases.takeCalls();
    await server.query('{ notes(first: 1) { edges { cursor } } }');
    expect(useCases.takeCalls()).toEqual({ list: 1 });
    await server.query('{ a: notes(first: 1) { totalCount } b: notes(first: 2) { totalCount } }');
    expect(useCases.takeCalls()).toEqual({ list: 2, count: 1 });
  });
});

describe('cursor codec', () => {
  const codec = createCursorCodec('a secret');
  const keysets = fc.array(
    fc.oneof(fc.string(), fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
    { maxLength: 4 },
  );

  it('gives back what it got', () => {
    fc.assert(
      fc.property(fc.string(), keysets, (binding, keyset) => {
        const expected = JSON.parse(JSON.stringify(keyset));
        expect(codec.decode(binding, codec.encode(binding, keyset))).toEqual(expected);
      }),
    );
  });

  it('refuses every single changed bit', () => {
    const bytes = Buffer.from(codec.encode('list', ['2026', noteId(1)]), 'base64url');
    for (let bit = 0; bit < bytes.length * 8; bit += 1) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => codec.decode('list', changed.toString('base64url'))).toThrow(/Expected a cursor/);
    }
  });

  it('binds independently of the order of keys', () => {
    expect(cursorBinding('notes', { a: 1, b: { c: 1, d: 2 } })).toBe(
      cursorBinding('notes', { b: { d: 2, c: 1 }, a: 1 }),
    );
    expect(cursorBinding('notes', { a: ['x', 'y'] })).not.toBe(cursorBinding('notes', { a: ['y', 'x'] }));
  });
});
