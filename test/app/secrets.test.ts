import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseLabelledSecrets } from '../../src/evaluation/labelled-secrets.js';
import { startTestServer, type TestServer } from '../graphql/doubles/test-server.js';
import { modelForTests } from '../models/installed-model.js';
import { ADMIN, openRealApp, type RealApp } from './real-app.js';

const { missing } = await modelForTests();

/** Made for this test, in parts, so that no scanner takes this file for a leak. */
const TOKEN = ['ghp', 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5'].join('_');
const PASSWORD = ['hunter', '2!Xy9zQ'].join('');
const SECRETS = [TOKEN, PASSWORD];
const ERASED = 'zanzibar-quokka-4711';

const text = (lesson: string, changes: object = {}) => ({
  taskType: 'secrets',
  wrongAnswer: `Said that ${lesson}`,
  correction: `It is not so: ${lesson}`,
  lesson,
  ...changes,
});
const SUBMIT = `mutation ($input: CorrectionInput!) { submitCorrection(input: $input) {
  outcome note { id lesson attributes { key value } sources { kind author tool url record } findings { rule field } } } }`;

describe.skipIf(missing !== undefined)('secrets (needs all-MiniLM-L6-v2)', () => {
  let real: RealApp;
  let server: TestServer;
  let key: string;
  const answers: string[] = [];
  beforeAll(async () => {
    real = await openRealApp({ runJobs: true });
    key = await real.app.useCases.keys.create(ADMIN, 'secrets', ['admin'], undefined);
    server = await startTestServer(real.app.useCases);
  });
  afterAll(async () => {
    await server?.close();
    await real?.close();
  });

  async function send(query: string, variables: object = {}) {
    const answer = await server.query(query, { variables, key });
    answers.push(answer.text);
    expect(answer.errors).toEqual([]);
    return answer.data;
  }

  /** Whether the store's files hold the text, the log beside the database included. */
  function isStored(bytes: string): boolean {
    return readdirSync(real.folder).some((name) => readFileSync(join(real.folder, name)).includes(bytes));
  }

  it('are in no file, log or answer, whatever field they came in', async () => {
    const { note } = (
      await send(SUBMIT, {
        input: text(`the deploy job needs ${TOKEN} to run deploy_all()`, {
          wrongAnswer: `Use password=${PASSWORD} or pass\u200bword=\u2060${PASSWORD}.`,
          correction: `postgres://app:${PASSWORD}@db.internal/app`,
          attributes: [
            { key: 'password', value: PASSWORD },
            { key: TOKEN, value: 'x' },
            { key: 'note', value: `see ${TOKEN}` },
          ],
          source: {
            kind: `review ${TOKEN}`.slice(0, 60),
            author: `ada, password: "${PASSWORD}"`,
            tool: TOKEN,
            url: `https://x.example/?access_token=${TOKEN}`,
            record: `https://u:${PASSWORD}@x.example/1`,
          },
        }),
      })
    ).submitCorrection;
    expect(note.findings.map(({ field }: { field: string }) => field)).toEqual(
      expect.arrayContaining([
        'wrongAnswer',
        'correction',
        'lesson',
        'attributes',
        'attributes.password',
        'source.url',
      ]),
    );
    const said = `because password=${PASSWORD} and ${TOKEN} leaked`;
    const found = await send(
      `query ($query: String!, $attributes: [AttributeInput!]) {
        all: retrieve(input: { query: $query, threshold: 0 }) { id notes { note { id } } }
        none: retrieve(input: { query: $query, attributes: $attributes }) { id }
      }`,
      { query: `deploy_all ${said}`, attributes: [{ key: 'password', value: PASSWORD }] },
    );
    const receiptId = found.all.id;
    await send(
      'mutation ($id: ID!, $comment: String) { recordOutcome(receiptId: $id, verdict: HARMFUL, comment: $comment) }',
      { id: receiptId, comment: said },
    );
    await send(
      'mutation ($ids: [ID!]!, $reason: String!) { deprecateNotes(ids: $ids, reason: $reason) { id } }',
      {
        ids: [note.id],
        reason: said,
      },
    );
    await send(
      'mutation ($ids: [ID!]!, $reason: String!) { restoreNotes(ids: $ids, reason: $reason) { id } }',
      {
        ids: [note.id],
        reason: said,
      },
    );
    const pending = (await send(SUBMIT, { input: text('never deploy on_friday()', { impact: 'HIGH' }) }))
      .submitCorrection;
    await send(
      `mutation ($id: ID!, $comment: String, $edit: CorrectionInput) {
        reviewNote(id: $id, decision: APPROVE, comment: $comment, edit: $edit) { id } }`,
      { id: pending.note.id, comment: said, edit: text(`never deploy on_friday() with ${TOKEN}`) },
    );
    const job = (
      await send(
        'mutation ($options: [AttributeInput!]) { startJob(kind: ERASURE, namespace: "default", options: $options) { id } }',
        {
          options: [
            { key: 'ids', value: note.id },
            { key: 'reason', value: said },
          ],
        },
      )
    ).startJob;
    await expect.poll(async () => (await real.store.jobs.get(job.id))?.state).toMatch(/SUCCEEDED|FAILED/u);
    answers.push(JSON.stringify(await real.store.jobs.get(job.id)));
    await send('{ auditLog(first: 50) { edges { node { reason changes } } } }');
    for (const secret of SECRETS) {
      for (const answer of answers) expect(answer).not.toContain(secret);
      expect(JSON.stringify(server.logs)).not.toContain(secret);
      expect(isStored(secret)).toBe(false);
    }
  });

  it('of every labelled text are nowhere in the files, whatever kind they are', async () => {
    const set = parseLabelledSecrets(readFileSync('sample/guard/secrets.jsonl', 'utf8'), 'secrets.jsonl');
    // The tuning half is found whole; one text a kind keeps the test short.
    const tuned = set.entries.filter(({ half, spans }) => half === 'tune' && spans.length > 0);
    const byKind = new Map(tuned.map((entry) => [entry.spans[0]!.kind, entry]));
    expect(byKind.size).toBeGreaterThanOrEqual(40);
    const inputs = [...byKind.values()].map((entry) => ({
      namespace: 'kinds',
      taskType: 'secrets',
      wrongAnswer: entry.text,
      correction: `Not so: ${entry.text}`,
      lesson: entry.text.slice(0, 900),
    }));
    const { commands, retrieval } = real.app.useCases;
    const results = await commands.submitMany(ADMIN, inputs);
    expect(results.filter(({ outcome }) => outcome === 'REFUSED')).toEqual([]);
    for (const { text: query } of byKind.values())
      await retrieval.retrieve(ADMIN, { namespace: 'kinds', query });
    const files = readdirSync(real.folder).map((name) => readFileSync(join(real.folder, name)));
    const leaked = [...byKind.values()].filter(({ text: whole, spans }) =>
      spans.some(({ start, end }) => files.some((bytes) => bytes.includes(whole.slice(start, end)))),
    );
    expect(leaked.map(({ id }) => id)).toEqual([]);
  });

  it('hold back phone numbers where that is asked for', async () => {
    const phone = '+49 30 901820';
    const submit = async (app: RealApp) =>
      (await app.app.useCases.commands.submit(ADMIN, text(`call ${phone} for_help()`, { namespace: 'p' })))
        .note!;
    expect((await submit(real)).lesson).toContain(phone);
    const other = await openRealApp({ flags: { 'redact-phones': 'true' } });
    try {
      const { id, lesson } = await submit(other);
      expect(lesson).toContain('[REDACTED:phone:1]');
      // Everything else that a caller writes is told of the setting, too: reasons, comments, anchors, questions, filters, jobs.
      const { commands, review, retrieval, evaluations, jobs } = other.app.useCases;
      const namespace = 'p';
      const query = `who answers ${phone}?`;
      const { id: receiptId } = await retrieval.retrieve(ADMIN, {
        ...{ namespace, query },
        attributes: { caller: phone },
      });
      await evaluations.addGoldenQuery(ADMIN, { namespace, query, expected: [], receiptId });
      expect(await evaluations.goldenText(namespace)).toContain('who answers [REDACTED:phone:1]?');
      await review.comment(ADMIN, namespace, id, `I called ${phone}.`);
      const anchored = { kind: 'TICKET', ref: `call ${phone}`, state: 'open' } as const;
      await commands.submit(ADMIN, text('an_anchored_one()', { namespace, anchors: [anchored] }));
      await review.reportAnchor(ADMIN, { namespace, ...anchored, state: `closed by ${phone}` });
      await commands.deprecate(ADMIN, namespace, [id], `ask ${phone} why`);
      await jobs.start(ADMIN, 'ERASURE', namespace, { ids: id, reason: `asked by ${phone}` });
      const files = readdirSync(other.folder).map((name) => readFileSync(join(other.folder, name)));
      expect(files.filter((bytes) => bytes.includes(phone))).toEqual([]);
    } finally {
      await other.close();
    }
  });

  it('in names and unknown job options are refused', async () => {
    const taskType = await server.query(SUBMIT, {
      key,
      variables: { input: text('x_1()', { taskType: TOKEN }) },
    });
    expect(taskType.errors[0]?.extensions.code).toBe('INVALID_INPUT');
    expect(taskType.text).not.toContain(TOKEN);
    const option = await server.query(
      'mutation { startJob(kind: BACKFILL, options: [{ key: "tokn", value: "x" }]) { id } }',
      { key },
    );
    expect(option.errors[0]?.extensions.code).toBe('INVALID_INPUT');
  });

  it('leaves no byte of an erased note in the files', async () => {
    const { note } = (await send(SUBMIT, { input: text(`the ${ERASED} clause is void`) })).submitCorrection;
    expect(isStored(ERASED)).toBe(true);
    await send('mutation ($id: ID!) { eraseNote(id: $id, reason: "law") { lesson } }', { id: note.id });
    expect(isStored(ERASED)).toBe(false);
    expect(
      (
        await send(
          '{ retrieve(input: { query: "zanzibar quokka clause", threshold: 0 }) { candidates { note { id } } } }',
        )
      ).retrieve.candidates,
    ).not.toContainEqual({ note: { id: note.id } });
  });
});
