import { describe, expect, it } from 'vitest';
import type { Job } from '../../../src/domain/job.js';
import type { NamespaceScope } from '../../../src/ports/note-store.js';
import { type StoreTraits, useFixture } from './fixture.js';
import { at } from './sample-notes.js';

const job = (id: string, n: number, more: Partial<Job> = {}): Job => ({
  id,
  kind: 'BACKFILL',
  options: { batch: '64', 'a.b': '$c' },
  state: 'QUEUED',
  done: 0,
  createdAt: at(n),
  cancelRequested: false,
  fence: 0,
  ...more,
});

/** Leases and fences. */
export function describeJobs(traits: StoreTraits): void {
  describe('jobs', () => {
    const fixture = useFixture(traits);
    const jobs = () => fixture().store.jobs;

    it('keeps jobs as given, newest first', async () => {
      const full = job('b', 2, {
        namespace: 'acme',
        total: 10,
        message: 'half',
        cursor: 'x',
        leaseOwner: 'p',
        leaseUntil: at(9),
      });
      await jobs().put(job('a', 1));
      await jobs().put(job('b', 2));
      await jobs().put(full);
      await jobs().put(job('c', 3));
      expect(await jobs().get('b')).toEqual(full);
      expect(await jobs().get('none')).toBeUndefined();
      const ids = async (scope: NamespaceScope, limit: number) =>
        (await jobs().list(scope, limit)).map(({ id }) => id);
      expect(await ids('all', 2)).toEqual(['c', 'b']);
      // What the scope leaves out does not take a place.
      expect(await ids(['acme', 'umbra'], 1)).toEqual(['b']);
      expect(await ids(['umbra'], 9)).toEqual([]);
      expect(await ids([], 9)).toEqual([]);
    });

    it('hands each queued job to one taker, oldest first', async () => {
      for (let i = 0; i < 6; i += 1) await jobs().put(job(`job ${i}`, i));
      const first = await jobs().take('p', at(10), at(20));
      expect(first).toEqual(
        job('job 0', 0, {
          state: 'RUNNING',
          startedAt: at(10),
          leaseOwner: 'p',
          leaseUntil: at(20),
          fence: 1,
        }),
      );
      const taken = await Promise.all(
        Array.from({ length: 8 }, (_, i) => jobs().take(`p${i}`, at(10), at(20))),
      );
      const ids = taken.flatMap((held) => held?.id ?? []).sort();
      expect(ids).toEqual(['job 1', 'job 2', 'job 3', 'job 4', 'job 5']);
      expect(await jobs().take('p', at(11), at(20))).toBeUndefined();
    });

    it('takes over a lease that ran out, and fences off who held it', async () => {
      await jobs().put(job('a', 1));
      const lost = await jobs().take('p', at(2), at(5));
      expect(await jobs().update('a', lost!.fence, { done: 3, total: 9, cursor: 'at 3' })).toBe(true);
      expect(await jobs().take('q', at(4), at(9))).toBeUndefined();
      const taken = await jobs().take('q', at(5), at(9));
      expect(taken).toMatchObject({
        fence: 2,
        leaseOwner: 'q',
        startedAt: at(2),
        done: 3,
        total: 9,
        cursor: 'at 3',
      });
      expect(await jobs().update('a', lost!.fence, { done: 4 })).toBe(false);
      expect(await jobs().update('a', 2, { state: 'SUCCEEDED', done: 9, finishedAt: at(8) })).toBe(true);
      expect(await jobs().get('a')).toMatchObject({ state: 'SUCCEEDED', done: 9, finishedAt: at(8) });
      expect(await jobs().update('a', 2, { done: 1 })).toBe(false);
      expect(await jobs().take('q', at(99), at(100))).toBeUndefined();
      expect(await jobs().update('none', 0, { done: 1 })).toBe(false);
    });

    it('cancels a queued job at once, asks a running one, and refuses an ended one', async () => {
      await jobs().put(job('a', 1));
      expect(await jobs().requestCancel('a', at(2))).toBe(true);
      expect(await jobs().get('a')).toMatchObject({
        state: 'CANCELLED',
        finishedAt: at(2),
        cancelRequested: true,
      });
      expect(await jobs().requestCancel('a', at(3))).toBe(false);
      await jobs().put(job('b', 1));
      await jobs().take('p', at(2), at(5));
      expect(await jobs().requestCancel('b', at(3))).toBe(true);
      const running = await jobs().get('b');
      expect(running).toMatchObject({ state: 'RUNNING', cancelRequested: true });
      expect(running?.finishedAt).toBeUndefined();
      expect(await jobs().requestCancel('none', at(3))).toBe(false);
    });
  });
}
