import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CorrectionInput } from '../../src/ports/use-cases.js';
import { ADMIN, correction, openWritePath, REVIEWER, type WritePath } from '../doubles/write-path.js';

/** Two write paths on one database: separate locks and separate indexes, as two processes have them. */
let directory: string;
let paths: readonly [WritePath, WritePath];
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'errata-races-'));
  paths = [await openWritePath({ path: directory }), await openWritePath({ path: directory })];
});
afterAll(async () => {
  for (const path of paths) await path.close();
  await rm(directory, { recursive: true, force: true });
});

/** Submits both at once, held at the point where each has looked and neither has written. */
async function race(inputs: readonly [CorrectionInput, CorrectionInput]) {
  let waiting = 0;
  let open = (): void => undefined;
  const both = new Promise<void>((resolve) => {
    open = resolve;
  });
  const restore = paths.map(({ store }) => {
    const insert = store.notes.insert.bind(store.notes);
    store.notes.insert = async (entries) => {
      waiting += 1;
      if (waiting === 2) open();
      await both;
      return insert(entries);
    };
    return () => {
      store.notes.insert = insert;
    };
  });
  try {
    return await Promise.all(paths.map(({ commands }, index) => commands.submit(REVIEWER, inputs[index]!)));
  } finally {
    for (const undo of restore) undo();
  }
}

const text = 'Sequential awaits are right where every step depends on the one before it in schema migrations';
const pair = (taskType: string, a: string, b: string): [CorrectionInput, CorrectionInput] => [
  correction({ taskType, wrongAnswer: 'w', correction: 'c', lesson: a }),
  correction({
    taskType,
    wrongAnswer: 'w',
    correction: 'c',
    lesson: b,
    source: { kind: 'review', author: 'bob' },
  }),
];

describe('near duplicates of two processes at once', () => {
  it('end as one active note with both sources', async () => {
    for (let round = 0; round < 10; round += 1) {
      const taskType = `race/same-${round}`;
      const results = await race(pair(taskType, text, `${text} then`));
      expect(results.map(({ outcome }) => outcome).sort()).toEqual(['CREATED', 'DUPLICATE']);
      const filter = { taskTypes: [taskType], statuses: ['ACTIVE' as const] };
      const { items } = await paths[0].store.notes.list(['team'], filter, 'CREATED_ASC', { limit: 10 });
      expect(items.map(({ supportCount }) => supportCount)).toEqual([2]);
    }
  });

  it('end as one proposal where they say the same in other words or the opposite', async () => {
    const other = text.replace('right', 'correct').replace('every', 'each');
    const words = await race(pair('race/words', text, other));
    expect(words.map(({ outcome }) => outcome).sort()).toEqual(['CREATED', 'MERGE_PROPOSED']);
    const turned = await race(pair('race/opposite', `${text} always`, `${text} never`));
    expect(turned.map(({ outcome }) => outcome).sort()).toEqual(['CREATED', 'MERGE_PROPOSED']);
    const filter = { taskTypes: ['race/opposite'], statuses: ['ACTIVE' as const] };
    const { items } = await paths[0].store.notes.list(['team'], filter, 'CREATED_ASC', { limit: 10 });
    // Both live, and the earlier one knows which is the newer: retrieval leaves it out.
    const newer = turned.find(({ outcome }) => outcome === 'MERGE_PROPOSED')!.note!.id;
    expect(items.map(({ contestedBy }) => contestedBy).sort()).toEqual([newer, undefined]);
  });

  it('let the later of two opposites wait where the policy says so', async () => {
    await paths[0].review.setPolicy(ADMIN, 'weighty', { approvals: { highImpact: 0 } });
    const inputs = pair('race/weighty', `${text} always`, `${text} never`).map((input) => ({
      ...input,
      ...{ namespace: 'weighty', impact: 'HIGH' as const },
    })) as [CorrectionInput, CorrectionInput];
    expect((await race(inputs)).map(({ note }) => note?.status)).toEqual(['ACTIVE', 'ACTIVE']);
    await paths[0].review.setPolicy(ADMIN, 'held', { contradictions: 'HOLD' });
    const held = pair('race/held', `${text} always`, `${text} never`).map((input) => ({
      ...input,
      namespace: 'held',
    })) as [CorrectionInput, CorrectionInput];
    const results = await race(held);
    expect(results.map(({ note }) => note?.status).sort()).toEqual(['ACTIVE', 'PENDING']);
    const waiting = results.find(({ note }) => note?.status === 'PENDING')!.note!;
    expect(waiting.review).toMatchObject({ cause: 'contradiction', required: 1 });
  });

  it('end as one note, or as two that a reviewer has seen together, where both had to wait', async () => {
    const high = (inputs: readonly CorrectionInput[]) =>
      inputs.map((input) => ({ ...input, impact: 'HIGH' })) as [CorrectionInput, CorrectionInput];
    const decide = (id: string, decision: 'APPROVE' | 'MERGE') =>
      paths[1].commands.review(REVIEWER, { namespace: 'team', id, decision });
    const same = await race(high(pair('race/high', text, `${text} then`)));
    const [a, b] = same.map(({ note }) => note!.id);
    expect(same.map(({ note }) => note!.status)).toEqual(['PENDING', 'PENDING']);
    expect((await decide(a!, 'APPROVE')).status).toBe('ACTIVE');
    expect(await decide(b!, 'APPROVE')).toMatchObject({ status: 'PENDING', mergeCandidate: { noteId: a } });
    await decide(b!, 'MERGE');
    expect(await paths[0].store.notes.get('team', a!)).toMatchObject({ status: 'ACTIVE', supportCount: 2 });
    const filter = { taskTypes: ['race/high'], statuses: ['ACTIVE' as const, 'PENDING' as const] };
    expect(await paths[0].store.notes.count(['team'], filter)).toBe(1);

    const turned = await race(high(pair('race/turned', `${text} always`, `${text} never`)));
    const [c, d] = turned.map(({ note }) => note!.id);
    await decide(c!, 'APPROVE');
    expect(await decide(d!, 'APPROVE')).toMatchObject({ status: 'PENDING', mergeCandidate: { noteId: c } });
    // Who has seen the other one and approves lets both live, and the older one says so.
    expect((await decide(d!, 'APPROVE')).status).toBe('ACTIVE');
    expect(await paths[0].store.notes.get('team', c!)).toMatchObject({ status: 'ACTIVE', contestedBy: d });

    const other = text.replace('right', 'correct').replace('every', 'each');
    const words = await race(high(pair('race/high-words', text, other)));
    const [e, f] = words.map(({ note }) => note!.id);
    await decide(e!, 'APPROVE');
    expect(await decide(f!, 'APPROVE')).toMatchObject({ status: 'ACTIVE', mergeCandidate: { noteId: e } });
  });

  it('leave notes with other facts alone', async () => {
    const results = await race(pair('race/facts', `${text} within 30 days`, `${text} within 60 days`));
    expect(results.map(({ outcome }) => outcome)).toEqual(['CREATED', 'CREATED']);
  });
});
