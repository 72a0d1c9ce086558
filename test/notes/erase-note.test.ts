import { afterAll, beforeAll, expect, it } from 'vitest';
import { ADMIN, correction, openWritePath, REVIEWER, type WritePath } from '../doubles/write-path.js';

let path: WritePath;
beforeAll(async () => {
  path = await openWritePath();
});
afterAll(() => path.close());

it('leaves neither anchors nor marks of contradiction at an erased note', async () => {
  const lesson = 'Sequential awaits are right where every step depends on the one before it in migrations';
  const base = { taskType: 'erase/x', wrongAnswer: 'w', correction: 'c' };
  const anchors = [{ kind: 'FILE' as const, ref: 'secret/customer.sql', state: 'digest-of-it' }];
  const old = await path.commands.submit(
    REVIEWER,
    correction({ ...base, lesson: `${lesson} always`, anchors }),
  );
  const { id } = old.note!;
  await path.commands.submit(REVIEWER, correction({ ...base, lesson: `${lesson} never` }));
  const held = (await path.queries.get('team', id))!;
  expect([held.anchors, held.contestedBy].every((value) => value !== undefined)).toBe(true);
  const erased = await path.commands.erase(ADMIN, 'team', id, 'law');
  expect([erased.anchors, erased.contestedBy]).toEqual([undefined, undefined]);
  const left = [await path.queries.get('team', id), await path.queries.versions('team', id, 10)];
  expect(JSON.stringify(left)).not.toMatch(/customer|digest-of-it/u);
  const byAnchor = { anchor: { kind: 'FILE' as const, ref: 'secret/customer.sql' } };
  expect(await path.queries.count('all', byAnchor)).toBe(0);
});
