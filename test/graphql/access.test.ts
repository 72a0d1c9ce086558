import {
  type GraphQLField,
  type GraphQLInputType,
  GraphQLNonNull,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isLeafType,
  isListType,
} from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildGraphqlSchema } from '../../src/graphql/build-schema.js';
import { type InMemoryUseCases, populatedUseCases } from './doubles/in-memory-use-cases.js';
import { noteId } from './doubles/sample-notes.js';
import { startTestServer, type TestServer } from './doubles/test-server.js';

let useCases: InMemoryUseCases;
let server: TestServer;

beforeAll(async () => {
  useCases = populatedUseCases();
  await useCases.jobs.start({ name: 'x', roles: ['admin'] }, 'BACKFILL', undefined, {});
  await useCases.jobs.start({ name: 'x', roles: ['admin'] }, 'BACKFILL', 'team', {});
  await useCases.retrieval.retrieve({ name: 'x', roles: ['reader'] }, { query: 'x' });
  server = await startTestServer(useCases);
});
afterAll(() => server.close());

const codes = async (query: string, key: string | null): Promise<unknown[]> => {
  const { errors } = await server.query(query, { key });
  return errors.map(({ extensions }) => extensions.code);
};

/** Some value of the right type. */
function literal(type: GraphQLInputType): string {
  if (type instanceof GraphQLNonNull) return literal(type.ofType);
  if (isListType(type)) return `[${literal(type.ofType)}]`;
  if (isEnumType(type)) return type.getValues()[0]!.name;
  if (isInputObjectType(type)) {
    const required = Object.values(type.getFields()).filter((field) => field.type instanceof GraphQLNonNull);
    return `{${required.map((field) => `${field.name}: ${literal(field.type)}`).join(', ')}}`;
  }
  if (type.name === 'Boolean') return 'true';
  return type.name === 'Int' || type.name === 'Float' ? '1' : '"x"';
}

function callOf(field: GraphQLField<unknown, unknown>): string {
  const required = field.args.filter(({ type }) => type instanceof GraphQLNonNull);
  const given = required.map(({ name, type }) => `${name}: ${literal(type)}`).join(', ');
  return `${field.name}${given === '' ? '' : `(${given})`}${isLeafType(getNamedType(field.type)) ? '' : ' { __typename }'}`;
}

describe('authentication', () => {
  it.each([
    ['no key', { authorization: '' }],
    ['another scheme', { authorization: 'Basic reader-key' }],
    ['an unknown key', { authorization: 'Bearer nope' }],
  ])('answers 401 to %s, before the body is read', async (_name, headers) => {
    const answer = await server.post('not even JSON', headers);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.errors).toMatchObject([
      { extensions: { code: 'UNAUTHENTICATED', category: 'user', retryable: false } },
    ]);
  });

  it('ends with the next request after a key was revoked', async () => {
    expect(await codes('{ stats { notes } }', 'reader-key')).toEqual([]);
    useCases.revoked.add('reader-key');
    expect(await codes('{ stats { notes } }', 'reader-key')).toEqual(['UNAUTHENTICATED']);
    useCases.revoked.delete('reader-key');
  });
});

