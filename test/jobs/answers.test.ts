import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ErrataError } from '../../src/domain/errors.js';
import type { Job } from '../../src/domain/job.js';
import { createAnswers } from '../../src/evaluation/answers/answer-runs.js';
import { answersHandler, type CheckerRequest } from '../../src/jobs/answers.js';
import type { JobProgress } from '../../src/jobs/job-handler.js';
import { openWritePath, REVIEWER, steppingClock } from '../doubles/write-path.js';

const CASES = Array.from({ length: 100 }, (_, at) => ({
  id: `c${at}`,
  truth: at % 2 === 0,
  item: `item ${at}`,
}));
const OPTIONS = { instructions: 'Judge.', maxCalls: '500', promptPrice: '1', completionPrice: '2' };

let folder: string;
let path: Awaited<ReturnType<typeof openWritePath>>;
const clock = steppingClock();

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'errata-answers-job-'));
  path = await openWritePath({ path: folder });
  const jsonl = CASES.map((one) => JSON.stringify(one)).join('\n');
  await createAnswers({ store: path.store, clock }).saveAnswerCases(REVIEWER, 'team', jsonl);
});
afterEach(async () => {
  await path.close();
  rmSync(folder, { recursive: true, force: true });
});

function jobOf(options: Job['options'], id = 'job-1'): Job {
  const rest = { done: 0, createdAt: clock.now(), cancelRequested: false, fence: 1 };
  return { id, kind: 'ANSWERS', namespace: 'team', options, state: 'RUNNING', ...rest };
}

/** A checker that flags everything without lessons and nothing but the truth with them; two calls and 1 of money a case. */
function checker(asked: CheckerRequest[] = []) {
  return async (request: CheckerRequest) => {
    asked.push(request);
    const before: { id: string; flagged: boolean; notes: string[] }[] = [];
    const after: typeof before = [];
    const spending = { calls: 0, promptTokens: 0, completionTokens: 0, cost: 0 };
    for (const { id, truth } of request.cases) {
      request.signal.throwIfAborted();
      const answers = {
        before: { id, flagged: true, notes: [] },
        after: { id, flagged: truth, notes: ['n1'] },
      };
      before.push(answers.before);
      after.push(answers.after);
      spending.calls += 2;
      spending.cost += 1;
      await request.onAnswered(answers, { ...spending });
    }
    return { before, after, spending, checker: 'a-model' };
  };
}

const run = (
  job: Job,
  ask: ReturnType<typeof checker>,
  checkpoint: (progress: JobProgress) => Promise<void> = async () => undefined,
) =>
  answersHandler({ store: path.store, clock, ask })({
    job,
    checkpoint,
    signal: new AbortController().signal,
  });
const runs = () => createAnswers({ store: path.store, clock }).answerRuns('team', 10);

describe('job ANSWERS', () => {
  it('asks about every saved case, reports progress, and keeps the comparison', async () => {
    const progress: JobProgress[] = [];
    const message = await run(jobOf(OPTIONS), checker(), async (made) => void progress.push(made));
    expect(message).toContain('better over 100 cases, false positives 50/50 → 0/50');
    expect(progress).toHaveLength(50);
    expect(progress.at(-1)).toMatchObject({ done: 100, total: 100 });
    const [kept] = await runs();
    expect(message).toContain(kept?.id ?? 'no run');
    expect(kept).toMatchObject({
      checker: 'a-model',
      createdBy: 'job:job-1',
      spending: { calls: 200, cost: 100 },
    });
    expect((await path.store.settings.list('answers-job:')).size).toBe(0);
  });

  it('goes on behind what was answered, pays for it once, and holds its limits over both parts', async () => {
    const killed = async ({ done }: JobProgress) => {
      if (done === 40) throw new ErrataError('ABORTED', 'the process was stopped');
    };
    await expect(run(jobOf(OPTIONS), checker(), killed)).rejects.toMatchObject({ code: 'ABORTED' });
    expect(await runs()).toEqual([]);
    const asked: CheckerRequest[] = [];
    await run(jobOf({ ...OPTIONS, budget: '150' }), checker(asked));
    expect(asked[0]?.cases).toHaveLength(60);
    expect(asked[0]?.limits).toMatchObject({ maxCalls: 420, maxCost: 110 });
    const [kept] = await runs();
    expect(kept).toMatchObject({ pairs: 100, spending: { calls: 200, cost: 100 } });
  });

  it('asks nothing again where it was killed behind its end', async () => {
    const message = await run(jobOf(OPTIONS), checker());
    const asked: CheckerRequest[] = [];
    expect(await run(jobOf(OPTIONS), checker(asked))).toBe(message);
    expect(asked).toEqual([]);
    expect((await runs()).map(({ id }) => id)).toEqual(['job-1']);
  });

  it('takes nothing over from another job', async () => {
    const killed = async () => {
      throw new ErrataError('ABORTED', 'the process was stopped');
    };
    await expect(run(jobOf(OPTIONS), checker(), killed)).rejects.toMatchObject({ code: 'ABORTED' });
    const asked: CheckerRequest[] = [];
    await run(jobOf(OPTIONS, 'job-2'), checker(asked));
    expect(asked[0]?.cases).toHaveLength(100);
  });

  it.each([
    ['instructions', { maxCalls: '5' }],
    ['maxCalls', { instructions: 'Judge.' }],
    // A budget without prices limits nothing.
    ['maxCalls', { instructions: 'Judge.', budget: '5' }],
    ['maxCalls', { instructions: 'Judge.', maxCalls: '1.5' }],
    ['promptPrice', { instructions: 'Judge.', maxCalls: '5', promptPrice: '-1' }],
    ['attribute', { instructions: 'Judge.', maxCalls: '5', attribute: 'yes' }],
  ])('refuses a run for its %s before anything is asked', async (field, options) => {
    const asked: CheckerRequest[] = [];
    await expect(run(jobOf(options), checker(asked))).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      details: { field },
    });
    expect(asked).toEqual([]);
  });
});
