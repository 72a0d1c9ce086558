import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const OPERATIONS_FOLDER = 'schema/operations';

/** Sends one document with an admin key and gives back what came. */
export type SendOperation = (
  query: string,
  variables: object,
) => Promise<{
  // biome-ignore lint/suspicious/noExplicitAny: answers of any shape are looked into.
  data: any;
  errors: readonly { message: string; extensions?: Record<string, unknown> }[];
}>;

const correction = (lesson: string, changes: object = {}) => ({
  taskType: 'operations-scenario',
  wrongAnswer: `Claimed the opposite of: ${lesson}`,
  correction: lesson,
  lesson,
  source: { kind: 'review', author: 'scenario', at: '2026-01-31T10:30:00+01:00' },
  ...changes,
});

const lines = (rows: readonly object[]): string => rows.map((row) => JSON.stringify(row)).join('\n');

/**
 * Runs every query and mutation document in an order that makes sense, with ids taken from earlier answers, so that the
 * same scenario works against a double and against the whole application.
 *
 * @returns the files that ran. Throws at the first answer with errors.
 */
export async function runOperationScenario(send: SendOperation): Promise<ReadonlySet<string>> {
  const ran = new Set<string>();
  // biome-ignore lint/suspicious/noExplicitAny: the answer's only field, of any shape.
  const run = async (name: string, variables: object, tolerated: readonly string[] = []): Promise<any> => {
    const file = `${name}.graphql`;
    const { data, errors } = await send(readFileSync(join(OPERATIONS_FOLDER, file), 'utf8'), variables);
    const unexpected = errors.filter(({ extensions }) => !tolerated.includes(String(extensions?.code)));
    if (unexpected.length > 0) throw new Error(`${file}: ${JSON.stringify(unexpected)}`);
    ran.add(file);
    return data === null || data === undefined ? undefined : Object.values(data)[0];
  };

  const first = await run('submit-correction', {
    input: correction(
      'Jar files under test resources are never shipped, so their CVEs do not block a release.',
    ),
  });
  const batch = await run('submit-corrections', {
    inputs: [
      correction('Python type hints are not checked at run time; a wrong one raises nothing by itself.'),
      correction('A French invoice dated 03/04 means the third of April.'),
      correction(' '),
    ],
  });
  if (batch.at(-1)?.outcome !== 'REFUSED') throw new Error('Expected REFUSED for the empty lesson');
  const [second, third] = batch;
  const id = first.note.id;
  await run('notes-list', { filter: { taskTypes: ['operations-scenario'] }, first: 5 });
  await run('note-detail', { id });
  await run('similar-notes', { id });
  await run('stats', { namespace: 'default' });
  await run('audit-log', { noteId: id });

  const input = { query: 'CVE in a jar under test resources', taskType: 'operations-scenario' };
  const retrieval = await run('retrieve', { input });
  await run('build-prompt', { input: { retrieve: input, baseInstructions: 'Judge.', item: 'The item.' } });
  await run('receipt', { id: retrieval.id });
  await run('record-outcome', {
    receiptId: retrieval.id,
    noteId: retrieval.notes[0]?.note.id ?? null,
    verdict: 'HELPFUL',
  });
  await run('add-golden-query', {
    input: { query: input.query, receiptId: retrieval.id, expected: [{ noteId: id }] },
  });
  await run('golden-set', {});
  const golden = [
    { id: 'q-1', query: input.query, expected: [{ key: id, grade: 3 }] },
    { id: 'q-2', query: 'which coffee machine is broken', expected: [] },
  ];
  const saved = await run('save-golden-set', { jsonl: lines(golden) });
  await run('remove-golden-query', { id: 'q-2', ifDigest: saved.digest });
  await run('evaluation-runs', { first: 1 });
  await run('sweeps', {});
  const cases = [
    { id: 'a', truth: false, item: 'CVE in a jar under test resources' },
    { id: 'b', truth: true, item: 'CVE in a jar that is shipped' },
  ];
  await run('save-answer-cases', { jsonl: lines(cases), ifDigest: null });
  await run('answer-cases', {});
  const flagged = (a: boolean, notes: readonly string[]) =>
    lines([
      { id: 'a', flagged: a, notes },
      { id: 'b', flagged: true, notes },
    ]);
  await run('compare-answers', { before: flagged(true, []), after: flagged(false, [id]) });
  await run('answer-runs', { first: 1 });
  // The double keeps queries of every run, an application only of runs that were made.
  await run('evaluation-cases', { runId: 'run-1' }, ['INVALID_INPUT']);
  await run('compare-runs', { before: 'run-1', after: 'run-2' }, ['INVALID_INPUT']);
  await run('calibrations', {});
  await run('clear-calibrations', {});

  const risky = await run('submit-correction', {
    input: correction('Never approve a contract whose liability clause is unlimited.', { impact: 'HIGH' }),
  });
  await run('review-queue', { first: 5 });
  await run('review-policy', {});
  await run('set-review-policy', { policy: { dueDays: 3, approvals: { highImpact: 1 } } });
  // The double keeps no review; an application under another policy may have let the note live.
  await run('assign-review', { id: risky.note.id, assignee: 'rita' }, ['INVALID_TRANSITION']);
  await run('comment-note', { id: risky.note.id, comment: 'I would shorten it.' });
  await run('review-metrics', { days: 7 });
  await run('report-anchor', { anchor: { kind: 'RULE', ref: 'CWE-89', state: '4.2' }, dryRun: true });
  // Another outcome than NEEDS_REVIEW leaves nothing to approve; the document still has to be understood.
  await run('review-note', { id: risky.note.id, decision: 'APPROVE', comment: 'right' }, [
    'INVALID_TRANSITION',
  ]);
  await run('review-notes', { ids: [risky.note.id], decision: 'APPROVE' });
  await run('deprecate-notes', { ids: [second.note.id], reason: 'scenario' });
  await run('restore-notes', { ids: [second.note.id], reason: 'scenario' });
  await run('erase-note', { id: third.note.id, reason: 'scenario' });

  const job = await run('start-job', { kind: 'BACKFILL' });
  await run('job', { id: job.id });
  await run('jobs', { first: 5 });
  // No sweep, but for the double.
  await run('sweep-report', { jobId: job.id }, ['JOB_NOT_FOUND']);
  // The job may have ended by now.
  await run('cancel-job', { id: job.id }, ['INVALID_TRANSITION']);
  await run('create-api-key', { name: 'operations-scenario', roles: ['reader'], namespaces: ['default'] });
  await run('revoke-api-key', { name: 'operations-scenario' });
  return ran;
}