describe('roles', () => {
  const schema = buildGraphqlSchema();
  const fieldsOf = (root: 'Query' | 'Mutation') =>
    Object.values((root === 'Query' ? schema.getQueryType() : schema.getMutationType())!.getFields());

  it('lets a key without roles do nothing at all', async () => {
    useCases.takeCalls();
    for (const root of ['Query', 'Mutation'] as const) {
      for (const field of fieldsOf(root)) {
        const query = `${root === 'Query' ? 'query' : 'mutation'} { ${callOf(field)} }`;
        expect([field.name, await codes(query, 'no-role-key')]).toEqual([field.name, ['FORBIDDEN']]);
      }
    }
    expect(useCases.takeCalls()).toEqual({});
  });

  it('keeps readers from every mutation but reports of outcomes, and from jobs', async () => {
    const reports = ['recordOutcome', 'recordAnswer'];
    for (const field of fieldsOf('Mutation').filter(({ name }) => !reports.includes(name))) {
      expect([field.name, await codes(`mutation { ${callOf(field)} }`, 'reader-key')]).toEqual([
        field.name,
        ['FORBIDDEN'],
      ]);
    }
    expect(await codes('{ jobs { id } }', 'reader-key')).toEqual(['FORBIDDEN']);
    expect(
      await codes('mutation { recordOutcome(receiptId: "receipt-1", verdict: HELPFUL) }', 'reader-key'),
    ).toEqual([]);
  });

  it.each([
    'createApiKey(name: "x", roles: ["reader"])',
    'revokeApiKey(name: "x")',
    'startJob(kind: BACKFILL) { id }',
    'cancelJob(id: "job-1") { id }',
    `eraseNote(id: "${noteId(1)}", reason: "x") { id }`,
    'saveGoldenSet(jsonl: "x") { digest }',
    'removeGoldenQuery(id: "x") { digest }',
    'saveAnswerCases(jsonl: "x") { digest }',
    'compareAnswers(before: "x", after: "x") { id }',
    'clearCalibrations',
  ])('keeps reviewers from %s', async (call) => {
    expect(await codes(`mutation { ${call} }`, 'reviewer-key')).toEqual(['FORBIDDEN']);
  });

  it.each(['noteChanged { id }', 'jobProgress(id: "job-1") { id }'])(
    'checks the role of the subscription %s',
    async (field) => {
      const key = field.startsWith('job') ? 'reviewer-key' : 'no-role-key';
      const events = server.socket(key).iterate({ query: `subscription { ${field} }` });
      const { value } = await events.next().catch((errors: unknown) => ({ value: { errors } }));
      expect(JSON.stringify(value.errors)).toContain('FORBIDDEN');
    },
  );
});

describe('namespace grants', () => {
  it.each([
    `{ note(id: "${noteId(1)}") { id } }`,
    '{ notes(filter: { namespace: "default" }) { totalCount } }',
    '{ reviewQueue(filter: { namespace: "default" }) { totalCount } }',
    '{ retrieve(input: { query: "x" }) { id } }',
    '{ buildPrompt(input: { retrieve: { query: "x" }, baseInstructions: "", item: "" }) { prompt } }',
    `{ similarNotes(id: "${noteId(1)}") { score } }`,
    '{ stats(namespace: "default") { notes } }',
  ])('forbids %s to a key of another namespace', async (query) => {
    useCases.takeCalls();
    expect(await codes(query, 'team-reader-key')).toEqual(['FORBIDDEN']);
    expect(useCases.takeCalls()).toEqual({});
  });

  it('narrows lists to the grant', async () => {
    const { data } = await server.query(
      '{ notes { totalCount edges { node { namespace } } } stats { notes } auditLog { edges { node { noteId } } } receipt(id: "receipt-1") { id } }',
      {
        key: 'team-reader-key',
      },
    );
    expect(data.notes.totalCount).toBe(2);
    expect(
      new Set(data.notes.edges.map((edge: { node: { namespace: string } }) => edge.node.namespace)),
    ).toEqual(new Set(['team']));
    expect(data.stats.notes).toBe(2);
    expect(data.auditLog.edges).toHaveLength(6);
    expect(data.receipt).toBeNull();
  });

  it('needs admin for the whole audit log', async () => {
    expect(await codes('{ auditLog { totalCount } }', 'reader-key')).toEqual(['FORBIDDEN']);
    expect(await codes(`{ auditLog(noteId: "${noteId(1)}") { totalCount } }`, 'reader-key')).toEqual([]);
    expect(await codes('{ auditLog { totalCount } }', 'admin-key')).toEqual([]);
  });

  it('keeps verdicts within the grant', async () => {
    const call = (note: string) =>
      `mutation { recordOutcome(receiptId: "receipt-1"${note}, verdict: HARMFUL) }`;
    expect(await codes(call(''), 'team-reader-key')).toEqual(['RECEIPT_NOT_FOUND']);
    expect(await codes(call(`, noteId: "${noteId(1)}"`), 'team-reader-key')).toEqual(['RECEIPT_NOT_FOUND']);
  });

  it('lets a limited admin hand out, take away and see no more than it has', async () => {
    const key = 'team-admin-key';
    expect(await codes('mutation { createApiKey(name: "x", roles: ["reader"]) }', key)).toEqual([
      'FORBIDDEN',
    ]);
    expect(
      await codes('mutation { createApiKey(name: "x", roles: ["reader"], namespaces: ["default"]) }', key),
    ).toEqual(['FORBIDDEN']);
    expect(
      await codes('mutation { createApiKey(name: "x", roles: ["reader"], namespaces: ["team"]) }', key),
    ).toEqual([]);
    expect(await codes('mutation { revokeApiKey(name: "admin") }', key)).toEqual(['FORBIDDEN']);
    expect(await codes('mutation { revokeApiKey(name: "team-reader") }', key)).toEqual([]);
    expect(await codes('mutation { startJob(kind: BACKFILL) { id } }', key)).toEqual(['FORBIDDEN']);
    expect(await codes('mutation { cancelJob(id: "job-1") { id } }', key)).toEqual(['JOB_NOT_FOUND']);
    const { data } = await server.query('{ jobs { id } job(id: "job-1") { id } }', { key });
    expect(data).toEqual({ jobs: [{ id: 'job-2' }], job: null });
  });
});

