import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSchema, Kind, OperationTypeNode, parse, validate } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type InMemoryUseCases, populatedUseCases } from './doubles/in-memory-use-cases.js';
import { noteId } from './doubles/sample-notes.js';
import { startTestServer, type TestServer } from './doubles/test-server.js';
import { OPERATIONS_FOLDER, runOperationScenario } from './operation-scenario.js';

const files = readdirSync(OPERATIONS_FOLDER).filter((name) => name.endsWith('.graphql'));
const sourceOf = (file: string): string => readFileSync(join(OPERATIONS_FOLDER, file), 'utf8');

const correction = { taskType: 'code-review', wrongAnswer: 'a', correction: 'b', lesson: 'c' };

/** Variables that each document is run with, against the double. */
const VARIABLES: Readonly<Record<string, object>> = {
  'notes-list.graphql': { filter: { statuses: ['ACTIVE'] }, first: 5 },
  'note-detail.graphql': { id: noteId(1) },
  'review-queue.graphql': { first: 5 },
  'stats.graphql': {},
  'audit-log.graphql': { noteId: noteId(1) },
  'note-changes.graphql': {},
  'submit-correction.graphql': { input: correction },
  'submit-corrections.graphql': { inputs: [correction, { ...correction, lesson: ' ' }] },
  'review-note.graphql': { id: noteId(500), decision: 'APPROVE', comment: 'fine' },
  'review-notes.graphql': { ids: [noteId(500)], decision: 'REJECT' },
  'assign-review.graphql': { id: noteId(500), assignee: 'rita' },
  'comment-note.graphql': { id: noteId(500), comment: 'a remark' },
  'review-metrics.graphql': { days: 7 },
  'sweep-report.graphql': { jobId: 'job-1' },
  'review-policy.graphql': {},
  'set-review-policy.graphql': { policy: { dueDays: 3 } },
  'report-anchor.graphql': { anchor: { kind: 'FILE', ref: 'a.ts', state: 'abc' } },
  'deprecate-notes.graphql': { ids: [noteId(5)], reason: 'old' },
  'restore-notes.graphql': { ids: [noteId(5)], reason: 'not old' },
  'similar-notes.graphql': { id: noteId(1) },
  'retrieve.graphql': { input: { query: 'netty' } },
  'build-prompt.graphql': { input: { retrieve: { query: 'netty' }, baseInstructions: 'b', item: 'i' } },
  'record-outcome.graphql': { receiptId: 'receipt-1', noteId: noteId(1), verdict: 'HELPFUL' },
  'receipt.graphql': { id: 'receipt-1' },
  'add-golden-query.graphql': { input: { query: 'netty', expected: [{ noteId: noteId(1), grade: 2 }] } },
  'save-golden-set.graphql': { jsonl: '{"id":"a","query":"b","expected":[]}' },
  'remove-golden-query.graphql': { id: 'q-1' },
  'golden-set.graphql': {},
  'evaluation-runs.graphql': { first: 2 },
  'evaluation-cases.graphql': { runId: 'run-1' },
  'compare-runs.graphql': { before: 'run-1', after: 'run-2' },
  'sweeps.graphql': {},
  'save-answer-cases.graphql': { jsonl: '{"id":"a","truth":true}' },
  'answer-cases.graphql': {},
  'compare-answers.graphql': { before: '{"id":"a","flagged":true}', after: '{"id":"a","flagged":false}' },
  'answer-runs.graphql': { first: 2 },
  'calibrations.graphql': {},
  'clear-calibrations.graphql': {},
  'start-job.graphql': { kind: 'BACKFILL', options: [{ key: 'batch', value: '64' }] },
  'job.graphql': { id: 'job-1' },
  'jobs.graphql': {},
  'cancel-job.graphql': { id: 'job-1' },
  'job-progress.graphql': { id: 'job-1' },
  'create-api-key.graphql': { name: 'ci', roles: ['reader'] },
  'revoke-api-key.graphql': { name: 'ci' },
  'erase-note.graphql': { id: noteId(6), reason: 'leaked secret' },
};

let useCases: InMemoryUseCases;
let server: TestServer;

beforeAll(async () => {
  useCases = populatedUseCases();
  await useCases.jobs.start({ name: 'x', roles: ['admin'] }, 'BACKFILL', undefined, {});
  await useCases.retrieval.retrieve({ name: 'x', roles: ['reader'] }, { query: 'x' });
  server = await startTestServer(useCases);
});
afterAll(() => server.close());

describe('schema/operations', () => {
  const schema = buildSchema(readFileSync('schema/schema.graphql', 'utf8'));

  it('has variables here and a line in the README for every document', () => {
    expect(files.toSorted()).toEqual(Object.keys(VARIABLES).toSorted());
    const readme = readFileSync(join(OPERATIONS_FOLDER, 'README.md'), 'utf8');
    expect(files.filter((file) => !readme.includes(`\`${file}\``))).toEqual([]);
  });

  it.each(files)('%s is valid and named as its file', (file) => {
    const document = parse(sourceOf(file));
    expect(validate(schema, document)).toEqual([]);
    expect(document.definitions).toHaveLength(1);
    const [operation] = document.definitions;
    const name = operation?.kind === Kind.OPERATION_DEFINITION ? operation.name?.value : undefined;
    const expected = file
      .replace('.graphql', '')
      .replaceAll(/(?:^|-)(\w)/g, (_, letter) => letter.toUpperCase());
    expect(name).toBe(expected);
  });

  const isSubscription = (file: string): boolean =>
    parse(sourceOf(file)).definitions.some(
      (each) => each.kind === Kind.OPERATION_DEFINITION && each.operation === OperationTypeNode.SUBSCRIPTION,
    );

  it.each(files.filter((file) => !isSubscription(file)))('%s runs', async (file) => {
    const { status, data, errors } = await server.query(sourceOf(file), { variables: VARIABLES[file]! });
    expect(errors).toEqual([]);
    expect(status).toBe(200);
    expect(Object.values(data)[0]).not.toBeNull();
  });

  it('run one after the other, as a team would', async () => {
    const ran = await runOperationScenario((query, variables) => server.query(query, { variables }));
    expect([...ran].toSorted()).toEqual(files.filter((file) => !isSubscription(file)).toSorted());
  });

  it.each(files.filter(isSubscription))('%s delivers', async (file) => {
    const events = server
      .socket('admin-key')
      .iterate({ query: sourceOf(file), variables: VARIABLES[file] as Record<string, unknown> });
    const next = events.next();
    if (file === 'note-changes.graphql') {
      await expect.poll(() => useCases.feeds.size).toBe(1);
      for (const feed of useCases.feeds) feed.push(useCases.store.get(noteId(1))!);
    }
    const { value } = await next;
    expect(value.errors).toBeUndefined();
    expect(Object.values(value.data)[0]).toHaveProperty('id');
    await events.return?.();
  });
});
