import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { startChatService } from '../adapters/chat/chat-service.js';
import { MisbehavingServer } from '../adapters/hosted/misbehaving-server.js';
import {
  killLeftOver,
  PROCESS_ADMIN_KEY,
  type ProcessEnvironment,
  type ServerProcess,
  startCommand,
  startServerProcess,
} from './dist-process.js';
import { everyOperation } from './every-operation.js';
import { filesBelow, findPlanted } from './find-planted.js';
import { plantSecrets } from './planted-secrets.js';
import { BACKENDS, type OpenBackend } from './store-backends.js';

const SUBMIT = `mutation ($input: CorrectionInput!) { submitCorrection(input: $input) { outcome note { id status } } }`;

/** Every document of every collection, as it is stored. */
async function dumpMongo(uri: string | undefined): Promise<readonly (readonly [string, Buffer])[]> {
  if (uri === undefined) return [];
  const client = await MongoClient.connect(uri);
  try {
    const places: (readonly [string, Buffer])[] = [];
    for (const { collectionName } of await client.db().collections()) {
      const found = client.db().collection(collectionName).find({}, { raw: true });
      const documents = (await found.toArray()) as unknown as readonly Buffer[];
      places.push([`collection ${collectionName}`, Buffer.concat([...documents])]);
    }
    return places;
  } finally {
    await client.close();
  }
}

