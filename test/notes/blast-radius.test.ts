import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Receipt } from '../../src/domain/retrieval.js';
import { createImporter, importRun } from '../../src/notes/import/import-file.js';
import { correction, openWritePath, REVIEWER, type WritePath } from '../doubles/write-path.js';

let path: WritePath;
beforeAll(async () => {
  path = await openWritePath();
});
afterAll(() => path.close());

const receipt = (id: string, noteIds: readonly string[], createdAt: string, caller: string): Receipt => ({
  id,
  namespace: 'team',
  notes: noteIds.map((noteId) => ({ noteId, version: 1, score: 0.5 })),
  candidates: [],
  abstained: false,
  threshold: 0,
  scoreScale: 'cosine',
  degraded: [],
  plan: 'scan',
  exhaustive: true,
  indexRevision: '1',
  embeddingModel: 'words@test',
  truncated: false,
  stages: [],
  createdAt,
  queryDigest: 'x',
  attributes: {},
  candidateK: 20,
  finalK: 3,
  caller,
});
const submit = async (author: string, record?: string): Promise<string> => {
  const source = { kind: 'review', author, ...(record === undefined ? {} : { record }) };
  return (await path.commands.submit(REVIEWER, correction({ source }))).note!.id;
};

describe('influence', () => {
  it('finds the answers of notes, of an author, and of a time, each answer once', async () => {
    const [a, b, other] = [await submit('mallory'), await submit('mallory'), await submit('ann')];
    const { receipts } = path.store;
    await receipts.put(receipt('r1', [a, b], '2026-01-01T00:00:00.000Z', 'ci'));
    await receipts.put(receipt('r2', [b], '2026-01-02T00:00:00.000Z', 'bot'));
    await receipts.put(receipt('r3', [other], '2026-01-03T00:00:00.000Z', 'ci'));
    await receipts.put(receipt('r4', [a], '2026-01-04T00:00:00.000Z', 'ci'));
    const byAuthor = await path.queries.influence({ namespace: 'team', source: { author: 'mallory' } }, 2);
    expect(byAuthor).toEqual({
      notes: 2,
      answers: 3,
      callers: [
        { caller: 'ci', answers: 2 },
        { caller: 'bot', answers: 1 },
      ],
      firstAt: '2026-01-01T00:00:00.000Z',
      lastAt: '2026-01-04T00:00:00.000Z',
      newest: [
        { receiptId: 'r4', at: '2026-01-04T00:00:00.000Z', caller: 'ci', noteIds: [a] },
        { receiptId: 'r2', at: '2026-01-02T00:00:00.000Z', caller: 'bot', noteIds: [b] },
      ],
      truncated: false,
    });
    const window = { from: '2026-01-01T12:00:00.000Z', to: '2026-01-04T00:00:00.000Z' };
    const some = await path.queries.influence({ namespace: 'team', noteIds: [a, b], ...window }, 9);
    expect(some.newest.map(({ receiptId }) => receiptId)).toEqual(['r2']);
    const byTime = await path.queries.influence({ namespace: 'team', from: '2026-01-02T00:00:00.000Z' }, 9);
    expect(byTime).toMatchObject({
      notes: 3,
      answers: 3,
      firstAt: '2026-01-02T00:00:00.000Z',
      truncated: false,
    });
    expect(byTime.newest.map(({ receiptId }) => receiptId)).toEqual(['r4', 'r3', 'r2']);
    const day = await path.queries.influence(
      { namespace: 'team', ...window, to: '2026-01-03T00:00:00.000Z' },
      9,
    );
    expect(day.newest).toEqual([
      { receiptId: 'r2', at: '2026-01-02T00:00:00.000Z', caller: 'bot', noteIds: [b] },
    ]);
    const elsewhere = await path.queries.influence({ namespace: 'other', noteIds: [a, b] }, 9);
    expect(elsewhere.answers).toBe(0);
  });

  it('refuses a selection of nothing', async () => {
    for (const source of [undefined, {}, { author: '' }]) {
      await expect(path.queries.influence({ namespace: 'team', source }, 9)).rejects.toMatchObject({
        code: 'INVALID_INPUT',
      });
    }
  });
});

describe('deprecateBySource', () => {
  const ask = (source: object, dryRun: boolean) =>
    path.commands.deprecateBySource(REVIEWER, { namespace: 'team', source, reason: 'left the team', dryRun });

  it('says first what it would do, then does it, and is harmless to repeat', async () => {
    const ids = [await submit('oscar'), await submit('oscar'), await submit('oscar')];
    await path.commands.deprecate(REVIEWER, 'team', [ids[0]!], 'old');
    await path.store.receipts.put(receipt('r9', [ids[1]!], '2026-02-01T00:00:00.000Z', 'ci'));
    const before = await path.store.audit.count('all', {});
    const dry = await ask({ author: 'oscar' }, true);
    expect(dry).toEqual({ dryRun: true, matched: 2, deprecated: 0, noteIds: ids.slice(1), answers: 1 });
    expect(await path.store.audit.count('all', {})).toBe(before);
    expect(await ask({ author: 'oscar' }, false)).toMatchObject({ matched: 2, deprecated: 2, answers: 1 });
    expect((await path.queries.getMany('team', ids)).map(({ status }) => status)).toEqual([
      'DEPRECATED',
      'DEPRECATED',
      'DEPRECATED',
    ]);
    expect(await ask({ author: 'oscar' }, false)).toMatchObject({ matched: 0, deprecated: 0 });
  });

  it('takes back one import and leaves the other', async () => {
    const file = (lesson: string) =>
      new TextEncoder().encode(
        `${JSON.stringify({ namespace: 'team', taskType: 'import', wrongAnswer: 'w', correction: 'c', lesson })}\n`,
      );
    const importer = createImporter({ commands: path.commands, clock: path.clock });
    const files = [file('Quarter totals come from the ledger'), file('Fonts are embedded in the export')];
    for (const bytes of [...files, ...files]) {
      for await (const _ of importer.importFile(REVIEWER, { fileName: 'notes.jsonl', bytes })) {
        // Only its end matters.
      }
    }
    const notes = await path.store.notes.list(['team'], { taskTypes: ['import'] }, 'CREATED_ASC', {
      limit: 9,
    });
    expect(notes.items.map(({ version, sources }) => [version, sources[0]?.run])).toEqual(
      files.map((bytes) => [1, importRun(bytes)]),
    );
    await ask({ run: importRun(files[0]!) }, false);
    const active = { taskTypes: ['import'], statuses: ['ACTIVE' as const] };
    const left = await path.store.notes.list(['team'], active, 'CREATED_ASC', { limit: 9 });
    expect(left.items.map(({ lesson }) => lesson)).toEqual(['Fonts are embedded in the export']);
  });
});
