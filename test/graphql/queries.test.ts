import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

describe('queries', () => {
  it('maps every field of a note', async () => {
    const { status, data, errors } = await server.query(
      `query ($id: ID!) { note(id: $id) {
        id namespace taskType wrongAnswer correction lesson attributes { key value } impact status
        sources { kind author tool url record at } supportCount findings { rule field reason }
        createdAt updatedAt expiresAt reviewAfter supersedes { id } supersededBy { id } version embeddingModel
        outcomes { retrieved helpful harmful ignored } mergeCandidate { similarity note { id } }
        history(first: 2) { totalCount pageInfo { hasNextPage hasPreviousPage startCursor endCursor } edges { cursor node { id at actor action noteId reason changes } } }
      } }`,
      { variables: { id: noteId(3) } },
    );
    expect(errors).toEqual([]);
    expect(status).toBe(200);
    expect(data.note).toMatchObject({
      id: noteId(3),
      namespace: 'default',
      lesson: 'lesson 3',
      attributes: [{ key: 'repo', value: 'repo-0' }],
      sources: [{ kind: 'review', author: 'ada', tool: null, at: null }],
      createdAt: '2026-01-01T00:03:00.000Z',
      expiresAt: null,
      supersedes: [{ id: noteId(1) }, { id: noteId(2) }],
      supersededBy: { id: noteId(4) },
      mergeCandidate: null,
      history: { totalCount: 3, pageInfo: { hasNextPage: true, hasPreviousPage: false } },
    });
    expect(data.note.history.edges).toHaveLength(2);
  });

  it('answers null for a note of another namespace', async () => {
    const { data, errors } = await server.query(`{ note(id: "${noteId(900)}") { id } }`);
    expect([data.note, errors]).toEqual([null, []]);
  });

  it('shows near duplicates in the review queue', async () => {
    const { data } = await server.query(
      '{ reviewQueue { totalCount edges { node { status mergeCandidate { similarity note { id } } } } } }',
    );
    expect(data.reviewQueue.totalCount).toBe(2);
    expect(data.reviewQueue.edges[0].node.mergeCandidate).toEqual({
      similarity: 0.93,
      note: { id: noteId(1) },
    });
  });

  it('refuses a status that is never queued', async () => {
    const { errors } = await server.query('{ reviewQueue(filter: { statuses: [ACTIVE] }) { totalCount } }');
    expect(errors[0]?.extensions.code).toBe('INVALID_INPUT');
  });

  it('retrieves, and gives the receipt back', async () => {
    const first = await server.query(
      `{ retrieve(input: { query: "netty" }) { id abstained threshold scoreScale degraded plan exhaustive indexRevision embeddingModel rerankModel truncated stages { name ms detail } createdAt
         notes { score vectorScore lexicalRank vectorRank rerankScore note { id } } candidates { note { id } } } }`,
    );
    expect(first.errors).toEqual([]);
    expect(first.data.retrieve.notes).toHaveLength(3);
    expect(first.data.retrieve).toMatchObject({
      scoreScale: 'cosine',
      rerankModel: null,
      degraded: ['rerank: not configured'],
    });
    const again = await server.query('query ($id: ID!) { receipt(id: $id) { id notes { note { id } } } }', {
      variables: { id: first.data.retrieve.id },
    });
    expect(again.data.receipt.notes).toHaveLength(3);
  });

  it('builds a prompt', async () => {
    const { data } = await server.query(
      '{ buildPrompt(input: { retrieve: { query: "x" }, baseInstructions: "b", item: "i" }) { prompt contextTokens included { id } omitted { id } retrieval { id } } }',
    );
    expect(data.buildPrompt).toMatchObject({ prompt: 'i', omitted: [] });
    expect(data.buildPrompt.included).toHaveLength(3);
  });

  it('sums stats over namespaces by task type', async () => {
    const { data } = await server.query(
      '{ stats { notes byTaskType { taskType active pending } cacheHitRate store } }',
    );
    expect(data.stats).toMatchObject({ notes: 64, cacheHitRate: null, store: 'memory' });
    expect(data.stats.byTaskType.map((each: { taskType: string }) => each.taskType)).toEqual([
      'code-review',
      'dependency-scan',
    ]);
  });

  it('says what the vector index holds, by part', async () => {
    const { data } = await server.query(
      '{ stats { vectorIndex { partitions graphs building vectors tombstones isa memoryBytes vectorBytes codeBytes graphBytes filterBytes bookkeepingBytes } } }',
    );
    expect(data.stats.vectorIndex).toEqual({
      partitions: 2,
      graphs: 1,
      building: 0,
      vectors: 3,
      tombstones: 1,
      isa: 'scalar',
      memoryBytes: 6e9,
      vectorBytes: 4e9,
      codeBytes: 1e9,
      graphBytes: 5e8,
      filterBytes: 3e8,
      bookkeepingBytes: 2e8,
    });
  });

  it('says which models serve and what hosted ones cost', async () => {
    const { data } = await server.query(
      '{ stats { models { role id runtime { provider sessions threadsPerSession layout batches graphRemembered } usage { requests retries failures billedUnits } } } }',
    );
    expect(data.stats.models).toEqual([
      {
        role: 'EMBEDDING',
        id: 'openai:double',
        runtime: null,
        usage: { requests: 7, retries: 2, failures: 1, billedUnits: 3e9 },
      },
      {
        role: 'RERANKING',
        id: 'double-reranker',
        runtime: {
          provider: 'cuda',
          sessions: 1,
          threadsPerSession: 1,
          layout: 'CONFIGURED',
          batches: 'PADDED',
          graphRemembered: false,
        },
        usage: null,
      },
    ]);
  });

  it('answers GET for queries and refuses it for mutations', async () => {
    const get = (query: string, headers: Record<string, string> = { 'apollo-require-preflight': '1' }) =>
      fetch(`${server.url}/graphql?query=${encodeURIComponent(query)}`, {
        headers: { authorization: 'Bearer admin-key', ...headers },
      });
    const fine = await get('{ stats { notes } }');
    expect([fine.status, await fine.json()]).toEqual([200, { data: { stats: { notes: 64 } } }]);
    expect((await get('mutation { revokeApiKey(name: "x") }')).status).toBe(405);
    const forged = await get('{ stats { notes } }', {});
    expect(forged.status).toBe(400);
    expect(JSON.stringify(await forged.json())).toContain('BAD_REQUEST');
  });
});
