import fc from 'fast-check';
import { getIntrospectionQuery, getOperationAST, parse } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildGraphqlSchema } from '../../src/graphql/build-schema.js';
import { createOperationGate } from '../../src/graphql/limits/operation-gate.js';
import { queryCost } from '../../src/graphql/limits/query-cost.js';
import { GRAPHQL_SERVER_DEFAULTS } from '../../src/graphql/server-config.js';
import { leastCpuMs } from '../cpu-time.js';
import { type InMemoryUseCases, populatedUseCases } from './doubles/in-memory-use-cases.js';
import { startTestServer, type TestServer } from './doubles/test-server.js';

const { limits } = GRAPHQL_SERVER_DEFAULTS;
const deep = (levels: number): string =>
  `{ notes { edges { node { ${'supersededBy { '.repeat(levels)} id ${'}'.repeat(levels)} } } } }`;

/** A document that doubles with every fragment: 2^levels selections once expanded. */
const bomb = (levels: number): string =>
  [
    'query { stats { ...f0 } }',
    ...Array.from(
      { length: levels },
      (_, level) => `fragment f${level} on Stats { ...f${level + 1} ...f${level + 1} }`,
    ),
    `fragment f${levels} on Stats { notes }`,
  ].join('\n');

interface TooComplex {
  readonly limit: string;
  readonly name: string;
  readonly query: string;
  readonly variables?: Record<string, unknown>;
}

const tooComplex = (limit: string, name: string, query: string, variables = {}): TooComplex => ({
  limit,
  name,
  query,
  variables,
});

const TOO_COMPLEX: readonly TooComplex[] = [
  tooComplex('depth', 'nesting', deep(limits.maxDepth)),
  tooComplex(
    'depth',
    'nesting inside fragments',
    `query { notes { edges { node { ...a } } } } fragment a on FeedbackNote { ${'supersededBy { '.repeat(12)} id ${'}'.repeat(12)} }`,
  ),
  tooComplex(
    'aliases',
    'aliases',
    `{ stats { ${Array.from({ length: 31 }, (_, index) => `a${index}: notes`).join(' ')} } }`,
  ),
  tooComplex(
    'aliases',
    'aliases spread by fragments',
    `query { ${'stats { ...a } '.repeat(4)} } fragment a on Stats { ${Array.from({ length: 10 }, (_, index) => `a${index}: notes`).join(' ')} }`,
  ),
  tooComplex('tokens', 'tokens', `{ stats { ${'notes '.repeat(limits.maxTokens)} } }`),
  tooComplex('root fields', 'root fields', `{ ${'stats { notes } '.repeat(21)} }`),
  tooComplex('selections', 'a fragment bomb', bomb(40)),
  tooComplex('fragments', 'fragments', `{ stats { notes } } ${'fragment f on Stats { notes } '.repeat(101)}`),
  tooComplex('field comparisons', 'repeated fields', `{ stats { ${'notes '.repeat(1_990)} } }`),
  tooComplex(
    'cost',
    'pages of pages',
    '{ notes(first: 200) { edges { node { history(first: 200) { edges { node { id } } } } } } }',
  ),
  tooComplex(
    'cost',
    'pages by variables',
    'query ($n: Int, $m: Int) { notes(first: $n) { edges { node { history(first: $m) { edges { node { id } } } } } } }',
    { n: 200, m: 200 },
  ),
  tooComplex(
    'cost',
    'pages by variable defaults',
    'query ($n: Int = 200) { notes(first: $n) { edges { node { history(first: $n) { edges { node { id } } } } } } }',
  ),
  tooComplex(
    'cost',
    'many searches',
    `{ ${Array.from({ length: 15 }, (_, index) => `a${index}: retrieve(input: { query: "x", candidateK: 200 }) { candidates { note { supersedes { id } } } }`).join(' ')} }`,
  ),
];

let useCases: InMemoryUseCases;
let server: TestServer;

beforeAll(async () => {
  useCases = populatedUseCases();
  server = await startTestServer(useCases);
});
afterAll(() => server.close());

