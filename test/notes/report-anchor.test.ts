import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hydrate } from '../../src/retrieval/hydrate.js';
import { ADMIN, correction, openWritePath, REVIEWER, type WritePath } from '../doubles/write-path.js';

let path: WritePath;
beforeAll(async () => {
  path = await openWritePath();
});
afterAll(() => path.close());

const namespace = 'team';
const anchor = { kind: 'FILE', ref: 'src/pool.ts', state: 'sha256:aa' } as const;
const submit = async (more: object = {}) =>
  (await path.commands.submit(REVIEWER, correction({ anchors: [anchor], ...more }))).note!;
const report = (state: string, more: object = {}) =>
  path.review.reportAnchor(REVIEWER, { namespace, ...anchor, state, ...more });
const get = async (id: string) => (await path.queries.get(namespace, id))!;

describe('anchors', () => {
  it('take a note out of retrieval at once when they change, and an approval accepts the new state', async () => {
    const [note, other] = [await submit(), await submit({ anchors: [{ ...anchor, ref: 'src/other.ts' }] })];
    const waiting = await submit({ impact: 'HIGH' });
    expect(await report('sha256:bb', { dryRun: true })).toMatchObject({ matched: 2, demoted: [note.id] });
    expect((await get(note.id)).version).toBe(1);
    const done = await report('sha256:bb');
    expect(done).toMatchObject({ matched: 2, demoted: [note.id], dryRun: false });
    expect([...done.changed].sort()).toEqual([note.id, waiting.id].sort());
    expect(await get(note.id)).toMatchObject({
      status: 'PENDING',
      review: { cause: 'anchor-changed' },
      anchors: [{ ...anchor, changedTo: 'sha256:bb' }],
    });
    expect(path.vectorIndex.versionOf(namespace, note.id)).toBeUndefined();
    expect(await get(waiting.id)).toMatchObject({ review: { cause: 'impact' } });
    expect((await get(other.id)).version).toBe(1);
    expect(await report('sha256:bb')).toMatchObject({ matched: 2, changed: [] });
    const approved = await path.commands.review(REVIEWER, { namespace, id: note.id, decision: 'APPROVE' });
    expect(approved).toMatchObject({ status: 'ACTIVE', anchors: [{ ...anchor, state: 'sha256:bb' }] });
    expect(approved.anchors![0]!.changedTo).toBeUndefined();
    expect(await report('sha256:bb')).toMatchObject({ demoted: [] });
  });

  it('are checked, and never hold a secret', async () => {
    const bad = (anchors: unknown) =>
      expect(path.commands.submit(REVIEWER, correction({ anchors } as object))).rejects.toMatchObject({
        code: 'INVALID_INPUT',
      });
    await bad([{ kind: 'MOON', ref: 'x', state: 'y' }]);
    await bad([anchor, anchor]);
    const url = { kind: 'URL', ref: 'https://bob:Hunter2Hunter2@example.org/x', state: '1' };
    const note = await submit({ anchors: [url] });
    expect(JSON.stringify(note.anchors)).not.toContain('Hunter2');
    const seen = await path.review.reportAnchor(REVIEWER, { namespace, ...url, kind: 'URL', state: '2' });
    expect(seen.demoted).toEqual([note.id]);
  });
});

describe('hydrate', () => {
  const request = { namespace, taskType: undefined, attributes: {} };
  const now = '2026-06-01T00:00:00.000Z';

  it('prefers the newest of two opposites, and says where the newest waits', async () => {
    const lesson = 'Sequential awaits are right where every step depends on the one before it in migrations';
    const base = { taskType: 'hydrate/x', wrongAnswer: 'w', correction: 'c', anchors: [] };
    await path.review.setPolicy(ADMIN, namespace, { contradictions: 'HOLD' });
    const old = await submit({ ...base, lesson: `${lesson} always` });
    const next = await submit({ ...base, lesson: `${lesson} never` });
    expect(next.status).toBe('PENDING');
    const held = await hydrate(path.store.notes, request, [old.id, next.id], now);
    expect([...held.notes.keys()]).toEqual([old.id]);
    expect(held.conflicts).toEqual([{ noteId: old.id, contestedBy: next.id, resolution: 'CONTESTED' }]);
    // An approval lets both live: the newest is preferred until somebody says which holds.
    await path.commands.review(REVIEWER, { namespace, id: next.id, decision: 'APPROVE' });
    const both = await hydrate(path.store.notes, request, [old.id, next.id], now);
    expect([...both.notes.keys()]).toEqual([next.id]);
    expect(both.conflicts).toEqual([{ noteId: old.id, contestedBy: next.id, resolution: 'NEWEST' }]);
    await path.commands.deprecate(REVIEWER, namespace, [next.id], 'wrong after all');
    const alone = await hydrate(path.store.notes, request, [old.id, next.id], now);
    expect([...alone.notes.keys()]).toEqual([old.id]);
    expect(alone.conflicts).toEqual([]);
  });
});