for (const { title, skip, open } of BACKENDS) {
  describe.skipIf(skip !== undefined)(`no secret is kept anywhere over ${title}`, () => {
    const seed = Number(process.env.ERRATA_TEST_SEED ?? 20_261_130);
    const planted = plantSecrets(seed);
    /** One line, and short enough for any field. */
    const short = planted.filter(({ text }) => text.length <= 200 && !text.includes('\n'));
    let [at, shortAt] = [0, 0];
    const next = (): string => planted[at++ % planted.length]!.text;
    const nextShort = (): string => short[shortAt++ % short.length]!.text;
    let folder: string;
    let data: string;
    let backend: OpenBackend;
    let hosted: MisbehavingServer;
    let chat: Awaited<ReturnType<typeof startChatService>>;
    let server: ServerProcess;
    let env: ProcessEnvironment;

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'errata-planted-'));
      data = join(folder, 'data');
      mkdirSync(data);
      backend = await open(data);
      hosted = await MisbehavingServer.start();
      chat = await startChatService(() => 'VERDICT: FLAG');
      env = {
        ...backend.env,
        ERRATA_EMBEDDER: 'openai:intfloat/e5-small-v2',
        ERRATA_EMBEDDER_URL: hosted.baseUrl,
        ERRATA_RERANKER: 'jina:reranker',
        ERRATA_RERANKER_URL: hosted.baseUrl,
        ERRATA_CHAT_URL: chat.baseUrl,
        ERRATA_CHAT_MODEL: 'm',
        ERRATA_LOG_LEVEL: 'debug',
        ERRATA_METRICS: 'true',
        ERRATA_SWEEP_MINUTES: '0',
      };
      server = await startServerProcess(data, env, join(data, 'server.log'));
    }, 600_000);
    afterAll(async () => {
      await killLeftOver();
      hosted?.stop();
      await chat?.close();
      await backend?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const correction = (mark: string, more: object = {}) => ({
      taskType: 'secrets',
      wrongAnswer: `Said of ${mark}: ${next()} ${next()}`,
      correction: `For ${mark} it is ${next()}`,
      lesson: `${mark}() wants no ${next()}`,
      ...more,
    });
    async function answered(query: string, variables: object) {
      const answer = await server.query(query, variables);
      expect(answer.errors).toBeUndefined();
      return answer.data;
    }
    /** Not an `errata` answer, nor a file that a person asked for: what the machine keeps and sends by itself. */
    async function everythingKept(): Promise<readonly (readonly [string, Buffer])[]> {
      const sent = Buffer.from(JSON.stringify([hosted.received, chat.calls]));
      return [
        ...filesBelow(data),
        ...(await dumpMongo(backend.env.MONGODB_URI)),
        ['requests to hosted models', sent],
      ];
    }

    it('after corrections, answers and decisions with secrets in every field', {
      timeout: 600_000,
    }, async () => {
      const ids: string[] = [];
      // Every kind stands in some note.
      for (let note = 0; note * 4 < planted.length; note += 1) {
        const input = correction(`store_${note}`, {
          attributes: [
            { key: 'password', value: nextShort().slice(0, 256) },
            { key: 'seen', value: nextShort().slice(0, 256) },
          ],
          source: {
            kind: 'review',
            author: nextShort(),
            tool: nextShort(),
            record: nextShort(),
            url: `https://x.example/?q=${encodeURIComponent(nextShort())}`,
          },
          anchors: [{ kind: 'TICKET', ref: nextShort(), state: nextShort() }],
          impact: note % 3 === 0 ? 'HIGH' : 'NORMAL',
        });
        ids.push((await answered(SUBMIT, { input })).submitCorrection.note.id);
      }
      const receipts: string[] = [];
      for (const { text } of planted) {
        const { retrieve } = await answered(
          'query ($q: String!, $a: [AttributeInput!]) { retrieve(input: { query: $q, attributes: $a }) { id } }',
          { q: `store: ${text}`, a: [{ key: 'seen', value: nextShort().slice(0, 256) }] },
        );
        receipts.push(retrieve.id);
      }
      await answered(
        `query ($q: String!, $item: String!) { buildPrompt(input: {
          retrieve: { query: $q }, baseInstructions: $item, item: $item }) { contextTokens } }`,
        { q: next(), item: next() },
      );
      for (const id of receipts.slice(0, 8))
        await answered(
          'mutation ($id: ID!, $c: String) { recordOutcome(receiptId: $id, verdict: HARMFUL, comment: $c) }',
          { id, c: nextShort() },
        );
      const reason = 'mutation ($ids: [ID!]!, $reason: String!) ';
      await answered(`${reason}{ deprecateNotes(ids: $ids, reason: $reason) { id } }`, {
        ids: ids.slice(1, 3),
        reason: nextShort(),
      });
      await answered(`${reason}{ restoreNotes(ids: $ids, reason: $reason) { id } }`, {
        ids: ids.slice(1, 3),
        reason: nextShort(),
      });
      await answered(
        `mutation ($id: ID!, $comment: String!, $edit: CorrectionInput) {
          commentNote(id: $id, comment: $comment)
          reviewNote(id: $id, decision: APPROVE, comment: $comment, edit: $edit) { id } }`,
        { id: ids[0], comment: nextShort(), edit: correction('store_edited') },
      );
      await answered(
        'mutation ($id: ID!, $comment: String!) { reviewNote(id: $id, decision: REJECT, comment: $comment) { id } }',
        {
          id: ids[3],
          comment: nextShort(),
        },
      );
      await answered('mutation ($i: GoldenQueryInput!) { addGoldenQuery(input: $i) { queries } }', {
        i: { query: nextShort(), expected: [{ noteId: ids[1], grade: 3 }] },
      });
      await answered(
        `mutation ($o: [AttributeInput!]) { startJob(kind: ERASURE, namespace: "default", options: $o) { id } }`,
        {
          o: [
            { key: 'ids', value: ids[4] },
            { key: 'reason', value: nextShort() },
          ],
        },
      );
      await answered(
        'mutation ($r: String!) { deprecateBySource(dryRun: false, reason: $r, source: { author: $r }) { matched } }',
        {
          r: nextShort(),
        },
      );
      expect(findPlanted(await everythingKept(), planted)).toEqual([]);
    });

    it('after every operation of the schema with secrets for all of its texts', {
      timeout: 600_000,
    }, async () => {
      const codes = new Set<string | undefined>();
      // Twice: with texts that fit, and with some that are too long for anything.
      for (const text of [nextShort, () => `${next()} ${'x'.repeat(70_000)} ${next()}`]) {
        for (const { query, variables } of everyOperation(text)) {
          const { errors = [] } = await server.query(query, variables);
          for (const { extensions } of errors) codes.add(extensions?.code);
        }
      }
      // The server went on, and refused for reasons of its own.
      expect([...codes]).toEqual(expect.arrayContaining(['INVALID_INPUT', 'RECEIPT_NOT_FOUND']));
      expect([...codes]).not.toContain('INTERNAL');
      expect(findPlanted(await everythingKept(), planted)).toEqual([]);
    });

    it('after requests that nobody can read', { timeout: 300_000 }, async () => {
      const post = async (path: string, body: string, headers: Record<string, string> = {}) => {
        const json = { 'content-type': 'application/json', authorization: `Bearer ${PROCESS_ADMIN_KEY}` };
        await (
          await fetch(`${server.url}${path}`, { method: 'POST', body, headers: { ...json, ...headers } })
        ).text();
      };
      for (const { text } of planted) {
        const quoted = JSON.stringify(text);
        await post('/graphql', JSON.stringify({ query: `{ notes(text: ${quoted}` }));
        await post(
          '/graphql',
          JSON.stringify({
            query: `query Q { retrieve(input: { query: ${quoted}, no_such: ${quoted} }) { id } }`,
          }),
        );
        await post(
          '/graphql',
          JSON.stringify({ query: '{ stats { notes } }', operationName: text, variables: { [text]: text } }),
        );
        await post('/graphql', `{"query": ${quoted}, ${text}`);
        await post('/graphql', JSON.stringify({ query: SUBMIT, variables: { input: text } }));
        await post('/graphql', '{}', { authorization: `Bearer ${encodeURIComponent(text)}` });
        await post(`/graphql?token=${encodeURIComponent(text)}`, text, { 'content-type': 'text/plain' });
        await fetch(`${server.url}/no/${encodeURIComponent(text)}`, {
          headers: { cookie: `s=${encodeURIComponent(text)}`, 'user-agent': encodeURIComponent(text) },
        });
      }
      const socket = new WebSocket(`${server.url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
      await new Promise((resolve) => socket.once('open', resolve));
      const ended = new Promise((resolve) => socket.once('close', resolve));
      socket.send(
        JSON.stringify({
          type: 'connection_init',
          payload: { authorization: `Bearer ${PROCESS_ADMIN_KEY}`, note: next() },
        }),
      );
      await new Promise((resolve) => socket.once('message', resolve));
      const query = 'subscription ($n: String!) { noteChanged(namespace: $n) { id } }';
      socket.send(
        JSON.stringify({ type: 'subscribe', id: '1', payload: { query, variables: { n: next() } } }),
      );
      socket.send(`no message: ${next()}`);
      await ended;
      const headers = { authorization: `Bearer ${PROCESS_ADMIN_KEY}` };
      expect(await (await fetch(`${server.url}/metrics`, { headers })).text()).toContain('errata_');
      expect(findPlanted(await everythingKept(), planted)).toEqual([]);
    });

    it('after imports, exports, evaluations and other commands', { timeout: 900_000 }, async () => {
      const input = (name: string, text: string): string => {
        const file = join(folder, name);
        writeFileSync(file, text);
        return file;
      };
      const row = (mark: string) => JSON.stringify(correction(mark));
      const jsonl = input(
        'rows.jsonl',
        [row('row_1'), `{"lesson": ${JSON.stringify(next())},`, row('row_2')].join('\n'),
      );
      const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
      const csv = input(
        'rows.csv',
        `task type,wrong answer,correction,lesson,${cell(nextShort())}\nsecrets,${cell(next())},${cell(next())},${cell(nextShort())},x\nsecrets,"${nextShort()}`,
      );
      const escaped = nextShort().replaceAll('&', '&amp;').replaceAll('<', '&lt;');
      const xml = input(
        'rows.xml',
        `<suppressions><suppress><notes>${escaped}</notes><cve>CVE-2020-1</cve></suppress><suppress><notes>${escaped}</oops>`,
      );
      const golden = input(
        'golden.jsonl',
        JSON.stringify({ id: 'q', kind: 'none', query: nextShort(), expected: [] }),
      );
      const cases = input(
        'cases.jsonl',
        JSON.stringify({ id: 'c', truth: true, item: next(), query: nextShort(), taskType: 'secrets' }),
      );
      const commands: readonly (readonly string[])[] = [
        ['import', '--report', join(data, 'import.json'), jsonl],
        ['import', csv],
        ['import', xml],
        [
          'submit',
          '-t',
          'secrets',
          '--wrong-answer',
          next(),
          '--correction',
          next(),
          '--lesson',
          nextShort(),
        ],
        ['retrieve', next()],
        ['notes', 'list', '--text', nextShort()],
        ['deprecate-source', '--author', nextShort(), '--reason', nextShort(), '--yes'],
        ['report-anchor', '--kind', 'TICKET', '--ref', nextShort(), '--state', nextShort()],
        [
          'jobs',
          'start',
          'ERASURE',
          '-n',
          'default',
          '-o',
          `reason=${nextShort()}`,
          '-o',
          'ids=x',
          '--detach',
        ],
        ['keys', 'create', nextShort(), '--role', 'reader'],
        ['golden', 'save', golden],
        ['evaluate', '-n', 'default', '--out', join(data, 'report')],
        [
          'answers',
          'ask',
          cases,
          '--instructions',
          nextShort(),
          '--cache',
          join(data, 'answers'),
          '--out',
          join(data, 'asked'),
        ],
        ['export', '-o', join(data, 'export.jsonl')],
        ['audit', 'verify', '--json'],
      ];
      const codes: (number | null)[] = [];
      for (const argv of commands) {
        const { code, stderr } = await startCommand(data, argv, env).ended;
        codes.push(code);
        // What a scheduler would keep of a run.
        writeFileSync(join(data, `${codes.length}.err`), stderr);
      }
      // Broken rows, findings and refusals included, nothing failed inside.
      expect(codes.filter((code) => code === null || code > 6)).toEqual([]);
      expect(codes.at(-1)).toBe(0);
      expect(findPlanted(await everythingKept(), planted)).toEqual([]);
    });

    it('after the server has closed, with its snapshot written', { timeout: 300_000 }, async () => {
      await server.stop();
      const places = await everythingKept();
      expect(places.map(([place]) => place)).toEqual(
        expect.arrayContaining(['server.log', 'vectors.snapshot', 'export.jsonl', 'import.json']),
      );
      // What is searched is there: notes with placeholders, and a log.
      const bytes = Buffer.concat(places.map(([, one]) => one));
      expect(bytes.includes('[REDACTED:')).toBe(true);
      expect(findPlanted(places, planted)).toEqual([]);
    });
  });
}
