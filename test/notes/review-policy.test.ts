import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Caller } from '../../src/domain/api-key.js';
import { DEFAULT_REVIEW_POLICY } from '../../src/domain/review.js';
import { neededApprovals } from '../../src/notes/review-policy.js';
import { ADMIN, correction, openWritePath, REVIEWER, type WritePath } from '../doubles/write-path.js';

const BOB: Caller = { name: 'bob', roles: ['reader', 'reviewer'] };
const CID: Caller = { name: 'cid', roles: ['reader', 'reviewer'] };

let path: WritePath;
beforeAll(async () => {
  path = await openWritePath();
});
afterAll(() => path.close());

const rejects = (work: Promise<unknown>, code: string) => expect(work).rejects.toMatchObject({ code });
const submit = async (namespace: string, more: object = {}, caller = REVIEWER) =>
  (await path.commands.submit(caller, correction({ namespace, ...more }))).note!;

describe('review policy', () => {
  it('lets ordinary notes live and holds impact HIGH, with a due time, where nothing is set', async () => {
    expect(await submit('plain')).toMatchObject({ status: 'ACTIVE' });
    const held = await submit('plain', { impact: 'HIGH' });
    expect(held).toMatchObject({
      status: 'PENDING',
      review: { cause: 'impact', required: 1, byOthers: false, submittedBy: 'rita', approvals: [] },
    });
    const days = (Date.parse(held.review!.dueAt) - Date.parse(held.review!.openedAt)) / 86_400_000;
    expect(days).toBe(DEFAULT_REVIEW_POLICY.dueDays);
  });

  it('is one of a namespace, and asks for the most that applies', async () => {
    await path.review.setPolicy(ADMIN, 'strict', {
      approvals: { broadScope: 1, unknownAuthor: 2 },
      knownAuthors: ['rita'],
    });
    expect((await submit('other')).status).toBe('ACTIVE');
    expect(await submit('strict')).toMatchObject({ status: 'PENDING', review: { cause: 'scope' } });
    expect(await submit('strict', { attributes: { repo: 'x' } })).toMatchObject({ status: 'ACTIVE' });
    const source = { kind: 'review', author: 'mallory' };
    expect(await submit('strict', { source })).toMatchObject({
      status: 'PENDING',
      review: { cause: 'unknown-author', required: 2, byOthers: true },
    });
  });

  it('never lets a doubtful text live, whatever it says', async () => {
    await rejects(path.review.setPolicy(ADMIN, 'lax', { approvals: { doubt: 0 } }), 'INVALID_INPUT');
    const approvals = { ...DEFAULT_REVIEW_POLICY.approvals, doubt: 0 };
    const note = { impact: 'LOW' as const, attributes: { a: 'b' }, sources: [] };
    const need = neededApprovals({ ...DEFAULT_REVIEW_POLICY, approvals }, note, { doubt: true });
    expect(need).toEqual({ required: 1, cause: 'screening' });
  });

  it('refuses what is none, and whoever is no admin', async () => {
    await rejects(path.review.setPolicy(ADMIN, 'x', { approvals: { ordinary: 3 } }), 'INVALID_INPUT');
    await rejects(path.review.setPolicy(ADMIN, 'x', { colour: 'red' }), 'INVALID_INPUT');
    await rejects(path.review.setPolicy(ADMIN, 'x', { dueDays: 9, giveUpDays: 9 }), 'INVALID_INPUT');
    await rejects(path.review.setPolicy(REVIEWER, 'x', {}), 'FORBIDDEN');
  });
});

describe('two approvals', () => {
  const namespace = 'two';
  beforeAll(() => path.review.setPolicy(ADMIN, namespace, { approvals: { highImpact: 2 } }));
  const approve = (caller: Caller, id: string, more: object = {}) =>
    path.commands.review(caller, { namespace, id, decision: 'APPROVE', ...more });

  it('are by two others than the author', async () => {
    const { id } = await submit(namespace, { impact: 'HIGH' });
    await rejects(approve(REVIEWER, id), 'FORBIDDEN');
    expect(await approve(BOB, id)).toMatchObject({
      status: 'PENDING',
      review: { approvals: [{ by: 'bob' }] },
    });
    expect(await approve(BOB, id)).toMatchObject({ status: 'PENDING' });
    expect(path.vectorIndex.versionOf(namespace, id)).toBeUndefined();
    const live = await approve(CID, id);
    expect(live.status).toBe('ACTIVE');
    expect(live.review).toBeUndefined();
    expect(path.vectorIndex.versionOf(namespace, id)).toBe(live.version);
  });

  it('are not given by whoever a source names as author, under another key', async () => {
    const { id } = await submit(namespace, { impact: 'HIGH', source: { kind: 'review', author: 'bob' } });
    await rejects(approve(BOB, id), 'FORBIDDEN');
  });

  it('one refusal is enough', async () => {
    const { id } = await submit(namespace, { impact: 'HIGH' });
    await approve(BOB, id);
    const refused = await path.commands.review(CID, { namespace, id, decision: 'REJECT' });
    expect(refused).toMatchObject({ status: 'DEPRECATED' });
    expect(refused.review).toBeUndefined();
  });

  it('an edit makes its editor the author, and wants another reviewer', async () => {
    const { id } = await submit(namespace, { impact: 'HIGH' });
    const edit = correction({ namespace, impact: 'HIGH' });
    const edited = await approve(BOB, id, { edit });
    expect(edited).toMatchObject({ status: 'PENDING', review: { byOthers: true, submittedBy: 'bob' } });
    await rejects(approve(BOB, edited.id), 'FORBIDDEN');
    expect((await approve(CID, edited.id)).status).toBe('ACTIVE');
  });
});