describe('limits', () => {
  it.each(TOO_COMPLEX)(
    'refuses too much $limit before execution: $name',
    async ({ limit, query, variables = {} }) => {
      useCases.takeCalls();
      const { status, errors } = await server.query(query, { variables });
      expect(status).toBe(400);
      expect(errors).toMatchObject([
        { extensions: { code: 'QUERY_TOO_COMPLEX', category: 'user', retryable: false, details: { limit } } },
      ]);
      expect(useCases.takeCalls()).toEqual({});
    },
  );

  it.each(TOO_COMPLEX)(
    'refuses too much $limit over WebSocket too: $name',
    async ({ limit, query, variables = {} }) => {
      useCases.takeCalls();
      const events = server.socket('admin-key').iterate({ query, variables });
      const errors = await events.next().then(
        () => [],
        (thrown: unknown) => thrown,
      );
      expect(errors).toMatchObject([{ extensions: { code: 'QUERY_TOO_COMPLEX', details: { limit } } }]);
      expect(useCases.takeCalls()).toEqual({});
    },
  );

  it('judges the variables of every request, also of a known document', async () => {
    const query =
      'query ($n: Int) { notes(first: $n) { edges { node { history(first: $n) { edges { node { id } } } } } } }';
    expect((await server.query(query, { variables: { n: 10 } })).errors).toEqual([]);
    expect((await server.query(query, { variables: { n: 200 } })).errors[0]?.extensions.code).toBe(
      'QUERY_TOO_COMPLEX',
    );
    expect((await server.query(query, { variables: { n: 10 } })).errors).toEqual([]);
  });

  it('allows what the defaults promise', async () => {
    const full =
      '{ notes(first: 200) { totalCount edges { node { id attributes { key } history(first: 20) { edges { node { id } } } } } } }';
    expect((await server.query(full)).errors).toEqual([]);
    expect((await server.query(getIntrospectionQuery())).errors).toEqual([]);
  });

  it('names fragment cycles and refuses to follow them', async () => {
    const { status, errors } = await server.query(
      'query { stats { ...a } } fragment a on Stats { ...b } fragment b on Stats { ...a }',
    );
    expect([status, errors[0]?.extensions.code]).toEqual([400, 'GRAPHQL_VALIDATION_FAILED']);
  });

  it('refuses batches and persisted queries', async () => {
    const batch = await server.post('[{"query":"{ stats { notes } }"},{"query":"{ stats { notes } }"}]');
    expect([batch.status, batch.errors[0]?.extensions.code]).toEqual([400, 'BAD_REQUEST']);
    const persisted = await server.post('{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"x"}}}');
    expect(persisted.errors[0]?.extensions.code).toBe('PERSISTED_QUERY_NOT_SUPPORTED');
  });

  it('answers the worst documents that the token limit lets through within a second', () => {
    const gate = createOperationGate({ schema: buildGraphqlSchema(), limits, introspection: true });
    const worst = [
      `{ stats { ${'notes '.repeat(1_990)} } }`,
      `{ ${'stats { notes } '.repeat(20)} }`,
      `{ stats { ${'... on Stats { notes } '.repeat(330)} } }`,
      `${'{'.repeat(1_999)}`,
      `{ a${'(a: [['.repeat(400)}`,
      bomb(200),
      `query { stats { ${Array.from({ length: 100 }, (_, index) => `...f${index} `).join('')} } } ${Array.from({ length: 100 }, (_, index) => `fragment f${index} on Stats { notes }`).join(' ')}`,
      `{ stats { notes(a: ${'['.repeat(990)}${']'.repeat(990)}) } }`,
      `query { ${'...a '.repeat(950)} } fragment a on Query { stats { notes } }`,
    ];
    for (const query of worst) {
      expect(
        leastCpuMs(() => gate.prepare({ query }), 3),
        query.slice(0, 40),
      ).toBeLessThan(1_000);
    }
  });
});

