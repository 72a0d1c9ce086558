import { describe, expect, it } from 'vitest';
import { ErrataError } from '../../src/domain/errors.js';
import { fakeNote, fakeRetrieval } from './fake-deps.mjs';
import { runFake } from './run-fake.js';

describe('errors', () => {
  const failing = (error: unknown) => ({
    answers: {
      retrieve: () => {
        throw error;
      },
    },
  });

  it('are mapped to exit codes and closed after', async () => {
    const error = new ErrataError('STORE_UNAVAILABLE', 'Expected a store that answers, received none');
    const { code, stderr, calls } = await runFake(['retrieve', 'x'], failing(error));
    expect(code).toBe(3);
    expect(stderr).toBe('errata: Expected a store that answers, received none (STORE_UNAVAILABLE)\n');
    expect(calls.at(-1)?.[0]).toBe('close');
  });

  it('of our own stay out of JSON answers', async () => {
    const { code, stdout, stderr } = await runFake(
      ['retrieve', 'x', '--json'],
      failing(new Error('secret path')),
    );
    expect(code).toBe(70);
    expect(JSON.parse(stdout).error).toEqual({
      code: 'INTERNAL',
      category: 'internal',
      retryable: false,
      message: 'Internal error',
    });
    expect(stderr).toContain('secret path');
  });

  it('unknown notes exit 4, failed jobs 1', async () => {
    expect((await runFake(['notes', 'show', 'x'], { answers: { get: () => undefined } })).code).toBe(4);
    expect((await runFake(['keys', 'revoke', 'x'], { answers: { revokeKey: () => false } })).code).toBe(4);
    const failed = await runFake(['jobs', 'watch', 'x'], { answers: { jobStates: ['RUNNING', 'FAILED'] } });
    expect(failed.code).toBe(1);
  });

  it('a regression exits 1', async () => {
    const evaluate = () => ({
      report: {},
      text: 'recall@3 0.5',
      regressions: ['recall@3 fell from 0.9 to 0.5'],
    });
    const { code, stdout } = await runFake(['evaluate'], { answers: { evaluate } });
    expect(code).toBe(1);
    expect(stdout).toContain('regression: recall@3 fell');
  });
});

describe('retrieve for people', () => {
  it('says what was found and what could not run', async () => {
    const { stdout } = await runFake(['retrieve', 'x']);
    expect(stdout).toContain('1. score 0.900');
    expect(stdout).toContain(fakeNote(1).id);
    expect(stdout).toContain('! rerank: not configured');
  });

  it('says plainly that nothing was found, and exits 0', async () => {
    const { code, stdout } = await runFake(['retrieve', 'x'], {
      answers: { retrieve: () => fakeRetrieval([]) },
    });
    expect(code).toBe(0);
    expect(stdout).toContain('No relevant prior corrections.');
  });

  it('uses colours on a terminal, unless NO_COLOR is set', async () => {
    expect((await runFake(['retrieve', 'x'], { columns: 80 })).stdout).toContain('\u001b[');
    const plain = await runFake(['retrieve', 'x'], { columns: 80, env: { NO_COLOR: '1' } });
    expect(plain.stdout).not.toContain('\u001b[');
  });

  it('lets no note drive the terminal', async () => {
    const hostile = fakeRetrieval([
      fakeNote(1, { lesson: '\u001b]0;owned\u0007\u001b[2J\u202eevil', taskType: '\u009b' }),
    ]);
    const { stdout } = await runFake(['retrieve', 'x'], { answers: { retrieve: () => hostile } });
    expect(stdout.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202e]/u);
    expect(stdout).toContain('evil');
  });
});
