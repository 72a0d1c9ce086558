import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CorrectionInput } from '../../src/ports/use-cases.js';
import { ADMIN, openRealApp, type RealApp } from './real-app.js';

const netty: CorrectionInput = {
  taskType: 'dependency-scan',
  wrongAnswer: 'Reported CVE-2023-44487 as exploitable in netty-codec-http2.',
  correction: 'The viewer is a desktop program and opens no listening socket.',
  lesson: 'Server-side HTTP/2 floods in netty do not apply to programs that never listen on a port.',
  attributes: { product: 'viewer' },
  source: { kind: 'review', author: 'ada' },
};
const guard: CorrectionInput = {
  taskType: 'code-review',
  wrongAnswer: 'Said that parse_header() may read past the buffer.',
  correction: 'The length is checked by the only caller.',
  lesson:
    'parse_header() relies on its caller for the bounds check; look at the call site before reporting it.',
};

describe('an app over real parts', () => {
  let real: RealApp;
  beforeAll(async () => {
    real = await openRealApp({ runJobs: true });
    await real.app.useCases.commands.submitMany(ADMIN, [netty, guard]);
  });
  afterAll(() => real.close());
  const retrieve = (query: string, rest = {}) =>
    real.app.useCases.retrieval.retrieve(ADMIN, { query, ...rest });

  it('finds the lesson for a paraphrase, with scores, stages and a receipt', async () => {
    const answer = await retrieve('netty HTTP/2 flood CVE in an application without any server socket');
    expect(answer.notes[0]?.note.lesson).toBe(netty.lesson);
    expect(answer.abstained).toBe(false);
    expect(answer.notes[0]?.score).toBeGreaterThanOrEqual(answer.threshold);
    expect(answer.stages.map(({ name }) => name)).toEqual([
      'embed',
      'vector',
      'lexical',
      'hydrate',
      'score',
      'rerank',
      'receipt',
    ]);
    expect(answer.stages.find(({ name }) => name === 'rerank')?.detail).toBe('late-interaction');
    expect(answer.rerankModel).toBe('late-interaction');
    expect(answer.degraded).toEqual([]);
    expect(answer.exhaustive).toBe(true);
    const receipt = await real.app.useCases.retrieval.receipt('all', answer.id);
    expect(receipt?.notes.map(({ note }) => note.id)).toEqual(answer.notes.map(({ note }) => note.id));
    expect(receipt?.stages.length).toBeGreaterThan(4);
  });

  it('finds an identifier by text, and nothing for what no note is about', async () => {
    const found = await retrieve('parse_header');
    expect(found.candidates[0]?.note.lesson).toBe(guard.lesson);
    expect(found.candidates[0]?.lexicalRank).toBe(1);
    const nothing = await retrieve('How long may a rental contract for agricultural land in Austria run?');
    expect(nothing.notes).toEqual([]);
    expect(nothing.abstained).toBe(true);
  });

  it('keeps filters and namespaces apart', async () => {
    const query = 'netty HTTP/2 flood';
    expect(
      (await retrieve(query, { taskType: 'code-review' })).candidates.map(({ note }) => note.taskType),
    ).not.toContain('dependency-scan');
    expect((await retrieve(query, { attributes: { product: 'other' } })).candidates).toEqual([]);
    expect((await retrieve(query, { attributes: { product: 'viewer' } })).candidates).toHaveLength(1);
    expect((await retrieve(query, { namespace: 'elsewhere' })).candidates).toEqual([]);
  });

  it('knows from where a key was used', async () => {
    const { keys, commands, notes } = real.app.useCases;
    const key = await keys.create(ADMIN, 'tool', ['reviewer'], undefined);
    const from = { via: 'API', address: '203.0.113.7', client: 'tool token=abcDEF1234567890abcDEF' } as const;
    const caller = (await keys.authenticate(key, from))!;
    const { note } = await commands.submit(caller, { ...guard, lesson: 'Origins are kept.' });
    const [event] = (await notes.audit('all', { noteId: note!.id }, { limit: 1 })).items;
    expect(event).toMatchObject({ actor: 'tool', origin: { via: 'API', address: '203.0.113.7' } });
    expect(event?.origin?.client).not.toContain('abcDEF1234567890');
  });

  it('builds a prompt whose last part is the item', async () => {
    const block = await real.app.useCases.retrieval.buildPrompt(ADMIN, {
      retrieve: { query: 'netty HTTP/2 flood on a desktop program' },
      baseInstructions: 'Judge the finding.',
      item: 'CVE-2023-44487 in the viewer',
    });
    expect(block.included.map(({ lesson }) => lesson)).toContain(netty.lesson);
    expect(block.prompt.startsWith('Judge the finding.')).toBe(true);
    expect(block.prompt.endsWith('CVE-2023-44487 in the viewer')).toBe(true);
    expect(block.contextTokens).toBeLessThanOrEqual(800);
  });

  it("never serves an acknowledged deprecation, also through another process' index, and restores it", async () => {
    const other = await openRealApp({ folder: real.folder });
    try {
      const query = { query: 'netty HTTP/2 flood on a desktop program' };
      const [first] = (await other.app.useCases.retrieval.retrieve(ADMIN, query)).notes;
      expect(first?.note.lesson).toBe(netty.lesson);
      const id = first?.note.id ?? '';
      await real.app.useCases.commands.deprecate(ADMIN, 'default', [id], 'wrong after all');
      for (const useCases of [real.app.useCases, other.app.useCases]) {
        const answer = await useCases.retrieval.retrieve(ADMIN, query);
        expect(answer.candidates.map(({ note }) => note.id)).not.toContain(id);
      }
      await other.app.useCases.commands.restore(ADMIN, 'default', [id], 'right again');
      expect((await other.app.useCases.retrieval.retrieve(ADMIN, query)).notes[0]?.note.id).toBe(id);
    } finally {
      await other.close();
    }
  });

  it('stores one note for 50 submissions at once', async () => {
    const input = {
      ...guard,
      lesson: 'A mutex that is only read under its own lock needs no atomic flag beside it.',
    };
    const results = await Promise.all(
      Array.from({ length: 50 }, () => real.app.useCases.commands.submit(ADMIN, input)),
    );
    expect(new Set(results.map(({ note }) => note?.id)).size).toBe(1);
    expect(results.filter(({ outcome }) => outcome === 'CREATED')).toHaveLength(1);
    const id = results[0]?.note?.id ?? '';
    expect((await real.app.useCases.notes.get('default', id))?.version).toBe(1);
  });

  it.each([
    ['query', { query: '' }, 'INVALID_TEXT'],
    ['query', { query: '\u200b\u2060' }, 'INVALID_TEXT'],
    ['query', { query: 'a\ud800' }, 'INVALID_TEXT'],
    ['query', { query: 'x'.repeat(8_001) }, 'INPUT_TOO_LARGE'],
    ['finalK', { query: 'x', finalK: 0 }, 'INVALID_INPUT'],
    ['candidateK', { query: 'x', candidateK: 1.5 }, 'INVALID_INPUT'],
    ['threshold', { query: 'x', threshold: Number.NaN }, 'INVALID_INPUT'],
    ['risk', { query: 'x', risk: 'HUGE' as never }, 'INVALID_INPUT'],
  ])('refuses a bad %s', async (field, request, code) => {
    await expect(real.app.useCases.retrieval.retrieve(ADMIN, request)).rejects.toMatchObject({
      code,
      details: { field },
    });
  });

  it('runs jobs to their end and shows their progress', async () => {
    const { jobs } = real.app.useCases;
    const job = await jobs.start(ADMIN, 'REEMBED', undefined, {});
    const seen = [];
    for await (const state of jobs.progress(job.id)) seen.push(state);
    expect(seen.at(-1)?.state).toBe('SUCCEEDED');
    expect(seen.at(-1)?.done).toBe(await real.store.notes.count('all', {}));
    await expect(jobs.cancel(ADMIN, job.id)).rejects.toMatchObject({ code: 'INVALID_TRANSITION' });
  });

  it('finds everything again after a restart', async () => {
    const again = await openRealApp({ folder: real.folder });
    try {
      expect(again.engines.vectorIndex.count()).toBe(
        await again.store.notes.count('all', { statuses: ['ACTIVE'] }),
      );
      const answer = await again.app.useCases.retrieval.retrieve(ADMIN, {
        query: 'netty HTTP/2 flood on a desktop program',
      });
      expect(answer.notes[0]?.note.lesson).toBe(netty.lesson);
    } finally {
      await again.close();
    }
  });
});
