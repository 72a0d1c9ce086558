import { describe, expect, it } from 'vitest';
import { progressLine } from '../../src/cli/progress.js';
import { runFake } from './run-fake.js';

describe('progressLine', () => {
  it('tells count, share, rate and time left', () => {
    expect(progressLine('import', { done: 1_000, total: 5_000 }, 4_000)).toBe(
      'import: 1000 of 5000 (20%), 250/s, 16 s left',
    );
    expect(progressLine('import', { done: 1, total: 1_000 }, 2_000)).toBe(
      'import: 1 of 1000 (0%), 0.5/s, 33 min 18 s left',
    );
  });

  it('does without a total, and at the very start', () => {
    expect(progressLine('scan', { done: 7 }, 1_000)).toBe('scan: 7, 7.0/s');
    expect(progressLine('scan', { done: 0, total: 10 }, 0)).toBe('scan: 0 of 10 (0%)');
    expect(progressLine('scan', { done: 0, total: 0 }, 10)).toBe('scan: 0');
  });
});

describe('progress of jobs', () => {
  it('is plain lines on standard error where that is no terminal', async () => {
    const { stderr, stdout } = await runFake(['jobs', 'start', 'backfill', '--json']);
    expect(stderr).toMatch(/^backfill: 5 of 10 \(50%\)/m);
    expect(stderr).not.toContain('\u001b');
    expect(JSON.parse(stdout).state).toBe('SUCCEEDED');
  });

  it('is a bar with rate and time left on a terminal', async () => {
    const { stderr } = await runFake(['jobs', 'start', 'backfill'], { columns: 80 });
    expect(stderr).toMatch(/backfill \[.*\] 50% 5\/10/);
  });
});
