import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';

const folder = import.meta.dirname;
const addonFile = path.resolve(folder, '../../../build/Release/errata_native.node');

/** What the scenario found, once its worker has ended. */
async function run(scenario: string): Promise<Record<string, unknown>> {
  const worker = new Worker(path.join(folder, 'pool-worker.mjs'), { workerData: { addonFile, scenario } });
  let found: Record<string, unknown> = {};
  worker.once('message', (message: Record<string, unknown>) => {
    found = message;
  });
  await new Promise<void>((resolve, reject) => {
    worker.once('error', reject);
    worker.once('exit', () => resolve());
  });
  return found;
}

describe('the addon’s pool', () => {
  it('refuses what its queue has no room for, and takes more once there is', async () => {
    const { codes, counts, after } = await run('queue');
    // One runs, or is about to; two wait.
    expect((codes as string[]).filter((code) => code === 'QUEUE_FULL').length).toBeGreaterThanOrEqual(3);
    expect((codes as string[]).slice(0, 2)).toEqual(['ok', 'ok']);
    expect(counts).toMatchObject({ threads: 1 });
    expect(after).toBe('ok');
  });

  it('rejects at once what is cancelled while it waits', async () => {
    expect(await run('abort')).toEqual({ code: 'ABORTED', running: 'pending' });
  });

  it('counts the wait against the deadline', async () => {
    expect(await run('deadline')).toEqual({ code: 'TIMED_OUT', running: 'pending' });
  });

  it('leaves a thread for searches however many writes wait', async () => {
    expect(await run('lanes')).toEqual({ searched: 'ok', first: 'pending' });
  });

  it('saves on no thread of its own, beside writes, one save at a time', async () => {
    expect(await run('saves')).toEqual({
      second: 'QUEUE_FULL',
      written: 'ok',
      saved: 'pending',
      used: 'INVALID_INPUT',
      held: 'QUEUE_FULL',
      again: 'ok',
      other: 'INVALID_INPUT',
    });
  });

  it('leaves file reads their threads', async () => {
    expect(await run('files')).toEqual({ searches: 'pending' });
  });

  it('keeps its limits once it runs', async () => {
    expect(await run('late')).toEqual({ code: 'INVALID_CONFIG' });
  });

  it('waits for a graph on no thread of its own', async () => {
    expect(await run('waits')).toEqual({
      building: true,
      whileSearched: 'pending',
      hasGraph: true,
      rows: 40_000,
    });
  });

  it('ends with its environment, and drops what waits', async () => {
    const started = performance.now();
    const { queued } = await run('teardown');
    expect(queued).toBeGreaterThan(400);
    // All 500 would take 10 s and more.
    expect(performance.now() - started).toBeLessThan(8_000);
  });
});