describe('queue', () => {
  it('asks reviewers, keeps remarks in the history, and lists by reviewer and due time', async () => {
    const namespace = 'asked';
    const [a, b] = [await submit(namespace, { impact: 'HIGH' }), await submit(namespace, { impact: 'HIGH' })];
    await path.review.assign(REVIEWER, namespace, a.id, 'bob');
    await path.review.comment(BOB, namespace, a.id, 'Looks narrower than it says; password=Hunter2Hunter2x');
    const ids = async (filter: object) =>
      (await path.store.notes.list([namespace], filter, 'RISK_DESC', { limit: 9 })).items.map(({ id }) => id);
    expect(await ids({ assignee: 'bob' })).toEqual([a.id]);
    expect((await ids({ dueBefore: '9999-01-01T00:00:00.000Z' })).sort()).toEqual([a.id, b.id].sort());
    expect(await ids({ dueBefore: a.review!.dueAt })).toEqual([]);
    const [remark] = (await path.queries.audit([namespace], { noteId: a.id }, { limit: 1 })).items;
    expect(remark).toMatchObject({ action: 'commented', actor: 'bob' });
    expect(remark!.reason).not.toContain('Hunter2');
    await rejects(
      path.review.assign(REVIEWER, namespace, (await submit(namespace)).id, 'bob'),
      'INVALID_TRANSITION',
    );
  });

  it('decides many notes, each on its own, and counts who decided', async () => {
    const namespace = 'bulk';
    const waiting = [
      await submit(namespace, { impact: 'HIGH' }),
      await submit(namespace, { impact: 'HIGH' }),
    ];
    const live = await submit(namespace);
    const results = await path.review.decideMany(BOB, {
      namespace,
      ids: [...waiting.map(({ id }) => id), live.id, 'f'.repeat(64)],
      decision: 'APPROVE',
    });
    expect(results.map(({ note, refused }) => note?.status ?? refused)).toEqual([
      'ACTIVE',
      'ACTIVE',
      'INVALID_TRANSITION',
      'NOTE_NOT_FOUND',
    ]);
    expect(await path.review.metrics([namespace], 30)).toMatchObject({
      ...{ pending: 0, quarantined: 0, overdue: 0, truncated: false },
      decisions: [{ reviewer: 'bob', decisions: 2 }],
    });
  });
});

describe('contradictions', () => {
  const lesson = 'Sequential awaits are right where every step depends on the one before it in migrations';
  const reversal = async (namespace: string, more: object = {}) => {
    const base = { namespace, taskType: 'order/x', wrongAnswer: 'w', correction: 'c' };
    const old = await submit(namespace, { ...base, lesson: `${lesson} always`, ...more });
    if (old.status === 'PENDING') {
      await path.commands.review(BOB, { namespace, id: old.id, decision: 'APPROVE' });
    }
    return {
      old,
      next: await path.commands.submit(REVIEWER, correction({ ...base, lesson: `${lesson} never` })),
    };
  };

  it('wait under HOLD', async () => {
    await path.review.setPolicy(ADMIN, 'hold', { contradictions: 'HOLD' });
    const { next } = await reversal('hold');
    expect(next).toMatchObject({
      outcome: 'MERGE_PROPOSED',
      note: { status: 'PENDING', review: { cause: 'contradiction', required: 1 } },
    });
  });

  it('never displace a note of high impact by themselves', async () => {
    const { next } = await reversal('weighty', { impact: 'HIGH' });
    expect(next).toMatchObject({
      note: { status: 'PENDING', review: { cause: 'contradiction', required: 1 } },
    });
  });

  it('live at once by default, and the older note says by whom it is contested until a reviewer has decided', async () => {
    const namespace = 'newest';
    const base = { namespace, taskType: 'order/x', wrongAnswer: 'w', correction: 'c' };
    const old = await submit(namespace, { ...base, lesson: `${lesson} always` });
    const next = await path.commands.submit(REVIEWER, correction({ ...base, lesson: `${lesson} never` }));
    expect(next).toMatchObject({ outcome: 'MERGE_PROPOSED', note: { status: 'ACTIVE' } });
    expect(await path.queries.get(namespace, old.id)).toMatchObject({ contestedBy: next.note!.id });
    await path.commands.review(BOB, { namespace, id: next.note!.id, decision: 'KEEP_BOTH' });
    expect((await path.queries.get(namespace, old.id))!.contestedBy).toBeUndefined();
  });
});
