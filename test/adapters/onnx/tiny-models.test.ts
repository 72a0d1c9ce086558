import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createOnnxEmbedder } from '../../../src/adapters/onnx/create-onnx-embedder.js';
import {
  createOnnxReranker,
  type OnnxRerankerOptions,
} from '../../../src/adapters/onnx/create-onnx-reranker.js';
import { HubTokenizer } from '../../../src/adapters/onnx/hub-tokenizer.js';
import type { EmbeddingEntry, RerankingEntry } from '../../../src/models/manifest-schema.js';
import { readModelDirectory } from '../../../src/models/model-directory.js';
import type { EmbeddingKind } from '../../../src/ports/embedder.js';
import type { Reranker } from '../../../src/ports/reranker.js';
import { buildForNode } from '../../models/installed-model.js';

/** Written by scripts/reference/tiny_models.py: directories as publishers lay them out, and what PyTorch makes of them. */
const models = fileURLToPath(new URL('../../fixtures/models/', import.meta.url));
interface PairRow {
  readonly query: string;
  readonly passage: string;
  readonly ids: readonly number[];
  readonly logits: readonly number[];
}
interface TextRow {
  readonly kind: EmbeddingKind;
  readonly text: string;
  readonly tokens: number;
  readonly vector: readonly number[];
}
const reference = JSON.parse(readFileSync(join(models, 'reference.json'), 'utf8'));
const pairsOf = (name: string): readonly PairRow[] => reference[name];
const textsOf = (name: string): readonly TextRow[] => reference[name];

// Node drops the query of a worker's own URL, so a data URL imports the file with it.
const faultyFile = new URL('./faulty-worker.mjs', import.meta.url).href;
const faulty = (fault: string) =>
  new URL(`data:text/javascript,${encodeURIComponent(`await import('${faultyFile}?fault=${fault}')`)}`);

const opened: { close(): Promise<void> }[] = [];
beforeAll(() => buildForNode());
afterAll(() => Promise.all(opened.map((one) => one.close())));

async function openReranker(name: string, options: Partial<OnnxRerankerOptions> = {}): Promise<Reranker> {
  const modelDir = join(models, name);
  const manifestEntry = (await readModelDirectory(modelDir, undefined)) as RerankingEntry;
  const reranker = await createOnnxReranker({ modelDir, manifestEntry, workers: 1, ...options });
  opened.push(reranker);
  return reranker;
}

/** Rows of one query, as a call has them. */
function callsOf(name: string): ReadonlyMap<string, readonly PairRow[]> {
  const calls = new Map<string, PairRow[]>();
  for (const row of pairsOf(name)) calls.set(row.query, [...(calls.get(row.query) ?? []), row]);
  return calls;
}

/** PyTorch's and ONNX Runtime's sums differ by rounding only. */
const ROUNDING = 1e-4;
const expectedLogit = ({ logits: [first = 0, second] }: PairRow) =>
  second === undefined ? first : second - first;

describe.each([
  ['tiny-bert-reranker', 'WordPiece, one logit'],
  ['tiny-xlmr-reranker', 'Unigram, one logit, no token types'],
  ['tiny-modernbert-reranker', 'byte-level BPE, rotary positions, two logits'],
])('%s (%s)', (name) => {
  it('gets the reference’s token ids for each pair, the longer text cut first', async () => {
    const entry = await readModelDirectory(join(models, name), undefined);
    const tokenizer = await HubTokenizer.open(join(models, name, 'tokenizer.json'), entry.maxTokens);
    for (const [query, rows] of callsOf(name)) {
      const pairs = await tokenizer.encodePairs(
        query,
        rows.map(({ passage }) => passage),
      );
      expect(pairs.map(({ ids }) => [...ids])).toEqual(rows.map(({ ids }) => ids));
      for (const { ids, truncated } of pairs) if (truncated) expect(ids).toHaveLength(entry.maxTokens);
    }
  });

  it('gives the reference’s logits, in batches', async () => {
    const reranker = await openReranker(name);
    for (const [query, rows] of callsOf(name)) {
      const logits = await reranker.rerank(
        query,
        rows.map(({ passage }) => passage),
      );
      expect(logits).toHaveLength(rows.length);
      for (const [at, row] of rows.entries())
        expect(Math.abs(logits[at]! - expectedLogit(row))).toBeLessThan(ROUNDING);
    }
    // The reference's own numbers lie far further apart, so that the comparison can fail.
    const values = pairsOf(name).map(expectedLogit);
    expect(Math.max(...values) - Math.min(...values)).toBeGreaterThan(100 * ROUNDING);
  });
});

