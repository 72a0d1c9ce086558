import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modelForTests } from '../models/installed-model.js';
import { type BadInputServer, CANARY, MEBIBYTE, startBadInputServer } from './bad-input-server.js';

const { missing } = await modelForTests();

let server: BadInputServer;

describe.skipIf(missing !== undefined)(
  'keys, roles and tenants over HTTP, on real parts (needs all-MiniLM-L6-v2)',
  () => {
    beforeAll(async () => {
      server = await startBadInputServer();
    });
    afterAll(() => server?.close());

    it('refuses missing and wrong keys before it reads the body', async () => {
      for (const authorization of [
        '',
        'Bearer',
        'Bearer ',
        'Basic eDp5',
        `Bearer ${CANARY}`,
        `bearer\t${server.readerKey}x`,
        'x'.repeat(8_000),
      ]) {
        const answer = () => server.post('{"query":"{ stats { notes } }"}', { authorization });
        expect(await server.refused(answer), authorization.slice(0, 20)).toEqual(['UNAUTHENTICATED']);
      }
      const big = 'x'.repeat(MEBIBYTE);
      expect(await server.refused(() => server.post(big, { authorization: `Bearer ${CANARY}` }))).toEqual([
        'UNAUTHENTICATED',
      ]);
    });

    const mutations = (): readonly string[] => [
      'mutation { submitCorrection(input: { taskType: "a", wrongAnswer: "a", correction: "a", lesson: "a" }) { outcome } }',
      'mutation { submitCorrections(inputs: []) { outcome } }',
      `mutation { reviewNote(id: "${server.noteId}", decision: REJECT) { id } }`,
      `mutation { deprecateNotes(ids: ["${server.noteId}"], reason: "x") { id } }`,
      `mutation { restoreNotes(ids: ["${server.noteId}"], reason: "x") { id } }`,
      `mutation { eraseNote(id: "${server.noteId}", reason: "x") { id } }`,
      'mutation { startJob(kind: BACKFILL) { id } }',
      'mutation { createApiKey(name: "x", roles: ["admin"]) }',
      'mutation { revokeApiKey(name: "root") }',
    ];
    it('refuses every mutation but recordOutcome to a reader', async () => {
      for (const text of mutations()) {
        expect(await server.refused(() => server.query(text, { key: server.readerKey })), text).toEqual([
          'FORBIDDEN',
        ]);
      }
    });

    it("keeps another tenant's note out of reach by id, list, neighbours, receipt, history and change", async () => {
      const as = (text: string) => () => server.query(text, { key: server.tenantKey });
      for (const text of mutations()) {
        if (text.includes('submitCorrections')) continue;
        expect(await server.refused(as(text)), text).toEqual(['FORBIDDEN']);
      }
      for (const [text, code] of [
        [`{ note(id: "${server.noteId}") { lesson } }`, 'FORBIDDEN'],
        [`{ similarNotes(id: "${server.noteId}") { note { lesson } } }`, 'FORBIDDEN'],
        [
          `{ similarNotes(id: "${server.noteId}", namespace: "tenant") { note { lesson } } }`,
          'NOTE_NOT_FOUND',
        ],
        ['{ retrieve(input: { query: "open_1" }) { notes { note { lesson } } } }', 'FORBIDDEN'],
        ['{ notes(filter: { namespace: "default" }) { totalCount } }', 'FORBIDDEN'],
        ['{ stats(namespace: "default") { notes } }', 'FORBIDDEN'],
        [
          `mutation { recordOutcome(receiptId: "${server.receiptId}", verdict: HELPFUL) }`,
          'RECEIPT_NOT_FOUND',
        ],
        [
          `mutation { recordOutcome(receiptId: "${server.receiptId}", noteId: "${server.noteId}", verdict: HELPFUL) }`,
          'RECEIPT_NOT_FOUND',
        ],
        [
          `mutation { deprecateNotes(ids: ["${server.noteId}"], namespace: "tenant", reason: "x") { lesson } }`,
          'NOTE_NOT_FOUND',
        ],
        [
          `mutation { eraseNote(id: "${server.noteId}", namespace: "tenant", reason: "x") { lesson } }`,
          'NOTE_NOT_FOUND',
        ],
        [
          `mutation { reviewNote(id: "${server.noteId}", namespace: "tenant", decision: REJECT) { lesson } }`,
          'NOTE_NOT_FOUND',
        ],
        ['mutation { createApiKey(name: "x", roles: ["reader"], namespaces: ["default"]) }', 'FORBIDDEN'],
      ] as const) {
        expect(await server.refused(as(text)), text).toEqual([code]);
      }
      // What is no error answers as if the note did not exist.
      const silent = await server.query(
        `{ note(id: "${server.noteId}", namespace: "tenant") { lesson }
         receipt(id: "${server.receiptId}") { notes { note { lesson } } }
         auditLog(noteId: "${server.noteId}") { totalCount edges { node { id } } }
         notes { totalCount edges { node { namespace } } }
         byText: notes(filter: { text: "open_1" }) { totalCount }
         stats { notes indexedVectors byTaskType { taskType } } }`,
        { key: server.tenantKey },
      );
      expect(silent.errors).toEqual([]);
      expect(silent.data).toMatchObject({
        note: null,
        receipt: null,
        auditLog: { totalCount: 0, edges: [] },
        notes: { totalCount: 1, edges: [{ node: { namespace: 'tenant' } }] },
        byText: { totalCount: 0 },
        stats: { notes: 1, indexedVectors: 1 },
      });
    });

    it("refuses a subscription to another tenant's changes, and one without a key", async () => {
      const subscribe = async (key: string | undefined, text: string) => {
        const events = server.socket(key).iterate({ query: text });
        const first = await events.next().catch((error: unknown) => ({ value: error }));
        await events.return?.();
        return first.value as { errors?: { extensions?: { code?: string } }[]; code?: number };
      };
      const foreign = await subscribe(server.tenantKey, 'subscription { noteChanged { lesson } }');
      expect(foreign.errors?.[0]?.extensions?.code ?? JSON.stringify(foreign)).toMatch(/FORBIDDEN/u);
      const nobody = await subscribe(undefined, 'subscription { noteChanged { lesson } }');
      expect(nobody.code).toBe(4_401);
    });
  },
);
