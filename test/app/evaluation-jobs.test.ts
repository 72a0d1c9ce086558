import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkerOf } from '../../src/app/checker-of.js';
import { createApp } from '../../src/app/create-app.js';
import { silentLogger } from '../../src/ports/logger.js';
import { startChatService } from '../adapters/chat/chat-service.js';
import { startTestServer, type TestServer } from '../graphql/doubles/test-server.js';
import { modelForTests } from '../models/installed-model.js';
import { ADMIN, openRealApp, type RealApp } from './real-app.js';

const { missing } = await modelForTests();
const namespace = 'team';
const lines = (rows: readonly object[]): string => rows.map((row) => JSON.stringify(row)).join('\n');

const LESSONS = [
  'CVE-2021-44228 sits in log4j-core; log4j-api without log4j-core is not affected.',
  'Connections of the pool are closed by the pool itself, so a missing close() is no leak.',
];
const CASES = [
  { id: 'api', truth: false, item: 'CVE-2021-44228 reported for log4j-api without log4j-core' },
  { id: 'pool', truth: false, item: 'leak reported: no close() on a pooled connection' },
  { id: 'other', truth: true, item: 'Unquoted search path in a Windows service installer' },
];

describe.skipIf(missing !== undefined)('jobs of evaluations over GraphQL (needs all-MiniLM-L6-v2)', () => {
  let real: RealApp;
  let app: Awaited<ReturnType<typeof createApp>>;
  let server: TestServer;
  let service: Awaited<ReturnType<typeof startChatService>>;
  let key: string;
  let reviewer: string;
  /** While set, the service does not answer before it resolves. */
  let hold: Promise<void> | undefined;
  let called = (): void => undefined;
  const noteIds: string[] = [];

  beforeAll(async () => {
    real = await openRealApp();
    // Flags everything that no lesson speaks against.
    service = await startChatService(async ({ messages }) => {
      called();
      await hold;
      const taught = LESSONS.some((lesson) => messages[0]?.content.includes(lesson));
      return `VERDICT: ${taught ? 'PASS' : 'FLAG'}`;
    });
    const { store, engines, config } = real;
    app = await createApp({
      ...{ store, engines, logger: silentLogger, settings: config, runJobs: true },
      askChecker: checkerOf({ ...config, chatUrl: service.baseUrl, chatModel: 'a-model' }),
    });
    const { commands, keys } = app.useCases;
    key = await keys.create(ADMIN, 'admin', ['admin'], undefined);
    reviewer = await keys.create(ADMIN, 'reviewer', ['reviewer'], undefined);
    server = await startTestServer(app.useCases);
    for (const lesson of LESSONS) {
      const wrongAnswer = `Claimed the opposite: ${lesson}`;
      const input = { namespace, taskType: 'check', wrongAnswer, correction: lesson, lesson };
      noteIds.push((await commands.submit(ADMIN, input)).note?.id ?? '');
    }
  }, 120_000);
  afterAll(async () => {
    await server?.close();
    await app?.close();
    await service?.close();
    await real?.close();
  });

  /** Sends a document with the admin key; throws at errors. */
  async function send(query: string, variables: object = {}) {
    const { data, errors } = await server.query(query, { key, variables });
    if (errors.length > 0) throw new Error(JSON.stringify(errors));
    return Object.values(data)[0] as never;
  }
  const codeOf = async (query: string, as: string, variables: object = {}) =>
    (await server.query(query, { key: as, variables })).errors[0]?.extensions.code;

  const start = async (kind: string, options: Readonly<Record<string, string>>): Promise<string> => {
    const list = Object.entries(options).map(([name, value]) => ({ key: name, value }));
    const { id } = (await send(
      'mutation($kind: JobKind!, $o: [AttributeInput!]) { startJob(kind: $kind, namespace: "team", options: $o) { id } }',
      { kind, o: list },
    )) as { id: string };
    return id;
  };
  /** Every state of the job until it has ended. */
  async function follow(id: string) {
    const seen = [];
    for await (const job of app.useCases.jobs.progress(id)) seen.push(job);
    return seen;
  }

  it('sweeps the saved golden set, with progress, and leaves neither receipts nor counts', async () => {
    const golden = [
      { id: 'q-1', query: CASES[0]?.item, expected: [{ key: noteIds[0] }], kind: 'identifier' },
      { id: 'q-2', query: CASES[1]?.item, expected: [{ key: noteIds[1] }], kind: 'paraphrase' },
      { id: 'q-3', query: 'the coffee machine is broken', expected: [] },
    ];
    const save = 'mutation($j: String!) { saveGoldenSet(jsonl: $j, namespace: "team") { digest } }';
    const unknown = { j: lines([{ ...golden[0], expected: [{ key: 'no-note' }] }]) };
    expect(await codeOf(save, key, unknown)).toBe('NOTE_NOT_FOUND');
    expect(await codeOf(save, reviewer, unknown)).toBe('FORBIDDEN');
    const { digest } = (await send(save, { j: lines(golden) })) as { digest: string };

    const states = await follow(await start('SWEEP', { only: 'stages, efSearch' }));
    expect(states.at(-1)).toMatchObject({ state: 'SUCCEEDED', done: 12, total: 12 });
    expect(states.at(-1)?.message).toContain('12 variants over 3 queries');
    const [sweep] = (await send(
      '{ sweeps(namespace: "team") { goldenDigest queries markdown plots { name svg } rows { group name shipped tune { name value } } } }',
    )) as { goldenDigest: string; queries: number; markdown: string; plots: object[]; rows: object[] }[];
    expect(sweep).toMatchObject({ goldenDigest: digest, queries: 3 });
    expect(sweep?.rows).toHaveLength(12);
    expect(sweep?.rows).toContainEqual(expect.objectContaining({ name: '+ threshold', shipped: true }));
    expect(sweep?.markdown).toContain('| vectors only |');
    expect(sweep?.plots).toEqual([
      { name: 'quality-by-time.svg', svg: expect.stringContaining('<svg') },
      { name: 'answered-by-injected.svg', svg: expect.stringContaining('<svg') },
    ]);
    const receipts = await real.store.receipts.listByTime(namespace, {}, 10);
    expect(receipts).toEqual([]);
    expect(await codeOf('{ sweeps(namespace: "team") { id } }', reviewer)).toBeUndefined();

    const [failed] = (await follow(await start('SWEEP', { only: 'all' }))).slice(-1);
    expect(failed).toMatchObject({ state: 'FAILED', message: expect.stringContaining('INVALID_INPUT') });
  }, 120_000);

  it('shows the intervals of a single run', async () => {
    const [done] = (await follow(await start('EVALUATION', {}))).slice(-1);
    expect(done?.state).toBe('SUCCEEDED');
    const [run] = (await send(
      '{ evaluationRuns(namespace: "team") { test { name value } intervals { name estimate low high } } }',
    )) as {
      test: { name: string; value: number }[];
      intervals: { name: string; estimate: number; low: number; high: number }[];
    }[];
    expect(run?.intervals.length).toBeGreaterThan(10);
    for (const { name, estimate, low, high } of run?.intervals ?? []) {
      expect(estimate).toBe(run?.test.find((one) => one.name === name)?.value);
      expect(low).toBeLessThanOrEqual(estimate);
      expect(high).toBeGreaterThanOrEqual(estimate);
    }
  }, 120_000);

  it('asks the configured checker about the saved cases and keeps the comparison', async () => {
    await send('mutation($j: String!) { saveAnswerCases(jsonl: $j, namespace: "team") { digest } }', {
      j: lines(CASES),
    });
    const states = await follow(await start('ANSWERS', { instructions: 'Judge.', maxCalls: '20' }));
    expect(states.at(-1)).toMatchObject({ state: 'SUCCEEDED', done: 3, total: 3 });
    const [run] = (await send(
      '{ answerRuns(namespace: "team") { checker verdict pairs falsePositives { fixed broken } falseNegatives { broken } fixes { id notes } spending { calls } } }',
    )) as object[];
    expect(run).toMatchObject({
      ...{ checker: 'a-model', pairs: 3, falsePositives: { fixed: 2, broken: 0 } },
      ...{ falseNegatives: { broken: 0 }, spending: { calls: 6 } },
    });

    const [limited] = (
      await follow(await start('ANSWERS', { instructions: 'Judge.', maxCalls: '2', concurrency: '1' }))
    ).slice(-1);
    expect(limited?.message).toContain('stopped: ');
    const [unlimited] = (await follow(await start('ANSWERS', { instructions: 'Judge.' }))).slice(-1);
    expect(unlimited).toMatchObject({ state: 'FAILED', message: expect.stringContaining('INVALID_INPUT') });
  }, 120_000);

  it('stops asking when it is cancelled, and keeps no comparison of a part', async () => {
    const before = (await send('{ answerRuns(namespace: "team") { id } }')) as object[];
    let release = (): void => undefined;
    hold = new Promise((resolve) => {
      release = resolve;
    });
    const calls = service.calls.length;
    const firstCall = new Promise<void>((resolve) => {
      called = resolve;
    });
    const id = await start('ANSWERS', { instructions: 'Judge.', maxCalls: '20', concurrency: '1' });
    await firstCall;
    await send('mutation($id: ID!) { cancelJob(id: $id) { state } }', { id });
    release();
    hold = undefined;
    const [ended] = (await follow(id)).slice(-1);
    expect(ended?.state).toBe('CANCELLED');
    expect(service.calls.length - calls).toBeLessThan(6);
    expect(await send('{ answerRuns(namespace: "team") { id } }')).toEqual(before);
  }, 120_000);
});
