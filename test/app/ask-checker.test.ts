import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askConfiguredChecker } from '../../src/app/ask-checker.js';
import { withJudge } from '../../src/app/judge-report.js';
import type { AskCheckerRequest } from '../../src/cli/cli-deps.js';
import { compareAnswers } from '../../src/evaluation/answers/compare-answers.js';
import { startChatService } from '../adapters/chat/chat-service.js';
import { caseOf, reportOf } from '../evaluation/case-results.js';
import { modelForTests } from '../models/installed-model.js';
import { ADMIN, openRealApp, type RealApp } from './real-app.js';

const { missing } = await modelForTests();

const LESSONS = [
  'CVE-2021-44228 sits in log4j-core; log4j-api without log4j-core is not affected.',
  'Before reporting CVE-2021-44228 for log4j, look whether the jar is log4j-api or log4j-core.',
];
const cases = [
  { id: 'api', truth: false, item: 'CVE-2021-44228 reported for log4j-api without log4j-core' },
  { id: 'core', truth: true, item: 'CVE-2021-44228 reported for log4j-core 2.14' },
  { id: 'other', truth: true, item: 'Unquoted search path in a Windows service installer' },
];

describe.skipIf(missing !== undefined)('asking a live checker (needs all-MiniLM-L6-v2)', () => {
  let real: RealApp;
  let service: Awaited<ReturnType<typeof startChatService>>;
  let cache: string;

  beforeAll(async () => {
    real = await openRealApp();
    cache = mkdtempSync(join(tmpdir(), 'errata-answers-'));
    for (const [index, lesson] of LESSONS.entries()) {
      await real.app.useCases.commands.submit(ADMIN, {
        taskType: `scan-${index}`,
        wrongAnswer: `Claimed the opposite: ${lesson}`,
        correction: lesson,
        lesson,
      });
    }
    // A checker that flags everything until the first lesson tells it better, and then believes it too much.
    service = await startChatService(({ messages }) => {
      const taught =
        messages[0]?.content.includes('log4j-api without log4j-core is not affected.\n') === true;
      return `I weigh VERDICT: PASS against it.\n\n**VERDICT: ${taught ? 'PASS' : 'FLAG'}**`;
    });
  });
  afterAll(async () => {
    await service?.close();
    await real?.close();
    rmSync(cache, { recursive: true, force: true });
  });

  const ask = (limits: Partial<AskCheckerRequest['limits']> = {}, attribute = true) =>
    askConfiguredChecker(
      { ...real.config, chatUrl: service.baseUrl, chatModel: 'm' },
      real.app.useCases.retrieval,
      {
        namespace: 'default',
        cases,
        instructions: 'Judge whether the finding applies.',
        attribute,
        limits: { concurrency: 2, promptPrice: 0, completionPrice: 0, ...limits },
        signal: new AbortController().signal,
      },
    );

  it('asks without and with lessons, and finds the lesson that changed the answers', async () => {
    const { before, after, stopped } = await ask();
    expect(stopped).toBeUndefined();
    expect(before.map(({ flagged }) => flagged)).toEqual([true, true, true]);
    expect(after.map(({ flagged }) => flagged)).toEqual([false, false, true]);
    expect(after[0]?.notes).toHaveLength(2);
    expect(Object.keys(after[0]?.without ?? {})).toEqual(after[0]?.notes);
    expect(after[2]?.notes).toEqual([]);
    const comparison = compareAnswers({ cases, digest: 'd' }, before, after);
    expect(comparison.falsePositives).toMatchObject({ fixed: 1, broken: 0 });
    expect(comparison.regressions.map(({ id }) => id)).toEqual(['core']);
    const [first] = comparison.noteEffects;
    const note = await real.app.useCases.notes.get('default', first?.noteId ?? '');
    expect(note?.lesson).toBe(LESSONS[0]);
    expect(first).toMatchObject({ fixed: ['api'], broken: ['core'], shared: [] });
    expect(comparison.noteEffects[1]).toMatchObject({ fixed: [], broken: [] });
  });

  it('costs nothing the second time, and goes on where a budget ended it', async () => {
    const calls = service.calls.length;
    const part = await ask({ cache, maxCalls: 2 }, false);
    expect(part.stopped).toContain('at most 2 calls');
    expect(part.spending.calls).toBe(2);
    const whole = await ask({ cache }, false);
    expect(whole.after).toHaveLength(3);
    expect(service.calls.length - calls).toBe(6);
    const again = await ask({ cache }, false);
    expect(again.spending.calls).toBe(0);
    expect(again.after).toEqual(whole.after);
  });

  it('sends the service no secret of an item or a query, and no phone number where that is asked for', async () => {
    const token = ['ghp', 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5'].join('_');
    const phone = '+49 30 901820';
    const item = `CVE-2021-44228 reported for log4j-api, seen with ${token} by ${phone}`;
    const from = service.calls.length;
    for (const redactPhones of [false, true]) {
      await askConfiguredChecker(
        { ...real.config, redactPhones, chatUrl: service.baseUrl, chatModel: 'm' },
        real.app.useCases.retrieval,
        {
          namespace: 'default',
          cases: [{ id: 'x', truth: false, item }],
          instructions: `Judge; the register is at ${token}.`,
          attribute: false,
          limits: { concurrency: 1, promptPrice: 0, completionPrice: 0 },
          signal: new AbortController().signal,
        },
      );
    }
    const sent = service.calls.slice(from).map(({ messages }) => messages[0]?.content ?? '');
    expect(sent).toHaveLength(4);
    expect(sent.filter((content) => content.includes(token))).toEqual([]);
    expect(sent.map((content) => content.includes(phone))).toEqual([true, true, false, false]);
    expect(sent[2]).toContain('seen with [REDACTED:github-token:1] by [REDACTED:phone:1]');
    // The fence of lessons, with its nonce, stands as it was made.
    expect(sent[1]).toMatch(/[0-9a-f]{24}/u);
  });

  it('sends the judge no secret of a query', async () => {
    const token = ['ghp', 'aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5'].join('_');
    const report = reportOf([
      caseOf({ id: 'q', query: `leaked: ${token}`, expected: ['a'], ranking: ['a'], answered: ['a'] }),
    ]);
    const from = service.calls.length;
    const { documents } = await withJudge(
      { ...real.config, chatUrl: service.baseUrl, chatModel: 'm' },
      {
        judge: {
          repeats: 2,
          limits: { concurrency: 1, maxCost: 1, promptPrice: 1_000, completionPrice: 0 },
        },
        signal: new AbortController().signal,
      },
      report,
      () => 'A lesson.',
      { report, text: '' },
    );
    const sent = service.calls.slice(from).map(({ messages }) => messages[0]?.content ?? '');
    expect(sent).not.toEqual([]);
    expect(sent.filter((content) => !content.includes('leaked: [REDACTED:github-token:1]'))).toEqual([]);
    expect(JSON.parse(documents?.['judged.json'] ?? '{}').spending.calls).toBe(sent.length);
  });

  it('refuses to ask nobody, and about nothing', async () => {
    const request = {
      namespace: 'default',
      cases: [{ id: 'x', truth: true }],
      instructions: 'Judge.',
      attribute: false,
      limits: { concurrency: 1, promptPrice: 0, completionPrice: 0 },
      signal: new AbortController().signal,
    };
    const { retrieval } = real.app.useCases;
    await expect(askConfiguredChecker(real.config, retrieval, request)).rejects.toMatchObject({
      code: 'INVALID_CONFIG',
    });
    const config = { ...real.config, chatUrl: service.baseUrl, chatModel: 'm' };
    await expect(askConfiguredChecker(config, retrieval, request)).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
  });
});
