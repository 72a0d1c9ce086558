import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modelForTests } from '../models/installed-model.js';
import { type BadInputServer, CANARY, MEBIBYTE, startBadInputServer } from './bad-input-server.js';

const { missing } = await modelForTests();

const SUBMIT = 'mutation ($input: CorrectionInput!) { submitCorrection(input: $input) { outcome } }';
const RETRIEVE = 'query ($input: RetrieveInput!) { retrieve(input: $input) { id } }';
const PROMPT = 'query ($input: BuildPromptInput!) { buildPrompt(input: $input) { prompt } }';

const correction = (changes: object = {}) => ({
  input: {
    taskType: 'code-review',
    wrongAnswer: `${CANARY} wrong`,
    correction: `${CANARY} right`,
    lesson: `${CANARY} lesson`,
    ...changes,
  },
});
const query = (changes: object) => ({ input: { query: `${CANARY} query`, ...changes } });
const prompt = (changes: object) => ({
  input: { retrieve: { query: `${CANARY} query` }, baseInstructions: '', item: 'item', ...changes },
});

let server: BadInputServer;

describe.skipIf(missing !== undefined)('bad input over HTTP, on real parts (needs all-MiniLM-L6-v2)', () => {
  let before: string;
  beforeAll(async () => {
    server = await startBadInputServer();
    before = await server.everythingStored();
  });
  afterAll(() => server?.close());

  const texts: readonly (readonly [string, unknown, string])[] = [
    ['empty', '', 'INVALID_TEXT'],
    ['white space', ' \t\r\n\u00a0\u3000', 'INVALID_TEXT'],
    ['zero-width', '\u200b\u200d\u2060\ufeff\u00ad', 'INVALID_TEXT'],
    ['bidi controls', '\u202e\u2066\u2069', 'INVALID_TEXT'],
    ['control characters', '\u0001\u001b\u0007', 'INVALID_TEXT'],
    ['a lone high surrogate', `${CANARY}\ud800`, 'INVALID_TEXT'],
    ['a lone low surrogate', `\udc00${CANARY}`, 'INVALID_TEXT'],
    ['NUL', `${CANARY}\0`, 'INVALID_TEXT'],
    ['1 MB', CANARY.repeat(MEBIBYTE / CANARY.length), 'INPUT_TOO_LARGE'],
    ['a number', 5, 'INVALID_INPUT'],
    ['null', null, 'INVALID_INPUT'],
    ['a list', [CANARY], 'INVALID_INPUT'],
    ['an object', { text: CANARY }, 'INVALID_INPUT'],
    ['true', true, 'INVALID_INPUT'],
  ];
  describe.each(['lesson', 'wrongAnswer', 'correction'])('%s', (field) => {
    it.each(texts)('refuses %s', async (_name, value, code) => {
      const variables = correction({ [field]: value });
      expect(await server.refused(() => server.query(SUBMIT, { variables }))).toEqual([code]);
    });
  });
  describe('query and item', () => {
    it.each(texts)('refuses %s', async (_name, value, code) => {
      expect(
        await server.refused(() => server.query(RETRIEVE, { variables: query({ query: value }) })),
      ).toEqual([code]);
      const item = value === texts[8]?.[1] ? undefined : value;
      if (item === undefined) return;
      expect(await server.refused(() => server.query(PROMPT, { variables: prompt({ item }) }))).toEqual([
        code,
      ]);
    });
  });

  const names = [
    '',
    ' ',
    '..',
    '../x',
    'a/b\\c',
    'a b',
    `a\0`,
    '\u202e',
    '__proto__',
    'ñ',
    '-x',
    'x'.repeat(65),
  ];
  it.each(names)('refuses namespace %j everywhere', async (namespace) => {
    for (const send of [
      () => server.query(SUBMIT, { variables: correction({ namespace }) }),
      () => server.query(RETRIEVE, { variables: query({ namespace }) }),
      () =>
        server.query('query ($n: String) { note(id: "x", namespace: $n) { id } }', {
          variables: { n: namespace },
        }),
      () =>
        server.query('query ($n: String) { stats(namespace: $n) { notes } }', {
          variables: { n: namespace },
        }),
      () =>
        server.query('query ($n: String) { notes(filter: { namespace: $n }) { totalCount } }', {
          variables: { n: namespace },
        }),
      () =>
        server.query('query ($n: String) { similarNotes(id: "x", namespace: $n) { score } }', {
          variables: { n: namespace },
        }),
      () =>
        server.query('mutation ($n: String) { startJob(kind: BACKFILL, namespace: $n) { id } }', {
          variables: { n: namespace },
        }),
      () =>
        server.query(
          'mutation ($n: [String!]) { createApiKey(name: "x", roles: ["reader"], namespaces: $n) }',
          {
            variables: { n: [namespace] },
          },
        ),
    ]) {
      expect(await server.refused(send)).toEqual(['INVALID_INPUT']);
    }
  });

  const wrongFields: readonly (readonly [string, object, string])[] = [
    ['task type with a space', { taskType: 'a b' }, 'INVALID_INPUT'],
    ['empty task type', { taskType: '' }, 'INVALID_INPUT'],
    ['task type of 1 MB', { taskType: 'a'.repeat(MEBIBYTE) }, 'INVALID_INPUT'],
    ['unknown impact', { impact: CANARY }, 'INVALID_INPUT'],
    ['impact in lower case', { impact: 'high' }, 'INVALID_INPUT'],
    ['unknown field', { [CANARY.replace('-', '_')]: 1 }, 'INVALID_INPUT'],
    ['attributes as an object', { attributes: { a: CANARY } }, 'INVALID_INPUT'],
    ['an empty attribute key', { attributes: [{ key: '', value: 'x' }] }, 'INVALID_TEXT'],
    ['a reserved attribute key', { attributes: [{ key: '__proto__', value: 'x' }] }, 'INVALID_INPUT'],
    ['an attribute twice', { attributes: ['a', 'a'].map((key) => ({ key, value: 'x' })) }, 'INVALID_INPUT'],
    ['NUL in an attribute', { attributes: [{ key: 'a', value: 'x\0' }] }, 'INVALID_TEXT'],
    ['a lone surrogate in an attribute', { attributes: [{ key: 'a', value: '\ud800' }] }, 'INVALID_TEXT'],
    [
      '33 attributes',
      { attributes: Array.from({ length: 33 }, (_, key) => ({ key: `${key}`, value: 'x' })) },
      'INPUT_TOO_LARGE',
    ],
    ['a day that is none', { createdAt: '2026-02-30T00:00:00Z' }, 'INVALID_INPUT'],
    ['an instant without offset', { createdAt: '2026-01-01T00:00:00' }, 'INVALID_INPUT'],
    ['an instant as number', { expiresAt: 20_991_231 }, 'INVALID_INPUT'],
    ['an expiry in the past', { expiresAt: '1999-01-01T00:00:00Z' }, 'INVALID_INPUT'],
    ['an empty source', { source: {} }, 'INVALID_INPUT'],
    ['a source of 1 MB', { source: { kind: 'x', url: 'x'.repeat(MEBIBYTE) } }, 'INPUT_TOO_LARGE'],
    ['a lone surrogate in a source', { source: { kind: 'x', author: '\udfff' } }, 'INVALID_TEXT'],
  ];
  it.each(wrongFields)('refuses a correction with %s', async (_name, changes, code) => {
    const codes = await server.refused(() => server.query(SUBMIT, { variables: correction(changes) }));
    expect(codes).toEqual([code]);
  });

  it.each([
    ['finalK', 0],
    ['finalK', -1],
    ['finalK', 21],
    ['finalK', 2_147_483_647],
    ['finalK', 2_147_483_648],
    ['finalK', 1.5],
    ['finalK', '3'],
    ['candidateK', 0],
    ['candidateK', -2_147_483_648],
    ['candidateK', 1_000_000],
    ['threshold', 'NaN'],
    ['threshold', '0.5'],
    ['risk', 'MEDIUM'],
    ['risk', CANARY],
    ['taskType', '../x'],
    ['attributes', [{ key: 'a' }]],
  ])('refuses %s: %j in a retrieval', async (field, value) => {
    expect(
      await server.refused(() => server.query(RETRIEVE, { variables: query({ [field]: value }) })),
    ).toEqual(['INVALID_INPUT']);
  });

  it.each(['1e999', '-1e999', '1e400'])(
    'refuses the threshold %s, in variables and in the document',
    async (number) => {
      const body = `{"query":${JSON.stringify(RETRIEVE)},"variables":{"input":{"query":"x","threshold":${number}}}}`;
      expect(await server.refused(() => server.post(body))).toEqual(['INVALID_INPUT']);
      const literal = `{ retrieve(input: { query: "x", threshold: ${number} }) { id } }`;
      expect(await server.refused(() => server.query(literal))).toEqual(['INVALID_INPUT']);
      const finalK = body.replace('threshold', 'finalK');
      expect(await server.refused(() => server.post(finalK))).toEqual(['INVALID_INPUT']);
    },
  );

  it('takes finite thresholds however absurd, and answers nothing rather than wrongly', async () => {
    const { errors, data } = await server.query(
      '{ retrieve(input: { query: "x", threshold: 1e308 }) { abstained } }',
    );
    expect(errors).toEqual([]);
    expect(data.retrieve.abstained).toBe(true);
  });

  it('refuses cursors that it did not make for the list', async () => {
    const notes = (after: string) => () =>
      server.query('query ($after: String) { notes(after: $after) { totalCount } }', {
        variables: { after },
      });
    const turned = server.cursor.at(-3) === 'A' ? 'B' : 'A';
    const bent = `${server.cursor.slice(0, -3)}${turned}${server.cursor.slice(-2)}`;
    for (const after of [
      '',
      'x',
      CANARY,
      bent,
      `${server.cursor}x`,
      server.cursor.slice(1),
      '\ud800',
      'x'.repeat(MEBIBYTE),
    ]) {
      expect(await server.refused(notes(after)), after.slice(0, 40)).toEqual(['INVALID_CURSOR']);
    }
    const elsewhere = 'query ($after: String) { reviewQueue(after: $after) { totalCount } }';
    expect(
      await server.refused(() => server.query(elsewhere, { variables: { after: server.cursor } })),
    ).toEqual(['INVALID_CURSOR']);
  });

  it.each([
    ['{ notes(first: 0) { totalCount } }', 'INVALID_INPUT'],
    ['{ notes(first: -1) { totalCount } }', 'INVALID_INPUT'],
    ['{ notes(first: 100000) { totalCount } }', 'INVALID_INPUT'],
    ['{ notes(first: 1, last: 1) { totalCount } }', 'INVALID_INPUT'],
    ['{ notes(first: 99999999999) { totalCount } }', 'INVALID_INPUT'],
    ['{ notes(orderBy: RANDOM) { totalCount } }', 'INVALID_INPUT'],
    ['{ notes(filter: { statuses: [GONE] }) { totalCount } }', 'INVALID_INPUT'],
    ['{ jobs(first: 0) { id } }', 'INVALID_INPUT'],
    ['{ similarNotes(id: "x", first: 0) { score } }', 'INVALID_INPUT'],
    ['{ similarNotes(id: "x") { score } }', 'NOTE_NOT_FOUND'],
    ['mutation { startJob(kind: MINE_BITCOIN) { id } }', 'INVALID_INPUT'],
    ['mutation { deprecateNotes(ids: [], reason: "x") { id } }', 'INVALID_INPUT'],
    ['mutation { deprecateNotes(ids: ["x"], reason: "x") { id } }', 'NOTE_NOT_FOUND'],
    ['mutation { deprecateNotes(ids: ["x"], reason: " ") { id } }', 'INVALID_TEXT'],
    ['mutation { restoreNotes(ids: ["../../etc"], reason: "x") { id } }', 'NOTE_NOT_FOUND'],
    ['mutation { reviewNote(id: "x", decision: MAYBE) { id } }', 'INVALID_INPUT'],
    ['mutation { reviewNote(id: "x", decision: APPROVE) { id } }', 'NOTE_NOT_FOUND'],
    ['mutation { eraseNote(id: "x", reason: "x") { id } }', 'NOTE_NOT_FOUND'],
    ['mutation { recordOutcome(receiptId: "x", verdict: HELPFUL) }', 'RECEIPT_NOT_FOUND'],
    ['mutation { recordOutcome(receiptId: "x", noteId: "x", verdict: HELPFUL) }', 'RECEIPT_NOT_FOUND'],
    ['mutation { recordOutcome(receiptId: "x", verdict: SUPER) }', 'INVALID_INPUT'],
    ['mutation { createApiKey(name: "a b", roles: ["reader"]) }', 'INVALID_INPUT'],
    ['mutation { createApiKey(name: "x", roles: ["root"]) }', 'INVALID_INPUT'],
    ['mutation { createApiKey(name: "x", roles: []) }', 'INVALID_INPUT'],
    ['mutation { cancelJob(id: "x") { id } }', 'JOB_NOT_FOUND'],
    [
      '{ buildPrompt(input: { retrieve: { query: "x" }, baseInstructions: "", item: "x", tokenizer: "x" }) { prompt } }',
      'UNKNOWN_TOKENIZER',
    ],
    [
      '{ buildPrompt(input: { retrieve: { query: "x" }, baseInstructions: "", item: "x", maxContextTokens: 0 }) { prompt } }',
      'INVALID_INPUT',
    ],
    [
      '{ buildPrompt(input: { retrieve: { query: "x" }, baseInstructions: "", item: "x", maxContextTokens: 9999999 }) { prompt } }',
      'INVALID_INPUT',
    ],
    ['{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
    ['{', 'GRAPHQL_PARSE_FAILED'],
    ['{ a ', 'GRAPHQL_PARSE_FAILED'],
    ['fragment a on Query { ...a } { ...a }', 'GRAPHQL_VALIDATION_FAILED'],
    ['query a { stats { notes } } query b { stats { notes } }', 'OPERATION_RESOLUTION_FAILURE'],
  ])('refuses %s', async (text, code) => {
    expect(await server.refused(() => server.query(text))).toEqual([code]);
  });

  it.each([
    [
      'deep',
      `{ notes(first: 1) { edges { node { ${'supersededBy { '.repeat(40)} id ${'} '.repeat(40)} } } } }`,
    ],
    ['aliased', `{ ${Array.from({ length: 200 }, (_, index) => `a${index}: stats { notes }`).join(' ')} }`],
    ['long', `{ stats { ${'notes '.repeat(100_000)} } }`],
    [
      'costly',
      '{ notes(first: 200) { edges { node { supersedes { supersedes { supersedes { id } } } } } } }',
    ],
    [
      'nested in lists',
      `{ notes(filter: { taskTypes: ${'['.repeat(900)}${']'.repeat(900)} }) { totalCount } }`,
    ],
  ])('refuses a %s document before it runs', async (_name, text) => {
    const codes = await server.refused(() => server.query(text));
    expect(['QUERY_TOO_COMPLEX', 'INVALID_INPUT']).toEqual(expect.arrayContaining([...codes]));
  });

  it.each([
    ['nothing', ''],
    ['half of JSON', `{"query":"{ ${CANARY}`],
    ['null', 'null'],
    ['a text', `"${CANARY}"`],
    ['a number', '1e999'],
    ['a batch', JSON.stringify([{ query: '{ stats { notes } }' }, { query: '{ stats { notes } }' }])],
    ['an empty batch', '[]'],
    ['a query that is a number', '{"query":5}'],
    ['no query', '{"variables":{}}'],
    ['variables as a list', '{"query":"{ stats { notes } }","variables":[1]}'],
    ['variables as text', `{"query":"{ stats { notes } }","variables":"${CANARY}"}`],
    ['a name that is a list', '{"query":"{ stats { notes } }","operationName":["x"]}'],
    ['an unknown name', `{"query":"{ stats { notes } }","operationName":"${CANARY}"}`],
    ['extensions as text', `{"query":"{ stats { notes } }","extensions":"${CANARY}"}`],
    [
      '100,000 brackets',
      `{"query":"{ stats { notes } }","variables":${'['.repeat(100_000)}${']'.repeat(100_000)}}`,
    ],
    [
      '100,000 brackets in an input',
      `{"query":${JSON.stringify(SUBMIT)},"variables":{"input":{"attributes":${'['.repeat(100_000)}${']'.repeat(100_000)}}}}`,
    ],
    [
      '100,000 braces in an input',
      `{"query":${JSON.stringify(SUBMIT)},"variables":{"input":${'{"source":'.repeat(100_000)}1${'}'.repeat(100_000)}}}`,
    ],
  ])('refuses a body of %s', async (_name, body) => {
    for (const code of await server.refused(() => server.post(body))) expect(code).toMatch(/^[A-Z_]+$/u);
  });

  it('refuses bytes that are not UTF-8, and other content types', async () => {
    const latin1 = Buffer.from(JSON.stringify({ query: '{ é }' }), 'latin1');
    expect(await server.refused(() => server.post(latin1))).toEqual(['INVALID_TEXT']);
    const body = JSON.stringify({ query: '{ stats { notes } }' });
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/graphql',
      'text/plain, application/json',
      '',
    ]) {
      const codes = await server.refused(() => server.post(body, { 'content-type': type }));
      expect(codes, type).toHaveLength(1);
      expect(codes[0], type).toMatch(/^(?:INVALID_INPUT|BAD_REQUEST)$/u);
    }
  });

  it('keeps mutations off GET, and GET without a preflight off everything', async () => {
    const get = async (text: string, headers: Record<string, string>) => {
      const url = `${server.url}/graphql?query=${encodeURIComponent(text)}`;
      const response = await fetch(url, {
        headers: { authorization: `Bearer ${server.readerKey}`, ...headers },
      });
      const body = await response.text();
      const { data, errors = [] } = JSON.parse(body);
      return { status: response.status, headers: response.headers, data, errors, text: body };
    };
    const mutation = 'mutation { submitCorrection(input: {}) { outcome } }';
    const preflight = { 'apollo-require-preflight': 'true' };
    expect(await server.refused(() => get('{ stats { notes } }', {}))).toEqual(['BAD_REQUEST']);
    await server.refused(() => get(mutation, preflight));
    const allowed = 'mutation { recordOutcome(receiptId: "x", verdict: HELPFUL) }';
    expect(await server.refused(() => get(allowed, preflight))).toEqual(['BAD_REQUEST']);
  });

  it('refuses bad entries of a batch one by one and stores nothing of them', async () => {
    const bad = texts
      .filter(([, value]) => typeof value === 'string')
      .map(([, lesson]) => correction({ lesson }).input);
    const inputs = [...bad, correction({ namespace: '../x' }).input, correction({ taskType: ' ' }).input];
    const text =
      'mutation ($inputs: [CorrectionInput!]!) { submitCorrections(inputs: $inputs) { outcome findings { reason } } }';
    const answer = await server.query(text, { variables: { inputs } });
    expect(answer.errors).toEqual([]);
    const outcomes = answer.data.submitCorrections.map(({ outcome }: { outcome: string }) => outcome);
    expect(outcomes).toEqual(inputs.map(() => 'REFUSED'));
    expect(answer.text).not.toContain(CANARY);
    expect(await server.everythingStored()).toBe(before);
  });

  it('is healthy after all of that, and its log holds none of the texts', async () => {
    expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    const { data } = await server.query(
      '{ retrieve(input: { query: "open_1() leaks a file" }) { notes { note { id } } } }',
    );
    expect(data.retrieve.notes[0].note.id).toBe(server.noteId);
    expect(server.logs.filter(({ level }) => level === 'error')).toEqual([]);
    expect(JSON.stringify(server.logs)).not.toContain(CANARY);
    expect(await server.everythingStored()).toBe(before);
  });
});
