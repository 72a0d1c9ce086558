import { afterEach, describe, expect, it } from 'vitest';
import { createPrometheusMetrics } from '../../src/adapters/telemetry/prometheus-metrics.js';
import { createLiveFigures } from '../../src/app/live-figures.js';
import { ErrataError } from '../../src/domain/errors.js';
import { CachingEmbedder } from '../../src/models/caching-embedder.js';
import { silentLogger } from '../../src/ports/logger.js';
import type { CorrectionInput } from '../../src/ports/use-cases.js';
import { watchRetrieval } from '../../src/retrieval/watch-retrieval.js';
import { openWordApp, type WordApp, wordEngines } from '../doubles/word-app.js';
import { WordEmbedder } from '../doubles/word-embedder.js';
import { ADMIN } from './real-app.js';

const TOPICS = ['memcpy', 'strcpy', 'eval'];
const correction = (topic: string): CorrectionInput => ({
  taskType: 'code-review',
  wrongAnswer: `Reported the ${topic} call as unsafe.`,
  correction: `The ${topic} call is guarded by its only caller.`,
  lesson: `The ${topic} call needs no guard of its own.`,
});

/** One series of a page of metrics. */
const seriesOf = (page: string, series: string): number | undefined => {
  const line = page.split('\n').find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
};

describe('live figures', () => {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  /** Every scrape begins a count; `settled` scrapes until one has ended that began after now. */
  async function open() {
    const word: WordApp = await openWordApp({ embedder: new CachingEmbedder(new WordEmbedder()) });
    closers.push(() => word.close());
    for (const topic of TOPICS) await word.app.useCases.commands.submit(ADMIN, correction(topic));
    const figures = createLiveFigures(word.store, () => word.app.engines, silentLogger, 0);
    closers.push(() => figures.close());
    const metrics = createPrometheusMetrics(() => figures.read());
    const retrieval = watchRetrieval(word.app.useCases.retrieval, {
      serving: () => word.app.engines,
      watchers: [metrics],
      recallShare: 0,
    });
    const ask = (query: string) => retrieval.retrieve(ADMIN, { query, threshold: 0 });
    return { word, figures, metrics, ask };
  }

  it('never-used notes become fewer with every note that an answer holds, and more with a new one', async () => {
    const { word, figures, ask } = await open();
    const counted = async (wanted: number) =>
      expect.poll(() => figures.read().neverUsedNotes, { timeout: 10_000 }).toBe(wanted);
    await counted(3);
    expect(figures.read().activeNotes).toBe(3);
    const { notes } = await word.app.useCases.retrieval.retrieve(ADMIN, {
      query: 'Is the memcpy call safe?',
      finalK: 1,
      threshold: 0,
    });
    expect(notes).toHaveLength(1);
    await counted(2);
    await ask('Is the strcpy call safe, or eval?');
    await counted(0);
    await word.app.useCases.commands.submit(ADMIN, correction('sprintf'));
    await counted(1);
    expect(figures.read().activeNotes).toBe(4);
  });

  it('the review queue is told by depth and age, and not before it was counted', async () => {
    const { word } = await open();
    const figures = createLiveFigures(word.store, () => word.app.engines, silentLogger, 0);
    const metrics = createPrometheusMetrics(() => figures.read());
    closers.push(() => figures.close());
    const series = async (name: string) => seriesOf(await metrics.render(), `errata_review_${name}`);
    const counted = (name: string, wanted: number) =>
      expect.poll(() => series(name), { timeout: 10_000 }).toBe(wanted);
    const first = await metrics.render();
    expect(first).not.toMatch(/^errata_(review|active_notes|never)/mu);
    await counted('waiting_notes{status="PENDING"}', 0);
    expect(await series('oldest_seconds')).toBe(0);
    const { note } = await word.app.useCases.commands.submit(ADMIN, {
      ...correction('sprintf'),
      impact: 'HIGH',
    });
    expect(note?.status).toBe('PENDING');
    await counted('waiting_notes{status="PENDING"}', 1);
    expect(await series('waiting_notes{status="QUARANTINED"}')).toBe(0);
    expect(await series('overdue_notes')).toBe(0);
    const held = (await word.store.notes.get('default', note?.id ?? ''))!;
    const age = (Date.now() - Date.parse(held.review?.openedAt ?? '')) / 1_000;
    await expect.poll(() => series('oldest_seconds'), { timeout: 10_000 }).toBeGreaterThanOrEqual(age);
    const older = await series('oldest_seconds');
    await expect.poll(() => series('oldest_seconds'), { timeout: 10_000 }).toBeGreaterThan(older!);
  });

  it('degraded answers are counted by the stage that could not take part', async () => {
    const { word, metrics, ask } = await open();
    const series = 'errata_degraded_retrievals_total{stage="lexical"}';
    expect((await ask('Is the memcpy call safe?')).degraded).not.toContainEqual(
      expect.stringMatching(/^lexical/u),
    );
    expect(seriesOf(await metrics.render(), series)).toBeUndefined();
    const { lexicalIndex } = word.app.engines;
    const search = lexicalIndex.search.bind(lexicalIndex);
    lexicalIndex.search = async () => {
      throw new ErrataError('INDEX_UNAVAILABLE', 'Expected an index, received none');
    };
    expect((await ask('Is the memcpy call safe now?')).degraded).toContain('lexical: INDEX_UNAVAILABLE');
    await ask('Is the strcpy call safe now?');
    expect(seriesOf(await metrics.render(), series)).toBe(2);
    lexicalIndex.search = search;
    await ask('And is the eval call?');
    expect(seriesOf(await metrics.render(), series)).toBe(2);
  });

  it('memory is told by part, and grows where something is put', async () => {
    const { word, metrics, ask } = await open();
    const part = async (name: string) =>
      seriesOf(await metrics.render(), `errata_memory_bytes{part="${name}"}`) ?? Number.NaN;
    const parts = ['vectors', 'codes', 'graphs', 'filters', 'bookkeeping'];
    for (const name of parts) expect(await part(name), name).toBeGreaterThanOrEqual(0);
    expect(await part('vectors')).toBeGreaterThan(0);
    const before = {
      lexical: await part('lexical index'),
      notes: await part('note cache'),
      queries: await part('query cache'),
    };
    expect(before.lexical).toBeGreaterThan(0);
    await ask('Is the memcpy call safe?');
    const [queries, notes] = [await part('query cache'), await part('note cache')];
    expect(queries).toBeGreaterThan(before.queries);
    expect(notes).toBeGreaterThan(before.notes);
    await ask('Is the memcpy call safe?');
    expect(await part('query cache')).toBe(queries);
    const long = Array.from({ length: 400 }, (_, at) => `word${at}`).join(' ');
    await word.app.useCases.commands.submit(ADMIN, { ...correction('sprintf'), correction: long });
    expect(await part('lexical index')).toBeGreaterThan(before.lexical + 400);
  });

  it('are those of the model that serves', async () => {
    const { word, metrics } = await open();
    const other = wordEngines();
    closers.push(() => other.close());
    expect(seriesOf(await metrics.render(), 'errata_indexed_notes')).toBe(3);
    let serving = word.engines;
    const figures = createLiveFigures(word.store, () => serving, silentLogger);
    closers.push(() => figures.close());
    expect(figures.read().indexedNotes).toBe(3);
    serving = other;
    expect(figures.read().indexedNotes).toBe(0);
    expect(figures.read().memory['query cache']).toBeUndefined();
  });
});
