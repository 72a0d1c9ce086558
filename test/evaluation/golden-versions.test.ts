import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseGoldenSet } from '../../src/evaluation/golden-set.js';
import { createEvaluations } from '../../src/evaluation/golden-versions.js';
import { recordRun } from '../../src/evaluation/run-history.js';
import { queryDigest } from '../../src/guard/redact-secrets.js';
import { openWritePath, REVIEWER, steppingClock } from '../doubles/write-path.js';
import { caseOf, reportOf } from './case-results.js';

const QUESTION = 'a jar of test resources holds a CVE';
const correction = (lesson: string) => ({
  taskType: 'code-review',
  wrongAnswer: `Claimed the opposite of: ${lesson}`,
  correction: lesson,
  lesson,
});

let folder: string;
let path: Awaited<ReturnType<typeof openWritePath>>;
let evaluations: ReturnType<typeof createEvaluations>;
let noteId: string;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'errata-golden-'));
  path = await openWritePath({ path: folder });
  evaluations = createEvaluations({ store: path.store, clock: steppingClock() });
  const { note } = await path.commands.submit(
    REVIEWER,
    correction('Jars of test resources are never shipped.'),
  );
  noteId = note?.id ?? '';
});

afterEach(async () => {
  await path.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('golden sets of judgements', () => {
  it('replaces the judgement of the same question and keeps every version', async () => {
    const first = await evaluations.addGoldenQuery(REVIEWER, { query: QUESTION, expected: [] });
    expect(first).toMatchObject({ queries: 1, answerable: 0, savedBy: 'rita' });
    const second = await evaluations.addGoldenQuery(REVIEWER, {
      query: QUESTION,
      expected: [{ noteId, grade: 2 }],
    });
    expect(second).toMatchObject({ queries: 1, answerable: 1 });
    expect(second.versions.map(({ digest }) => digest)).toEqual([second.digest, first.digest]);
    const now = parseGoldenSet(await evaluations.goldenText('default'), 'now');
    expect(now.queries[0]?.expected).toEqual([{ key: noteId, grade: 2 }]);
    const before = parseGoldenSet(await evaluations.goldenText('default', first.digest), 'before');
    expect(before.queries[0]?.expected).toEqual([]);
    expect(before.digest).toBe(first.digest);
  });

  it('keeps no secret of a question, judged or saved from a file', async () => {
    const secret = 'Tr4wn!Hollow9';
    const query = `the login fails with password=${secret}`;
    const redacted = 'the login fails with password=[REDACTED:credential:1]';
    await evaluations.addGoldenQuery(REVIEWER, { query, expected: [] });
    const file = [
      { id: 'a', query, expected: [] },
      { id: 'b', query: QUESTION, expected: [] },
    ];
    const judged = await evaluations.goldenText('default');
    const lines = file.map((entry) => JSON.stringify({ ...JSON.parse(judged), ...entry }));
    await evaluations.saveGoldenSet(REVIEWER, 'default', lines.join('\n'));
    const saved = await evaluations.goldenText('default');
    for (const text of [judged, saved]) expect(text).not.toContain(secret);
    const { queries } = parseGoldenSet(saved, 'saved');
    expect(queries.map((one) => one.query)).toEqual([redacted, QUESTION]);
    expect(saved.split('\n')[1]).toBe(lines[1]);
    // Receipts name the question by a digest from which a short secret cannot be guessed.
    expect(queryDigest(query)).toBe(createHash('sha256').update(redacted).digest('hex'));
  });

  it('loses none of twenty judgements made at once', async () => {
    const questions = Array.from({ length: 20 }, (_, index) => `question ${index}`);
    await Promise.all(
      questions.map((query) => evaluations.addGoldenQuery(REVIEWER, { query, expected: [] })),
    );
    const { queries } = parseGoldenSet(await evaluations.goldenText('default'), 'set');
    expect(queries.map(({ query }) => query).toSorted()).toEqual(questions.toSorted());
  });

  it.each([
    ['NOTE_NOT_FOUND', { query: QUESTION, expected: [{ noteId: 'f'.repeat(64), grade: 3 }] }],
    ['RECEIPT_NOT_FOUND', { query: QUESTION, expected: [], receiptId: 'no-such' }],
    ['INVALID_TEXT', { query: ' ', expected: [] }],
  ])('refuses with %s and changes nothing', async (code, input) => {
    await expect(evaluations.addGoldenQuery(REVIEWER, input)).rejects.toMatchObject({ code });
    expect(await evaluations.goldenSet('default')).toBeUndefined();
  });

  it('refuses a grade outside 1…3', async () => {
    const input = { query: QUESTION, expected: [{ noteId, grade: 4 }] };
    await expect(evaluations.addGoldenQuery(REVIEWER, input)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
  });

  it('names the line of a file that is no golden set', async () => {
    const broken = '{"id":"a","query":"b","expected":[]}\n{"id":"a","query":"c","expected":[]}';
    await expect(evaluations.saveGoldenSet(REVIEWER, 'default', broken)).rejects.toMatchObject({
      code: 'INVALID_FILE',
      details: { line: 2 },
    });
  });
});

describe('sets that are saved as a whole', () => {
  const line = (id: string, key?: string) =>
    JSON.stringify({ id, query: `question ${id}`, expected: key === undefined ? [] : [{ key, grade: 3 }] });

  it('names the lines whose notes the namespace lacks, and takes them where that is wanted', async () => {
    const jsonl = [
      line('a', noteId),
      '',
      line('b', 'no-such-note'),
      line('c'),
      line('d', 'f'.repeat(64)),
    ].join('\n');
    await expect(evaluations.saveGoldenSet(REVIEWER, 'default', jsonl)).rejects.toMatchObject({
      code: 'NOTE_NOT_FOUND',
      message: expect.stringContaining('in line 3, 5'),
      details: { line: 3, lines: 2, unknown: 2 },
    });
    // The note exists, but not for this tenant.
    await expect(evaluations.saveGoldenSet(REVIEWER, 'another', line('a', noteId))).rejects.toMatchObject({
      code: 'NOTE_NOT_FOUND',
    });
    expect(await evaluations.goldenSet('default')).toBeUndefined();
    const saved = await evaluations.saveGoldenSet(REVIEWER, 'default', jsonl, { allowUnknownNotes: true });
    expect(saved).toMatchObject({ queries: 4, answerable: 3 });
  });

  it('takes the place of the version that its writer has seen, and of no other', async () => {
    const save = (jsonl: string, ifDigest?: string | null) =>
      evaluations.saveGoldenSet(REVIEWER, 'default', jsonl, { ifDigest });
    const first = await save(line('a'), null);
    await expect(save(line('b'), null)).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
    await expect(save(line('b'), 'f'.repeat(16))).rejects.toMatchObject({
      code: 'VERSION_CONFLICT',
      message: expect.stringContaining(first.digest),
    });
    const second = await save(line('b'), first.digest);
    expect(second.digest).not.toBe(first.digest);
    // Of two writers that have both seen the second version one wins.
    const both = await Promise.allSettled([save(line('c'), second.digest), save(line('d'), second.digest)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const events = await path.store.audit.list('all', {}, { limit: 10 });
    expect(events.items.filter(({ action }) => action === 'golden-set-changed')).toHaveLength(3);
  });

  it('loses one query at a time, never the last', async () => {
    const { digest } = await evaluations.saveGoldenSet(REVIEWER, 'default', `${line('a')}\n${line('b')}\n`);
    const remove = (id: string, ifDigest?: string) =>
      evaluations.removeGoldenQuery(REVIEWER, 'default', id, { ifDigest });
    await expect(remove('c')).rejects.toMatchObject({ code: 'INVALID_INPUT', details: { field: 'id' } });
    await expect(remove('a', 'f'.repeat(16))).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
    expect(await remove('a', digest)).toMatchObject({ queries: 1 });
    expect(await evaluations.goldenText('default')).toBe(`${line('b')}\n`);
    await expect(remove('b')).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });
});

describe('history of runs', () => {
  it('keeps the newest fifty, newest first, without texts of queries', async () => {
    const report = reportOf([caseOf({ id: 'q1', expected: ['a'], ranking: ['a'], answered: ['a'] })]);
    const made: string[] = [];
    for (let at = 0; at < 52; at += 1) made.unshift((await recordRun(path.store.settings, report)).id);
    const runs = await evaluations.runs(report.namespace, 200);
    expect(runs.map(({ id }) => id)).toEqual(made.slice(0, 50));
    expect(JSON.stringify(runs)).not.toContain(report.cases[0]?.query);
    const recall = runs[0]?.intervals?.find(({ name }) => name === 'recallAt3');
    expect(recall).toEqual({ name: 'recallAt3', ...report.intervals.recallAt3 });
    expect(await evaluations.runs('another', 10)).toEqual([]);
  });

  it('keeps what the queries of the newest ten got, without their texts, and compares two of them', async () => {
    const of = (answered: readonly string[]) =>
      reportOf(
        Array.from({ length: 8 }, (_, at) =>
          caseOf({ id: `q${at}`, expected: ['a'], ranking: answered, answered }),
        ),
      );
    const report = of(['a']);
    const { namespace } = report;
    const first = await recordRun(path.store.settings, report);
    const worse = await recordRun(path.store.settings, of(['b']));
    const cases = await evaluations.cases(namespace, first.id);
    expect(cases).toHaveLength(8);
    expect(cases[0]).toMatchObject({ id: 'q0', half: 'test', expected: ['a'], answered: ['a'] });
    expect(JSON.stringify(cases)).not.toContain(report.cases[0]?.query);

    const { measures, changes, sameGoldenSet } = await evaluations.compareRuns(
      ...([namespace, first.id, worse.id] as const),
      'test',
    );
    expect(sameGoldenSet).toBe(true);
    const recall = measures.find(({ name }) => name === 'recallAt3');
    expect(recall).toMatchObject({ pairs: 8, before: 1, after: 0, low: -1, high: -1 });
    // All of eight pairs in one direction: 2 of 2^8 sign flips are as extreme.
    expect(recall?.pValue).toBeLessThan(0.02);
    expect(changes).toHaveLength(8);
    expect(changes[0]).toMatchObject({ id: 'q0', before: ['a'], after: ['b'] });
    expect(changes[0]?.worse).toContain('recallAt3');

    for (let at = 0; at < 9; at += 1) await recordRun(path.store.settings, report);
    await expect(evaluations.cases(namespace, first.id)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    expect(await evaluations.cases(namespace, worse.id)).toHaveLength(8);
    await expect(evaluations.cases('another', worse.id)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(evaluations.compareRuns(namespace, worse.id, worse.id, 'both')).rejects.toMatchObject({
      details: { field: 'half' },
    });
  });
});