describe('the gate', () => {
  const gate = createOperationGate({ schema: buildGraphqlSchema(), limits, introspection: true });
  const words = [
    '{',
    '}',
    '(',
    ')',
    '[',
    ']',
    '...',
    'on',
    ':',
    '$',
    '@',
    '!',
    '"',
    '"""',
    'notes',
    'edges',
    'node',
    'first',
    'Query',
    'fragment',
    'query',
    'mutation',
    'subscription',
    '1',
    '-',
    '1e999',
    'null',
    '__typename',
    '#',
    '\\u{D800}',
    '\uD800',
    '\0',
    'é',
  ];

  it('answers any text and any variables with an operation or coded errors, and never throws', () => {
    const documents = fc.oneof(
      fc.string(),
      fc.array(fc.constantFrom(...words), { maxLength: 40 }).map((parts) => parts.join(' ')),
      fc
        .array(fc.constantFrom(...words), { maxLength: 8 })
        .map(
          (parts) =>
            `query ($n: Int, $i: RetrieveInput) { notes(first: $n) { totalCount } ${parts.join(' ')} }`,
        ),
    );
    fc.assert(
      fc.property(
        documents,
        fc.dictionary(fc.constantFrom('n', 'i', '__proto__'), fc.jsonValue()),
        (query, variables) => {
          const answer = gate.prepare({ query, variables });
          if ('refused' in answer) {
            for (const { extensions, message } of answer.refused) {
              expect(extensions).toMatchObject({
                code: expect.any(String),
                category: 'user',
                retryable: false,
              });
              expect(message.length).toBeLessThanOrEqual(400);
            }
          } else {
            expect(answer.prepared.document.kind).toBe('Document');
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('cost', () => {
  const schema = buildGraphqlSchema();
  const cost = (query: string, variables: Record<string, unknown> = {}): number => {
    const document = parse(query);
    return queryCost({ schema, document, operation: getOperationAST(document)!, variables });
  };

  it.each([
    ['{ stats { notes uptimeSeconds } }', 1],
    ['{ note(id: "x") { id attributes { key } sources { kind } } }', 5],
    [
      '{ notes(first: 10) { totalCount edges { node { id } } pageInfo { hasNextPage } } }',
      1 + 1 + 10 * 2 + 1,
    ],
    ['{ notes { edges { node { id } } } }', 1 + 1 + 20 * 2],
    ['{ notes(last: 7) { edges { cursor } } }', 1 + 1 + 7],
    ['{ retrieve(input: { query: "x", finalK: 5 }) { notes { score } } }', 20 + 1 + 5],
    ['mutation { deprecateNotes(ids: ["a", "b", "c"], reason: "x") { id } }', 1 + 3],
    ['{ __schema { types { name } } }', 100],
  ])('of %s is %d', (query, expected) => {
    expect(cost(query)).toBe(expected);
  });

  it('reads sizes from variables, nested inputs and defaults', () => {
    const query =
      'query ($n: Int = 3, $input: RetrieveInput!) { notes(first: $n) { edges { cursor } } retrieve(input: $input) { candidates { score } } }';
    const base = { input: { query: 'x' } };
    expect(cost(query, { ...base, n: 50 }) - cost(query, base)).toBe(47);
    expect(cost(query, { input: { query: 'x', candidateK: 100 } }) - cost(query, base)).toBe(80);
  });

  it('counts fragments once a use', () => {
    expect(
      cost(
        'query { notes(first: 2) { ...page } } fragment page on NoteConnection { edges { ...e } } fragment e on NoteEdge { node { id } }',
      ),
    ).toBe(cost('{ notes(first: 2) { edges { node { id } } } }'));
  });
});

describe('introspection', () => {
  it('can be switched off, suggestions included', async () => {
    const closed = await startTestServer(useCases, { introspection: false });
    try {
      const { errors } = await closed.query('{ __schema { types { name } } }');
      expect(errors[0]?.extensions.code).toBe('GRAPHQL_VALIDATION_FAILED');
      const misspelt = await closed.query('{ stat { notes } }');
      expect(misspelt.errors[0]?.message).toBe('Cannot query field "stat" on type "Query".');
      expect((await closed.query('{ __typename stats { notes } }')).errors).toEqual([]);
    } finally {
      await closed.close();
    }
  });
});
