import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type InMemoryUseCases, populatedUseCases } from './doubles/in-memory-use-cases.js';
import { noteId, sampleNote } from './doubles/sample-notes.js';
import { startTestServer, type TestServer } from './doubles/test-server.js';

let useCases: InMemoryUseCases;
let server: TestServer;

beforeAll(async () => {
  useCases = populatedUseCases();
  server = await startTestServer(useCases);
});
afterAll(() => server.close());

const callsOf = async (query: string, variables: object = {}): Promise<Record<string, number>> => {
  useCases.takeCalls();
  const { errors } = await server.query(query, { variables });
  expect(errors).toEqual([]);
  return useCases.takeCalls();
};

describe('the number of use-case calls', () => {
  const page = `query ($n: Int) { notes(filter: { namespace: "default" }, first: $n) { totalCount edges { node {
    supersedes { id supersededBy { id } } supersededBy { id } mergeCandidate { note { id } }
    history(first: 2) { totalCount edges { node { id } } } } } } }`;

  it('does not grow with the page', async () => {
    const small = await callsOf(page, { n: 5 });
    const large = await callsOf(page, { n: 50 });
    expect(large).toEqual(small);
    expect(small).toEqual({ list: 1, count: 1, histories: 1, getMany: small.getMany });
    expect(small.getMany).toBeLessThanOrEqual(2);
  });

  it('is one a namespace for single notes by alias', async () => {
    const aliases = Array.from(
      { length: 19 },
      (_, index) => `a${index}: note(id: "${noteId(index)}") { id }`,
    ).join(' ');
    expect(await callsOf(`{ ${aliases} t: note(id: "${noteId(900)}", namespace: "team") { id } }`)).toEqual({
      getMany: 2,
    });
  });

  it('is one for the histories of what was retrieved', async () => {
    const calls = await callsOf(
      '{ retrieve(input: { query: "x" }) { candidates { note { history(first: 5) { edges { node { id } } } } } } }',
    );
    expect(calls).toEqual({ retrieve: 1, histories: 1 });
  });

  it('asks again after a write in the same request', async () => {
    const changed = sampleNote(40, { supersededBy: noteId(41) });
    useCases.add(changed, sampleNote(41, { version: 1 }));
    const { data } = await server.query(
      `mutation ($a: [ID!]!, $b: [ID!]!) {
        one: deprecateNotes(ids: $a, reason: "x") { supersededBy { version } }
        two: deprecateNotes(ids: $b, reason: "x") { version }
        three: restoreNotes(ids: $a, reason: "x") { supersededBy { version } }
      }`,
      { variables: { a: [noteId(40)], b: [noteId(41)] } },
    );
    expect([
      data.one[0].supersededBy.version,
      data.two[0].version,
      data.three[0].supersededBy.version,
    ]).toEqual([1, 2, 2]);
  });
});
