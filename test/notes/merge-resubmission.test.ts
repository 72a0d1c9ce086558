import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BOB, INJECTED, reviewActs } from '../doubles/review-acts.js';
import { ADMIN, correction, openWritePath, type WritePath } from '../doubles/write-path.js';

const namespace = 'two';

let path: WritePath;
beforeAll(async () => {
  path = await openWritePath();
  await path.review.setPolicy(ADMIN, namespace, { approvals: { highImpact: 2 } });
  await path.review.setPolicy(ADMIN, 'known', { approvals: { unknownAuthor: 2 }, knownAuthors: ['rita'] });
});
afterAll(() => path.close());

const { rejects, submit, approve, get, backAndForth } = reviewActs(() => path);

describe('the same correction again', () => {
  it('with an injected attribute takes a live note before a reviewer, with what was found', async () => {
    const input = correction();
    const note = await submit(input);
    const again = await path.commands.submit(BOB, { ...input, attributes: INJECTED });
    expect(again).toMatchObject({
      outcome: 'QUARANTINED',
      note: { id: note.id, status: 'QUARANTINED', review: { cause: 'screening', coAuthors: ['bob'] } },
    });
    expect(again.note!.findings.map(({ field }) => field)).toContain('attributes.note');
    expect(path.vectorIndex.versionOf(note.namespace, note.id)).toBeUndefined();
  });

  it('is judged apart from its twin of one batch', async () => {
    const input = correction();
    const results = await path.commands.submitMany(BOB, [{ ...input, attributes: INJECTED }, input]);
    expect(await get(results[0]!.note!)).toMatchObject({ status: 'QUARANTINED' });
    const other = correction();
    const [first] = await path.commands.submitMany(BOB, [other, { ...other, attributes: INJECTED }]);
    expect(await get(first!.note!)).toMatchObject({ status: 'QUARANTINED' });
  });

  it('by an unknown author adds its source, and changes nothing that serves unseen', async () => {
    const input = correction({ namespace: 'known', attributes: { repo: 'x' } });
    const note = await submit(input);
    const source = { kind: 'review', author: 'mallory' };
    const supported = await path.commands.submit(BOB, { ...input, source });
    expect(supported).toMatchObject({ outcome: 'UPDATED', note: { status: 'ACTIVE', supportCount: 2 } });
    const changed = await path.commands.submit(BOB, { ...input, source, attributes: { repo: 'y' } });
    expect(changed).toMatchObject({
      outcome: 'NEEDS_REVIEW',
      note: { status: 'PENDING', review: { cause: 'unknown-author', required: 2, submittedBy: 'rita' } },
    });
    await rejects(approve(BOB, note), 'FORBIDDEN');
  });

  it('with impact HIGH waits for what HIGH needs, also where it waited or was out of service already', async () => {
    const input = correction({ namespace });
    const note = await submit(input);
    expect(await path.commands.submit(BOB, { ...input, impact: 'HIGH' })).toMatchObject({
      outcome: 'NEEDS_REVIEW',
      note: { id: note.id, status: 'PENDING', impact: 'HIGH', review: { cause: 'impact', required: 2 } },
    });
    await rejects(approve(BOB, note), 'FORBIDDEN');
    await backAndForth(note);
    await rejects(approve(BOB, note), 'FORBIDDEN');

    const out = correction({ namespace });
    const gone = await submit(out);
    await path.commands.deprecate(ADMIN, namespace, [gone.id], 'outdated');
    await path.commands.submit(BOB, { ...out, impact: 'HIGH' });
    const [back] = await path.commands.restore(ADMIN, namespace, [gone.id], 'right after all');
    expect(back).toMatchObject({ status: 'ACTIVE', impact: 'NORMAL' });
  });
});
