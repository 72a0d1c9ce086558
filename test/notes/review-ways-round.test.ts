import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BOB, CID, DORA, INJECTED, reviewActs } from '../doubles/review-acts.js';
import { ADMIN, correction, openWritePath, REVIEWER, type WritePath } from '../doubles/write-path.js';

/** What must not go live on fewer words, or others, than the policy asks for, whichever way it takes. */
const namespace = 'two';

let path: WritePath;
beforeAll(async () => {
  path = await openWritePath();
  await path.review.setPolicy(ADMIN, namespace, { approvals: { highImpact: 2 } });
  await path.review.setPolicy(ADMIN, 'scoped', { approvals: { broadScope: 2 } });
  await path.review.setPolicy(ADMIN, 'hold', { contradictions: 'HOLD' });
});
afterAll(() => path.close());

const { rejects, submit, approve, get, backAndForth } = reviewActs(() => path);
const high = (more: object = {}) => correction({ namespace, impact: 'HIGH', ...more });

describe('a note that was taken out and restored', () => {
  it('still knows who submitted it, whatever author its source names', async () => {
    const note = await submit(high({ source: { kind: 'review', author: 'somebody' } }), BOB);
    expect(await backAndForth(note)).toMatchObject({
      status: 'PENDING',
      review: { required: 2, byOthers: true, submittedBy: 'bob' },
    });
    await rejects(approve(BOB, note), 'FORBIDDEN');
    await approve(CID, note);
    expect((await approve(DORA, note)).status).toBe('ACTIVE');
  });

  it('still knows who edited it and who submitted what was edited', async () => {
    const source = { kind: 'review', author: 'somebody' };
    const edited = await approve(CID, await submit(high({ source }), BOB), high({ source }));
    await rejects(approve(BOB, edited), 'FORBIDDEN');
    const back = await backAndForth(edited);
    expect(back.review).toMatchObject({ submittedBy: 'cid', coAuthors: ['bob'] });
    await rejects(approve(BOB, edited), 'FORBIDDEN');
    await rejects(approve(CID, edited), 'FORBIDDEN');
  });

  it('does not go live for being talked about at length', { timeout: 120_000 }, async () => {
    const note = await submit(high());
    await path.commands.deprecate(ADMIN, namespace, [note.id], 'mistake');
    for (let index = 0; index < 210; index += 1) {
      await path.review.comment(BOB, namespace, note.id, `remark ${index}`);
    }
    const [back] = await path.commands.restore(ADMIN, namespace, [note.id], 'mistake');
    expect(back!.status).toBe('PENDING');
  });
});

