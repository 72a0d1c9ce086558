import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAnswers } from '../../../src/evaluation/answers/answer-runs.js';
import { openWritePath, REVIEWER, steppingClock } from '../../doubles/write-path.js';

const lines = (rows: readonly object[]): string => rows.map((row) => JSON.stringify(row)).join('\n');
const ids = ['a', 'b', 'c', 'd'];
const CASES = lines(ids.map((id) => ({ id, truth: id === 'd', item: `the item ${id}`, taskType: 'scan' })));
const answers = (flagged: string, notes: readonly string[] = []) =>
  lines(ids.map((id) => ({ id, flagged: flagged.includes(id), notes })));

let folder: string;
let path: Awaited<ReturnType<typeof openWritePath>>;
let service: ReturnType<typeof createAnswers>;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'errata-answer-runs-'));
  path = await openWritePath({ path: folder });
  service = createAnswers({ store: path.store, clock: steppingClock() });
});
afterEach(async () => {
  await path.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('answers of a checker in the service', () => {
  it('compares recorded answers and keeps the figures, newest first, without texts of items', async () => {
    await service.saveAnswerCases(REVIEWER, 'team', CASES);
    const first = await service.compareAnswers(REVIEWER, 'team', {
      before: answers('abcd'),
      after: answers('ad', ['n1']),
    });
    expect(first).toMatchObject({ namespace: 'team', createdBy: 'rita', pairs: 4, verdict: 'same' });
    expect(first.falsePositives).toMatchObject({ before: { count: 3, total: 3 }, fixed: 2, broken: 0 });
    expect(first.fixes.map(({ id }) => id)).toEqual(['b', 'c']);
    expect(first.noteEffects).toMatchObject([{ noteId: 'n1', injected: 4, fixed: ['b', 'c'] }]);
    const second = await service.compareAnswers(REVIEWER, 'team', {
      cases: CASES,
      before: answers('d'),
      after: answers(''),
    });
    expect(second.regressions.map(({ id }) => id)).toEqual(['d']);
    expect(await service.answerRuns('team', 10)).toEqual([second, first]);
    expect(await service.answerRuns('team', 1)).toEqual([second]);
    expect(await service.answerRuns('another', 10)).toEqual([]);
    const kept = await path.store.settings.list('answer-runs:');
    expect(JSON.stringify([...kept])).not.toContain('the item');
  });

  it('keeps twenty runs and removes what the twenty-first displaces', async () => {
    await service.saveAnswerCases(REVIEWER, 'team', CASES);
    const made: string[] = [];
    for (let at = 0; at < 22; at += 1) {
      const recorded = { before: answers('abcd'), after: answers('d') };
      made.unshift((await service.compareAnswers(REVIEWER, 'team', recorded)).id);
    }
    const runs = await service.answerRuns('team', 200);
    expect(runs.map(({ id }) => id)).toEqual(made.slice(0, 20));
    expect((await path.store.settings.list('answer-runs:team:')).size).toBe(20);
  });

  it('replaces cases only where the version stands that was seen, keeps no secret, and leaves an audit event', async () => {
    const token = ['ghp', 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5'].join('_');
    const leaky = lines([{ id: 'a', truth: true, item: `pushed with ${token}`, query: 'a push' }]);
    const saved = await service.saveAnswerCases(REVIEWER, 'team', leaky, { ifDigest: null });
    expect(saved).toMatchObject({ cases: 1, positives: 1, askable: 1 });
    expect(JSON.stringify([...(await path.store.settings.list('answer-cases:'))])).not.toContain(token);
    expect(await service.answerCases('team')).toEqual(saved);
    await expect(
      service.saveAnswerCases(REVIEWER, 'team', CASES, { ifDigest: 'f'.repeat(16) }),
    ).rejects.toMatchObject({ code: 'VERSION_CONFLICT' });
    await service.saveAnswerCases(REVIEWER, 'team', CASES, { ifDigest: saved.digest });
    expect(await service.answerCases('team')).toMatchObject({ cases: 4, positives: 1 });
    const { items } = await path.store.audit.list('all', {}, { limit: 5 });
    expect(items.filter(({ action }) => action === 'answer-cases-changed')).toHaveLength(2);
  });

  it.each([
    ['INVALID_FILE', { before: '{', after: answers('a') }],
    ['INVALID_FILE', { before: answers('a'), after: answers('a'), cases: '{"id":"a"}' }],
    ['INVALID_INPUT', { before: answers('a'), after: answers('a') }],
    ['INVALID_INPUT', { before: answers('a'), after: answers('a'), cases: '{"id":"z","truth":true}' }],
  ])('refuses with %s and keeps nothing', async (code, recorded) => {
    await expect(service.compareAnswers(REVIEWER, 'team', recorded)).rejects.toMatchObject({ code });
    expect(await service.answerRuns('team', 10)).toEqual([]);
  });

  it('takes no more cases than it can compare at once', async () => {
    const many = lines(Array.from({ length: 5_001 }, (_, at) => ({ id: `c${at}`, truth: at % 2 === 0 })));
    await expect(service.saveAnswerCases(REVIEWER, 'team', many)).rejects.toMatchObject({
      code: 'INPUT_TOO_LARGE',
    });
  });
});
