import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Verdict } from '../../src/ports/use-cases.js';
import { drawTrial } from '../../src/retrieval/draw-trial.js';
import { seeded } from '../app/dist-process.js';
import { openWordApp, type WordApp } from '../doubles/word-app.js';
import { ADMIN, correction, openWritePath, REVIEWER, type WritePath } from '../doubles/write-path.js';

let path: WritePath;
beforeAll(async () => {
  path = await openWritePath();
});
afterAll(() => path.close());

let receipts = 0;
async function answerWith(target: WritePath, noteId: string): Promise<string> {
  receipts += 1;
  const id = `receipt-${receipts}`;
  await target.store.receipts.put({
    id,
    namespace: 'team',
    notes: [{ noteId, version: 1, score: 0.9 }],
    candidates: [],
    abstained: false,
    threshold: 0.4,
    scoreScale: 'cosine',
    degraded: [],
    plan: 'scan',
    exhaustive: true,
    indexRevision: '1',
    embeddingModel: 'words@test',
    truncated: false,
    stages: [],
    createdAt: target.clock.now(),
    queryDigest: 'd',
    attributes: {},
    candidateK: 20,
    finalK: 3,
    caller: 'ci',
  });
  return id;
}
async function judge(noteId: string, ...verdicts: Verdict[]): Promise<void> {
  for (const verdict of verdicts) {
    await path.commands.recordOutcome(REVIEWER, await answerWith(path, noteId), noteId, verdict);
  }
}
const newNote = async (): Promise<string> => (await path.commands.submit(REVIEWER, correction())).note!.id;
const get = async (id: string) => (await path.queries.get('team', id))!;
const approve = (id: string) =>
  path.commands.review(REVIEWER, { id, namespace: 'team', decision: 'APPROVE' });

describe('harmful notes', () => {
  it('go back to a reviewer once the lower bound crosses the limit, out of retrieval at once', async () => {
    const id = await newNote();
    await judge(id, 'HARMFUL');
    expect((await get(id)).status).toBe('ACTIVE');
    await judge(id, 'HARMFUL');
    const demoted = await get(id);
    expect(demoted).toMatchObject({
      status: 'PENDING',
      outcomes: { harmful: 2, helpful: 0 },
      findings: [
        {
          rule: 'outcome.harmful',
          field: 'outcomes',
          reason: '2 of 2 verdicts were harmful: at least 34% of uses, with 95% confidence',
        },
      ],
    });
    expect(path.vectorIndex.versionOf('team', id)).toBeUndefined();
    const [event] = (await path.queries.audit(['team'], { noteId: id }, { limit: 1 })).items;
    expect(event).toMatchObject({ action: 'demoted', actor: 'outcomes' });
  });

  it('stay while most verdicts are good: 5 harmful of 10 stay, 6 of 11 do not', async () => {
    const id = await newNote();
    await judge(id, 'HELPFUL', 'HELPFUL', 'IGNORED', 'HELPFUL', 'HELPFUL', ...Array(5).fill('HARMFUL'));
    expect((await get(id)).status).toBe('ACTIVE');
    await judge(id, 'HARMFUL');
    expect((await get(id)).status).toBe('PENDING');
  });

  it('start anew after a reviewer has approved them', async () => {
    const id = await newNote();
    await judge(id, 'HARMFUL', 'HARMFUL');
    await approve(id);
    await judge(id, 'HARMFUL');
    expect((await get(id)).status).toBe('ACTIVE');
    await judge(id, 'HARMFUL');
    const again = await get(id);
    expect(again.status).toBe('PENDING');
    expect(again.findings).toHaveLength(1);
    expect(again.outcomes.harmful).toBe(4);
  });
});

describe('verdicts from two processes at once', () => {
  it('count once a receipt, demote once, and never fail', async () => {
    const other = await openWritePath({ path: path.directory });
    const id = await newNote();
    for (let round = 0; round < 4; round += 1) {
      const receiptId = await answerWith(path, id);
      const asked = [path, other, path, other].map(({ commands }) =>
        commands.recordOutcome(REVIEWER, receiptId, id, 'HARMFUL'),
      );
      const counted = await Promise.all(asked);
      expect(counted.filter(Boolean)).toHaveLength(1);
    }
    const history = (await path.queries.audit(['team'], { noteId: id }, { limit: 50 })).items;
    expect(history.filter(({ action }) => action === 'outcome')).toHaveLength(4);
    expect(history.filter(({ action }) => action === 'demoted')).toHaveLength(1);
    expect((await get(id)).outcomes.harmful).toBe(4);
    await other.close();
  });
});

describe('drawTrial', () => {
  it('withholds the share asked for, as often as it keeps a control, each note alike', () => {
    const random = seeded(7);
    const counts = new Map<string, number>();
    const rounds = 60_000;
    for (let i = 0; i < rounds; i += 1) {
      const draw = drawTrial(['a', 'b', 'c'], 0.05, random);
      const name = draw === undefined ? 'none' : `${draw.noteId} ${draw.withheld}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    // Six kinds of trial of 5% / 3 each: 1,000 expected, standard deviation 31.
    const kinds = ['a', 'b', 'c'].flatMap((note) => [`${note} true`, `${note} false`]);
    for (const kind of kinds) expect(Math.abs((counts.get(kind) ?? 0) - 1_000)).toBeLessThan(5 * 31);
    expect(counts.size).toBe(7);
    for (const share of [0, -1]) expect(drawTrial(['a'], share, () => 0)).toBeUndefined();
    expect(drawTrial([], 0.25, () => 0)).toBeUndefined();
  });
});

describe('measured effects', () => {
  let word: WordApp;
  afterAll(() => word?.close());

  it('finds what a note does from answers that went without it', { timeout: 60_000 }, async () => {
    word = await openWordApp({ settings: { withholdShare: 0.25 } });
    const { commands, retrieval, notes } = word.app.useCases;
    const lesson = 'Totals of the ledger are rounded half to even';
    const { note } = await commands.submit(
      ADMIN,
      correction({ lesson, wrongAnswer: lesson, correction: lesson }),
    );
    const random = seeded(11);
    let without = 0;
    for (let i = 0; i < 400; i += 1) {
      const answer = await retrieval.retrieve(ADMIN, { namespace: 'team', query: lesson, threshold: 0.5 });
      const served = answer.notes.some((scored) => scored.note.id === note!.id);
      if (!served) without += 1;
      expect(answer.trial?.withheld === true).toBe(!served);
      // With the lesson 9 of 10 checks come out right, without it half of them.
      await commands.recordAnswer(ADMIN, answer.id, random() < (served ? 0.9 : 0.5));
      expect(await commands.recordAnswer(ADMIN, answer.id, true)).toBe(false);
      if (i === 0) expect(await retrieval.receipt('all', answer.id)).toMatchObject({ id: answer.id });
    }
    // A quarter of 400, standard deviation 8.7.
    expect(without).toBeGreaterThan(56);
    expect(without).toBeLessThan(144);
    const report = await notes.effects('team', 5);
    expect(report.notes.map(({ noteId }) => noteId)).toEqual([note!.id]);
    expect(report.all.withheld.total).toBe(without);
    expect(report.all.effect.low).toBeGreaterThan(0.1);
    expect(report.all.effect.high).toBeLessThan(0.7);
    expect(report.all.effect.difference).toBeCloseTo(report.all.served.rate - report.all.withheld.rate, 10);
    expect((await notes.effects('other', 5)).all.effect).toEqual({ difference: 0, low: -1, high: 1 });
  });
});