describe('edit and approve', () => {
  it('of its own author waits for two others', async () => {
    const edited = await approve(REVIEWER, await submit(high()), high());
    expect(edited).toMatchObject({ status: 'PENDING', review: { required: 2, approvals: [] } });
    await rejects(approve(REVIEWER, edited), 'FORBIDDEN');
    expect((await approve(BOB, edited)).status).toBe('PENDING');
    expect((await approve(CID, edited)).status).toBe('ACTIVE');
  });

  it('waits for two others where it raises the impact or drops the attributes', async () => {
    await path.review.setPolicy(ADMIN, 'raised', { approvals: { highImpact: 2, ordinary: 1 } });
    const normal = await submit(correction({ namespace: 'raised' }));
    const raised = await approve(BOB, normal, correction({ namespace: 'raised', impact: 'HIGH' }));
    expect(raised).toMatchObject({ status: 'PENDING', review: { required: 2, approvals: [] } });
    const attributes = { repo: 'x' };
    const narrow = await submit(correction({ namespace: 'scoped', attributes, impact: 'HIGH' }));
    const broad = await approve(BOB, narrow, correction({ namespace: 'scoped', attributes: {} }));
    expect(broad).toMatchObject({ status: 'PENDING', review: { required: 2, byOthers: true } });
    await rejects(approve(BOB, broad), 'FORBIDDEN');
  });

  it('in place is judged by what it makes of the note, and clears approvals of what it was', async () => {
    const input = correction({ namespace: 'scoped', attributes: { repo: 'x' }, impact: 'HIGH' });
    const broad = await approve(BOB, await submit(input), { ...input, attributes: {} });
    expect(broad).toMatchObject({
      ...{ status: 'PENDING', attributes: {} },
      review: { required: 2, byOthers: true, submittedBy: 'rita', coAuthors: ['bob'], approvals: [] },
    });
    const other = high({ attributes: { repo: 'x' } });
    const note = await submit(other);
    await approve(CID, note);
    const edited = await approve(BOB, note, { ...other, attributes: { repo: 'y' } });
    expect(edited).toMatchObject({ status: 'PENDING', attributes: { repo: 'y' } });
    expect(edited.review!.approvals.map(({ by }) => by)).toEqual(['bob']);
    expect((await approve(CID, note)).status).toBe('ACTIVE');
  });

  it('in place is quarantined where the screen doubts what it adds', async () => {
    const input = correction({ impact: 'HIGH' });
    const note = await submit(input);
    const edited = await approve(BOB, note, { ...input, attributes: INJECTED });
    expect(edited).toMatchObject({ id: note.id, status: 'QUARANTINED', review: { cause: 'screening' } });
    expect(edited.findings.map(({ field }) => field)).toContain('attributes.note');
    expect(path.vectorIndex.versionOf(note.namespace, note.id)).toBeUndefined();
  });

  it('carries over what it does not name, and reports the anchors that it does', async () => {
    const anchor = (state: string) => [{ kind: 'FILE' as const, ref: 'carried.ts', state }];
    const dates = { expiresAt: '2030-01-01T00:00:00.000Z', reviewAfter: '2029-01-01T00:00:00.000Z' };
    const place = { namespace: 'carried' };
    const waiting = await submit(correction({ ...place, impact: 'HIGH', anchors: anchor('1'), ...dates }));
    const other = await submit(correction({ ...place, anchors: anchor('1') }));
    const edited = await approve(BOB, waiting, correction(place));
    expect(edited).toMatchObject({ status: 'ACTIVE', impact: 'HIGH', anchors: anchor('1'), ...dates });
    expect((await get(other)).status).toBe('ACTIVE');
    const again = await submit(correction({ ...place, impact: 'HIGH', anchors: anchor('1') }));
    const { wrongAnswer, correction: right, lesson, taskType } = again;
    const inPlace = { ...place, wrongAnswer, correction: right, lesson, taskType, anchors: anchor('2') };
    expect(await approve(BOB, again, inPlace)).toMatchObject({
      id: again.id,
      anchors: anchor('2'),
      status: 'ACTIVE',
    });
    expect(await get(other)).toMatchObject({ status: 'PENDING', review: { cause: 'anchor-changed' } });
  });

  it('in place shows what is live beside it first', async () => {
    const texts = { wrongAnswer: 'w', correction: 'c', lesson: 'Archive the ledger before the audit begins' };
    const place = { namespace: 'beside' };
    const waiting = await submit(correction({ ...place, ...texts, impact: 'HIGH' }));
    const live = await submit(correction({ ...place, ...texts, lesson: `${texts.lesson} then` }));
    const edit = { ...correction({ ...place, ...texts }), attributes: { repo: 'y' } };
    expect(await approve(BOB, waiting, edit)).toMatchObject({
      ...{ id: waiting.id, status: 'PENDING', attributes: { repo: 'y' } },
      mergeCandidate: { noteId: live.id },
    });
    expect((await approve(BOB, waiting, edit)).status).toBe('ACTIVE');
  });

  it('does not approve another waiting note by repeating its text', async () => {
    const input = high();
    const [waiting, note] = [await submit(input), await submit(high())];
    await approve(BOB, note, input);
    expect(await get(waiting)).toMatchObject({ status: 'PENDING', review: { required: 2 } });
    await rejects(approve(REVIEWER, waiting), 'FORBIDDEN');
  });
});

describe('edited text and near notes', () => {
  const lesson = 'Sequential awaits are right where every step depends on the one before it in migrations';
  const base = (taskType: string, more: object = {}) =>
    correction({ namespace: 'hold', taskType, wrongAnswer: 'w', correction: 'c', ...more });

  it('take a contradiction over, or end it', async () => {
    const old = await submit(base('edit/a', { lesson: `${lesson} always` }));
    const next = await submit(base('edit/a', { lesson: `${lesson} never` }));
    expect(await get(old)).toMatchObject({ contestedBy: next.id });
    const edited = await approve(BOB, next, base('edit/a', { lesson: `${lesson} never ever` }));
    expect(edited).toMatchObject({ status: 'ACTIVE', mergeCandidate: { noteId: old.id } });
    expect(await get(old)).toMatchObject({ status: 'ACTIVE', contestedBy: edited.id });
    const third = await submit(base('edit/b', { lesson: `${lesson} always` }));
    const turned = await submit(base('edit/b', { lesson: `${lesson} never` }));
    const away = await approve(BOB, turned, base('edit/b', { lesson: 'Fonts are embedded in every report' }));
    expect(away.mergeCandidate).toBeUndefined();
    expect((await get(third)).contestedBy).toBeUndefined();
  });

  it('are compared: what nobody has seen waits under HOLD, what says the same is proposed', async () => {
    const old = await submit(base('edit/c', { lesson: `${lesson} always` }));
    const waiting = await submit(base('edit/c', { lesson: 'Fonts are embedded', impact: 'HIGH' }));
    const edited = await approve(BOB, waiting, base('edit/c', { lesson: `${lesson} never`, impact: 'LOW' }));
    expect(edited).toMatchObject({ status: 'PENDING', mergeCandidate: { noteId: old.id } });
    expect(await get(old)).toMatchObject({ contestedBy: edited.id });
    const other = await submit(base('edit/c', { lesson: 'Pages are numbered', impact: 'HIGH' }));
    const same = await approve(BOB, other, base('edit/c', { lesson: `${lesson} always then` }));
    expect(same.mergeCandidate).toMatchObject({ noteId: old.id });
  });
});