describe.each([
  ['tiny-bert-cls', { pooling: 'cls', prefixes: { query: '', passage: '' } }],
  ['tiny-xlmr-mean', { pooling: 'mean', prefixes: { query: 'query: ', passage: 'passage: ' } }],
])('%s', (name, expected) => {
  it('is read and embeds as the reference does', async () => {
    const modelDir = join(models, name);
    const manifestEntry = (await readModelDirectory(modelDir, undefined)) as EmbeddingEntry;
    expect(manifestEntry).toMatchObject({ ...expected, maxTokens: 40, dimensions: 32 });
    const embedder = await createOnnxEmbedder({ modelDir, manifestEntry, workers: 1 });
    opened.push(embedder);
    for (const kind of ['query', 'passage'] as const) {
      const rows = textsOf(name).filter((row) => row.kind === kind);
      const embedded = await embedder.embed(
        rows.map(({ text }) => text),
        { kind },
      );
      for (const [at, row] of rows.entries()) {
        expect(embedded[at]!.tokens).toBe(row.tokens);
        for (const [d, value] of row.vector.entries())
          expect(Math.abs(embedded[at]!.vector[d]! - value)).toBeLessThan(1e-5);
      }
    }
  });
});

describe('OnnxReranker', () => {
  const name = 'tiny-bert-reranker';
  const passages = pairsOf(name)
    .slice(0, 12)
    .map(({ passage }) => passage);

  it('gives nothing for nothing, and each pair the same whatever it comes with', async () => {
    const reranker = await openReranker(name);
    expect(await reranker.rerank('netty', [])).toEqual([]);
    const together = await reranker.rerank('netty', passages);
    for (const [at, passage] of passages.entries()) {
      const [alone] = await reranker.rerank('netty', [passage]);
      expect(Math.abs(alone! - together[at]!)).toBeLessThan(ROUNDING);
    }
    expect(reranker.modelId).toMatch(/^tiny-bert-reranker@[0-9a-f]{12}$/);
  });

  it('serves concurrent calls with several workers, each its own pairs', async () => {
    const reranker = await openReranker(name, { workers: 2 });
    const queries = [...callsOf(name).keys()];
    const answers = await Promise.all(queries.map((query) => reranker.rerank(query, passages)));
    for (const [at, query] of queries.entries())
      expect(answers[at]).toEqual(await reranker.rerank(query, passages));
  });

  it('ends late calls with TIMED_OUT, stopped ones with ABORTED, and goes on', async () => {
    const reranker = await openReranker(name, { timeoutMs: 1 });
    const many = Array.from({ length: 400 }, (_, at) => `${at} ${passages[at % passages.length]}`);
    await expect(reranker.rerank('netty', many)).rejects.toMatchObject({ code: 'TIMED_OUT' });
    const patient = await openReranker(name);
    const controller = new AbortController();
    const stopped = patient.rerank('netty', many, { signal: controller.signal });
    controller.abort();
    await expect(stopped).rejects.toMatchObject({ code: 'ABORTED' });
    await expect(patient.rerank('x', ['y'], { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'ABORTED',
    });
    expect(await patient.rerank('netty', passages)).toHaveLength(passages.length);
  });

  it('refuses more pairs than may wait, and takes new ones when these are done', async () => {
    const reranker = await openReranker(name, { queueLimit: 15 });
    const first = reranker.rerank('netty', passages);
    await expect(reranker.rerank('netty', passages)).rejects.toMatchObject({ code: 'QUEUE_FULL' });
    await first;
    expect(await reranker.rerank('netty', passages)).toHaveLength(12);
  });

  it('lets no NaN out, and no model start that gives one', async () => {
    await expect(openReranker(name, { workerEntry: faulty('nan-logit') })).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: /finite/,
    });
    await expect(openReranker(name, { workerEntry: faulty('start') })).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
    });
  });

  it('closes once and for all', async () => {
    const reranker = await openReranker(name);
    const waiting = reranker.rerank('netty', passages).catch((error: unknown) => error);
    await Promise.all([reranker.close(), reranker.close()]);
    expect(await waiting).toSatisfy(
      (outcome: unknown) => Array.isArray(outcome) || (outcome as { code: string }).code === 'CLOSED',
    );
    await expect(reranker.rerank('netty', passages)).rejects.toMatchObject({ code: 'CLOSED' });
  });
});
