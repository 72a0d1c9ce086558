import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ErrataError } from '../../src/domain/errors.js';
import { toFormattedError } from '../../src/graphql/error-mapping.js';
import { type InMemoryUseCases, populatedUseCases } from './doubles/in-memory-use-cases.js';
import { noteId } from './doubles/sample-notes.js';
import { startTestServer, type TestServer } from './doubles/test-server.js';

const SECRET = 'TOP-SECRET-NOTE-TEXT';

let useCases: InMemoryUseCases;
let server: TestServer;

beforeAll(async () => {
  useCases = populatedUseCases();
  server = await startTestServer(useCases);
});
afterAll(() => server.close());
afterEach(() => useCases.interventions.clear());

describe('errors of use cases', () => {
  it('keep code, category, retryable and details', async () => {
    useCases.interventions.set('stats', () => {
      throw new ErrataError('STORE_BUSY', 'Expected a free store for stats, received a busy one', {
        details: { waitedMs: 5 },
      });
    });
    const { status, errors } = await server.query('{ stats { notes } }');
    expect(status).toBe(200);
    expect(errors).toMatchObject([
      {
        message: 'Expected a free store for stats, received a busy one',
        path: ['stats'],
        extensions: {
          code: 'STORE_BUSY',
          category: 'unavailable',
          retryable: true,
          details: { waitedMs: 5 },
        },
      },
    ]);
  });

  it.each([
    ['a foreign error', () => new Error(`constraint failed: ${SECRET}`)],
    [
      'an internal one of ours',
      () => new ErrataError('INVALID_VECTOR', `Expected a unit vector, received ${SECRET}`),
    ],
    ['a string', () => SECRET],
    ['undefined', () => undefined],
    [
      'an error with a hostile getter',
      () =>
        Object.defineProperty(new Error('x'), 'message', {
          get: () => {
            throw new Error(SECRET);
          },
        }),
    ],
  ])('that are %s become INTERNAL with the id of a log line', async (name, make) => {
    useCases.interventions.set('stats', () => {
      throw make();
    });
    server.logs.length = 0;
    const { text, errors } = await server.query('{ stats { notes } }');
    expect(errors).toHaveLength(1);
    expect(errors[0]?.extensions).toMatchObject({ code: 'INTERNAL', category: 'internal' });
    expect(text).not.toContain(SECRET);
    expect(text).not.toMatch(/stack|\.ts|\.js/);
    if (name !== 'an error with a hostile getter') {
      const id = errors[0]?.extensions.errorId;
      expect(errors[0]?.message).toBe(`Internal error, see the log under id ${id}`);
      expect(server.logs.find(({ fields }) => fields.errorId === id)?.level).toBe('error');
    }
    expect(JSON.stringify(server.logs.filter(({ fields }) => fields.error !== 'ErrataError'))).not.toContain(
      SECRET,
    );
  });

  it('cannot throw, even where the logger does', () => {
    const broken = () => {
      throw new Error('disk full');
    };
    const logger = { debug: broken, info: broken, warn: broken, error: broken };
    expect(toFormattedError(new Error(SECRET), logger)).toEqual({
      message: 'Internal error',
      extensions: { code: 'INTERNAL', category: 'internal', retryable: false, details: {} },
    });
  });
});

const submit = 'mutation ($input: CorrectionInput!) { submitCorrection(input: $input) { outcome } }';
const fine = { taskType: 't', wrongAnswer: 'w', correction: 'c', lesson: 'l' };