describe('submissions', () => {
  it('judges each entry of a batch on its own, those outside the grant included', async () => {
    const entry = { taskType: 't', wrongAnswer: 'w', correction: 'c', lesson: 'l', namespace: 'team' };
    const { data, errors } = await server.query(
      'mutation ($inputs: [CorrectionInput!]!) { submitCorrections(inputs: $inputs) { outcome note { lesson } findings { rule field } } }',
      {
        key: 'team-reviewer-key',
        variables: {
          inputs: [
            { ...entry, lesson: 'first' },
            { ...entry, namespace: 'default' },
            {
              ...entry,
              attributes: [
                { key: 'a', value: '1' },
                { key: 'a', value: '2' },
              ],
            },
            { ...entry, lesson: ' ' },
            { ...entry, lesson: 'last' },
          ],
        },
      },
    );
    expect(errors).toEqual([]);
    expect(
      data.submitCorrections.map((result: { outcome: string; note?: { lesson: string } }) => [
        result.outcome,
        result.note?.lesson,
      ]),
    ).toEqual([
      ['CREATED', 'first'],
      ['REFUSED', undefined],
      ['REFUSED', undefined],
      ['REFUSED', undefined],
      ['CREATED', 'last'],
    ]);
    expect(data.submitCorrections[1].findings).toEqual([{ rule: 'access.namespace', field: 'namespace' }]);
  });

  it('takes 1,000 at once and refuses 1,001', async () => {
    const inputs = Array.from({ length: 1_001 }, (_, index) => ({
      taskType: 't',
      wrongAnswer: 'w'.repeat(5_000),
      correction: 'c'.repeat(5_000),
      lesson: `lesson ${index}`,
    }));
    const mutation =
      'mutation ($inputs: [CorrectionInput!]!) { submitCorrections(inputs: $inputs) { outcome note { id } duplicateOf { id } similarity findings { rule field reason } } }';
    const fine = await server.query(mutation, { variables: { inputs: inputs.slice(0, 1_000) } });
    expect(fine.errors).toEqual([]);
    expect(fine.data.submitCorrections).toHaveLength(1_000);
    const tooMany = await server.query(mutation, { variables: { inputs } });
    expect(tooMany.errors.map(({ extensions }) => extensions.code)).toEqual(['INPUT_TOO_LARGE']);
  });

  it('lets an edit follow its note, and not move it', async () => {
    const edit = { taskType: 't', wrongAnswer: 'w', correction: 'c', lesson: 'l' };
    const review = (changes: object) =>
      server.query(
        'mutation ($id: ID!, $edit: CorrectionInput) { reviewNote(id: $id, namespace: "team", decision: APPROVE, edit: $edit) { id } }',
        { key: 'team-reviewer-key', variables: { id: noteId(900), edit: { ...edit, ...changes } } },
      );
    expect((await review({})).errors).toEqual([]);
    expect((await review({ namespace: 'other' })).errors[0]?.extensions.code).toBe('FORBIDDEN');
  });
});
