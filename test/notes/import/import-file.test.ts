import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportNotes } from '../../../src/notes/import/export-notes.js';
import {
  createImporter,
  type ImportProgress,
  type ImportRequest,
  type ImportSummary,
} from '../../../src/notes/import/import-file.js';
import type { WordEmbedder } from '../../doubles/word-embedder.js';
import { correction, openWritePath, REVIEWER, type WritePath } from '../../doubles/write-path.js';

let path: WritePath;
beforeAll(async () => {
  path = await openWritePath();
});
afterAll(() => path.close());

async function run(request: ImportRequest): Promise<{ steps: ImportProgress[]; summary: ImportSummary }> {
  const importer = createImporter({ commands: path.commands, clock: path.clock }).importFile(
    REVIEWER,
    request,
  );
  const steps: ImportProgress[] = [];
  for (;;) {
    const next = await importer.next();
    if (next.done === true) return { steps, summary: next.value };
    steps.push(next.value);
  }
}
const jsonl = (records: readonly object[]) =>
  Buffer.from(records.map((record) => JSON.stringify(record)).join('\n'));
const embedded = () => (path.embedder as WordEmbedder).stats().embeddedTexts;

describe('createImporter', () => {
  const records = Array.from({ length: 300 }, (_, index) => {
    const { source: _source, ...rest } = correction({ namespace: 'import', taskType: `t${index % 3}` });
    return index === 150 ? { ...rest, lesson: '' } : rest;
  });
  const request = { fileName: 'notes.jsonl', bytes: jsonl(records) };

  it('stores row by row, reports each, goes on after a bad one, and adds nothing the second time', async () => {
    const first = await run(request);
    expect(first.summary).toMatchObject({ rows: 300, outcomes: { CREATED: 299, REFUSED: 1 } });
    expect(first.steps.map(({ done, total }) => [done, total])).toEqual([
      [128, 300],
      [256, 300],
      [300, 300],
    ]);
    expect(first.steps[1]?.rows[150 - 128]).toMatchObject({
      row: 151,
      line: 151,
      outcome: 'REFUSED',
      findings: [{ rule: 'INVALID_TEXT', field: 'lesson' }],
    });
    const [texts, revision] = [embedded(), await path.store.notes.lastRevision()];
    const second = await run(request);
    expect(second.summary.outcomes).toEqual({ UNCHANGED: 299, REFUSED: 1 });
    expect([embedded(), await path.store.notes.lastRevision()]).toEqual([texts, revision]);
    expect(second.steps[0]?.rows[0]?.noteId).toBe(first.steps[0]?.rows[0]?.noteId);
  });

  it('goes on where a stopped run ended, without embedding again', async () => {
    const bytes = jsonl(Array.from({ length: 200 }, () => correction({ namespace: 'resume' })));
    const before = embedded();
    const importer = createImporter({ commands: path.commands, clock: path.clock }).importFile(REVIEWER, {
      fileName: 'r.jsonl',
      bytes,
    });
    await importer.next();
    await importer.return(undefined as never);
    expect(await path.queries.count(['resume'], {})).toBe(128);
    await run({ fileName: 'r.jsonl', bytes });
    expect(await path.queries.count(['resume'], {})).toBe(200);
    expect(embedded() - before).toBe(400);
  });

  it('stores nothing of a file that cannot be read', async () => {
    const bytes = Buffer.from('taskType,wrongAnswer,correction,lesson\nt,w,c,l\nt,"w,c,l\n');
    await expect(run({ fileName: 'bad.csv', bytes, namespace: 'bad' })).rejects.toMatchObject({
      code: 'INVALID_FILE',
    });
    expect(await path.queries.count(['bad'], {})).toBe(0);
  });

  it('stops between batches when asked to', async () => {
    const signal = AbortSignal.abort();
    await expect(run({ ...request, signal })).rejects.toMatchObject({ code: 'ABORTED' });
  });

  it('reads back what was exported, with every source, and not what was deprecated', async () => {
    const input = correction({
      namespace: 'from',
      attributes: { repo: 'x' },
      expiresAt: '2030-01-01T00:00:00Z',
    });
    await path.commands.submit(REVIEWER, input);
    await path.commands.submit(REVIEWER, { ...input, source: { kind: 'review', author: 'zoe' } });
    const { note } = await path.commands.submit(REVIEWER, correction({ namespace: 'from' }));
    await path.commands.deprecate(REVIEWER, 'from', [note!.id], 'old');
    const lines: string[] = [];
    for await (const line of exportNotes(path.queries, ['from'], {})) lines.push(line);
    expect(lines).toHaveLength(2);
    const bytes = Buffer.from(lines.join(''));
    const repeat = await run({ fileName: 'export.jsonl', bytes });
    expect(repeat.summary.outcomes).toEqual({ UNCHANGED: 1, SKIPPED: 1 });
    const moved = Buffer.from(lines.join('').replaceAll('"namespace":"from"', '"namespace":"to"'));
    await run({ fileName: 'export.jsonl', bytes: moved });
    const copies = await path.queries.list(['to'], {}, 'CREATED_ASC', { limit: 10 });
    expect(copies.items).toMatchObject([
      {
        lesson: input.lesson,
        supportCount: 2,
        attributes: { repo: 'x' },
        expiresAt: '2030-01-01T00:00:00.000Z',
      },
    ]);
  });
});