describe('wrong input', () => {
  it.each<[string, string, object, string]>([
    ['a missing variable', submit, {}, 'input'],
    ['null for a required field', submit, { input: { ...fine, lesson: null } }, 'input.lesson'],
    ['a missing field', submit, { input: { taskType: 't' } }, 'input'],
    ['an unknown field', submit, { input: { ...fine, extra: SECRET } }, 'input'],
    ['a number for text', submit, { input: { ...fine, lesson: 5 } }, 'input.lesson'],
    ['an object for text', submit, { input: { ...fine, lesson: { a: SECRET } } }, 'input.lesson'],
    ['text for an object', submit, { input: SECRET }, 'input'],
    ['an unknown enum value', submit, { input: { ...fine, impact: SECRET } }, 'input.impact'],
    ['a number for an enum', submit, { input: { ...fine, impact: 3 } }, 'input.impact'],
    [
      'an instant without offset',
      submit,
      { input: { ...fine, createdAt: '2026-01-01T00:00:00' } },
      'input.createdAt',
    ],
    ['a number for an instant', submit, { input: { ...fine, createdAt: 5 } }, 'input.createdAt'],
    ['text for an instant', submit, { input: { ...fine, createdAt: SECRET } }, 'input.createdAt'],
    ['a fraction for Int', 'query ($n: Int) { notes(first: $n) { totalCount } }', { n: 1.5 }, 'n'],
    ['more than 32 bits for Int', 'query ($n: Int) { notes(first: $n) { totalCount } }', { n: 2 ** 40 }, 'n'],
    ['text for Int', 'query ($n: Int) { notes(first: $n) { totalCount } }', { n: SECRET }, 'n'],
    [
      'text for Float',
      'query ($i: RetrieveInput!) { retrieve(input: $i) { id } }',
      { i: { query: 'x', threshold: SECRET } },
      'i.threshold',
    ],
    [
      'an entry of a list',
      'mutation ($ids: [ID!]!) { deprecateNotes(ids: $ids, reason: "x") { id } }',
      { ids: ['a', { b: SECRET }] },
      'ids[1]',
    ],
  ])('in variables is INVALID_INPUT with a path: %s', async (_name, query, variables, field) => {
    const { status, text, errors } = await server.query(query, { variables });
    expect(status).toBe(400);
    expect(errors[0]).toMatchObject({
      extensions: { code: 'INVALID_INPUT', category: 'user', details: { field } },
    });
    expect(errors[0]?.message).toMatch(/^Expected .*, received .* \(at /);
    expect(text).not.toContain(SECRET);
  });

  it.each([
    [
      'a number for text',
      'mutation { submitCorrection(input: { taskType: 5, wrongAnswer: "", correction: "", lesson: "" }) { outcome } }',
    ],
    ['a missing field', 'mutation { submitCorrection(input: { taskType: "t" }) { outcome } }'],
    [
      'an unknown field',
      'mutation { submitCorrection(input: { taskType: "t", wrongAnswer: "", correction: "", lesson: "", nope: 1 }) { outcome } }',
    ],
    ['an unknown enum value', '{ notes(orderBy: SIDEWAYS) { totalCount } }'],
    ['text for an enum', `{ notes(orderBy: "${SECRET}") { totalCount } }`],
    ['a fraction for Int', '{ notes(first: 1.5) { totalCount } }'],
    ['text for Int', `{ notes(first: "${SECRET}") { totalCount } }`],
    ['null for a required argument', '{ note(id: null) { id } }'],
    ['a missing argument', '{ note { id } }'],
    ['a bad instant', `{ notes(filter: { createdFrom: "${SECRET}" }) { totalCount } }`],
    ['a number for an instant', '{ notes(filter: { createdFrom: 5 }) { totalCount } }'],
  ])('in the document is INVALID_INPUT: %s', async (_name, query) => {
    const { status, text, errors } = await server.query(query);
    expect(status).toBe(400);
    expect(errors[0]?.extensions.code).toBe('INVALID_INPUT');
    expect(errors[0]?.message).toMatch(/^Expected .*, received /);
    expect(text).not.toContain(SECRET);
  });

  it('is told 20 times at most', async () => {
    const inputs = Array.from({ length: 1_000 }, () => ({ ...fine, lesson: 5 }));
    const { errors } = await server.query(
      'mutation ($inputs: [CorrectionInput!]!) { submitCorrections(inputs: $inputs) { outcome } }',
      { variables: { inputs } },
    );
    expect(errors).toHaveLength(20);
  });

  it('twice in a map is refused', async () => {
    const attributes = [
      { key: 'a', value: '1' },
      { key: 'a', value: '2' },
    ];
    const { errors } = await server.query(submit, { variables: { input: { ...fine, attributes } } });
    expect(errors[0]?.extensions).toMatchObject({ code: 'INVALID_INPUT', details: { field: 'attributes' } });
  });

  it.each<[string, object, string]>([
    ['a lone surrogate', { text: '\uD800' }, 'INVALID_TEXT'],
    ['NUL', { author: 'a\0b' }, 'INVALID_TEXT'],
    ['NUL in an attribute', { attributes: [{ key: '\0', value: 'x' }] }, 'INVALID_TEXT'],
    ['a long text', { text: 'x'.repeat(8_001) }, 'INPUT_TOO_LARGE'],
    ['many task types', { taskTypes: Array.from({ length: 101 }, () => 'x') }, 'INPUT_TOO_LARGE'],
    ['a long task type', { taskTypes: ['x'.repeat(65)] }, 'INPUT_TOO_LARGE'],
  ])('in a filter is refused before the store sees it: %s', async (_name, filter, code) => {
    useCases.takeCalls();
    const { errors } = await server.query('query ($f: NoteFilter) { notes(filter: $f) { totalCount } }', {
      variables: { f: filter },
    });
    expect(errors[0]?.extensions.code).toBe(code);
    expect(useCases.takeCalls()).toEqual({});
  });

  it('named __proto__ is a key like any other', async () => {
    const attributes = [{ key: '__proto__', value: 'x' }];
    expect((await server.query(submit, { variables: { input: { ...fine, attributes } } })).errors).toEqual(
      [],
    );
    expect(Object.entries(useCases.submitted.at(-1)?.attributes ?? {})).toEqual([['__proto__', 'x']]);
  });

  it.each([
    ['syntax', '{ stats { notes }', 'GRAPHQL_PARSE_FAILED'],
    ['unknown fields', '{ stats { nope } }', 'GRAPHQL_VALIDATION_FAILED'],
    ['an unknown operation name', 'query A { stats { notes } }', 'OPERATION_RESOLUTION_FAILURE'],
    ['an empty document', '', 'BAD_REQUEST'],
    ['white space', '  ', 'GRAPHQL_PARSE_FAILED'],
  ])('of the form of a request keeps its standard code: %s', async (_name, query, code) => {
    const { status, errors } = await server.query(query, { operationName: 'B' });
    expect([status, errors[0]?.extensions.code]).toEqual([400, code]);
  });

  it('that only execution can see is INVALID_INPUT', async () => {
    const { errors } = await server.query('query ($b: Boolean = true) { stats { notes @include(if: $b) } }', {
      variables: { b: null },
    });
    expect(errors[0]?.extensions.code).toBe('INVALID_INPUT');
  });
});

describe('bad stored data', () => {
  it('is INTERNAL without a word of it', async () => {
    const broken = { ...useCases.store.get(noteId(7))!, createdAt: SECRET, supportCount: Number.NaN };
    useCases.store.set(noteId(7), broken);
    const { text, errors } = await server.query(`{ note(id: "${noteId(7)}") { createdAt supportCount } }`);
    expect(errors.map(({ extensions }) => extensions.code)).toContain('INTERNAL');
    expect(text).not.toContain(SECRET);
  });
});
