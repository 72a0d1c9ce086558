import { describe, expect, it } from 'vitest';
import type { InferenceInput, InferenceOutput } from '../../../src/adapters/onnx/embed-protocol.js';
import { OnnxEmbedder } from '../../../src/adapters/onnx/onnx-embedder.js';
import type { BatchPolicy } from '../../../src/adapters/onnx/ready-queue.js';
import type { WorkerPool } from '../../../src/adapters/onnx/worker-pool.js';
import type { EmbeddingEntry } from '../../../src/models/manifest-schema.js';
import { readModelDirectory } from '../../../src/models/model-directory.js';
import type { TextTokenizer } from '../../../src/models/tokenizer.js';
import type { LocalRuntime } from '../../../src/ports/model-runtime.js';

const DIMENSIONS = 32;
const modelDir = new URL('../../fixtures/models/tiny-bert-cls', import.meta.url).pathname;
const entry = (await readModelDirectory(modelDir, undefined)) as EmbeddingEntry;
const runtime: LocalRuntime = {
  provider: 'cpu',
  refused: [],
  sessions: 1,
  threadsPerSession: 1,
  layout: 'CONFIGURED',
  batches: 'EQUAL_LENGTHS',
  graphRemembered: false,
};

/** A token a word: its number. */
const tokenizer: TextTokenizer = {
  maxTokens: 40,
  async encode(text, { spans } = {}) {
    const ids = Int32Array.from(text.split(' '), Number);
    return { ids, truncated: false, ...(spans ? { spans: new Int32Array(2 * ids.length) } : {}) };
  },
  async encodePairs() {
    return [];
  },
};

/** One worker that runs when it is told to. A row's vector points where its first token says; `NaN` for token 99. */
class SteppedPool {
  readonly runs: InferenceInput[] = [];
  #waiting: { input: InferenceInput; resolve: (output: InferenceOutput) => void } | undefined;
  onIdle = (): void => {};

  get idle(): number {
    return this.#waiting === undefined ? 1 : 0;
  }
  ensureWorkers(): void {}
  async close(): Promise<void> {}

  run(input: InferenceInput): Promise<InferenceOutput> {
    this.runs.push(input);
    return new Promise((resolve) => {
      this.#waiting = { input, resolve };
    });
  }

  /** Ends the run under way. */
  step(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) throw new Error('Expected a run, received none');
    this.#waiting = undefined;
    const { ids, lengths, tokenRows } = waiting.input;
    const columns = ids.length / lengths.length;
    const values = new Float32Array(lengths.length * DIMENSIONS);
    const rows = tokenRows
      ? new Float32Array(lengths.reduce((sum, one) => sum + one, 0) * DIMENSIONS)
      : undefined;
    let token = 0;
    for (const [row, length] of lengths.entries()) {
      const first = ids[row * columns] ?? 0;
      values[row * DIMENSIONS + (first % DIMENSIONS)] = first === 99 ? Number.NaN : 1;
      for (let at = 0; at < length; at += 1, token += 1)
        if (rows) rows[token * DIMENSIONS + ((ids[row * columns + at] ?? 0) % DIMENSIONS)] = 1;
    }
    waiting.resolve({ values, rows });
    queueMicrotask(() => this.onIdle());
  }
}

const policy: BatchPolicy = { kind: 'EQUAL_LENGTHS', interactiveTokens: 12, bulkTokens: 40 };

function open(batches = policy) {
  const pool = new SteppedPool();
  const embedder = new OnnxEmbedder({ entry, tokenizer, queueLimit: 500 });
  embedder.attach(pool as unknown as WorkerPool, runtime, batches);
  pool.onIdle = () => embedder.pump();
  const settle = () => new Promise((resolve) => setImmediate(resolve));
  const finish = async () => {
    for (await settle(); pool.idle === 0; await settle()) pool.step();
  };
  return { pool, embedder, settle, finish };
}
/** Where the vector points. */
const direction = (vector: Float32Array | undefined) => vector?.indexOf(1);
const rowsOf = ({ lengths }: InferenceInput) => lengths.length;

describe('texts that share runs', () => {
  it('are queries that came while a worker was busy, as many as the bound of a run takes', async () => {
    const { pool, embedder, settle, finish } = open();
    const asked = Array.from({ length: 9 }, (_, at) => embedder.embed([`${at} 50 51`], { kind: 'query' }));
    await settle();
    await finish();
    // The first found an idle worker and waited for nothing; four of 3 tokens are 12.
    expect(pool.runs.map(rowsOf)).toEqual([1, 4, 4]);
    const answers = await Promise.all(asked);
    expect(answers.map(([answer]) => direction(answer?.vector))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    for (const [answer] of answers) expect(answer).toMatchObject({ tokens: 3, truncated: false });
    expect(embedder.stats().embeddedTexts).toBe(9);
  });

  it('are bulk texts of one length, whatever their order; queries do not wait for the rest of them', async () => {
    const { pool, embedder, settle, finish } = open();
    const texts = Array.from({ length: 30 }, (_, at) => [`${at}`, ...Array(at % 3).fill('50')].join(' '));
    const bulk = embedder.embed(texts, { kind: 'passage' });
    await settle();
    const query = embedder.embed(['31 50 51 52 53'], { kind: 'query' });
    await settle();
    pool.step();
    await settle();
    expect([...(pool.runs[1]?.ids ?? [])]).toEqual([31, 50, 51, 52, 53]);
    await finish();
    expect((await query)[0]?.tokens).toBe(5);
    expect((await bulk).map(({ vector }) => direction(vector))).toEqual(texts.map((_, at) => at));
    expect((await bulk).map(({ tokens }) => tokens)).toEqual(texts.map((_, at) => 1 + (at % 3)));
    // Ten of each length: 1 + 9 alone in the first two runs at most, then whole groups.
    expect(pool.runs.length).toBeLessThanOrEqual(5);
    for (const { ids, lengths } of pool.runs)
      expect(new Set(lengths).size * ids.length).toBeLessThanOrEqual(40);
  });

  it('get their own token vectors', async () => {
    const { pool, embedder, finish } = open();
    const first = embedder.embed(['1'], { kind: 'query' });
    const asked = ['2 3', '4 5', '6 7'].map((text) =>
      embedder.embed([text], { kind: 'query', tokenVectors: true }),
    );
    await finish();
    await first;
    expect(pool.runs.map(rowsOf)).toEqual([1, 3]);
    const answers = await Promise.all(asked);
    const places = answers.map(([answer]) =>
      [0, 1].map((token) =>
        direction(answer?.tokenVectors?.rows.subarray(token * DIMENSIONS, (token + 1) * DIMENSIONS)),
      ),
    );
    expect(places).toEqual([
      [2, 3],
      [4, 5],
      [6, 7],
    ]);
  });

  it('fail alone where the model gives one of them no vector', async () => {
    const { embedder, finish } = open();
    const first = embedder.embed(['1'], { kind: 'query' });
    const [good, bad] = ['2 50', '99 50'].map((text) => embedder.embed([text], { kind: 'query' }));
    const refused = expect(bad).rejects.toMatchObject({ code: 'INVALID_VECTOR' });
    await finish();
    await Promise.all([first, refused]);
    expect(direction((await good)?.[0]?.vector)).toBe(2);
  });

  it('leave out those that nobody wants any more', async () => {
    const { pool, embedder, settle, finish } = open();
    const first = embedder.embed(['1'], { kind: 'query' });
    const stop = new AbortController();
    const stopped = embedder.embed(['2 50'], { kind: 'query', signal: stop.signal });
    const refused = expect(stopped).rejects.toMatchObject({ code: 'ABORTED' });
    const kept = embedder.embed(['3 50'], { kind: 'query' });
    await settle();
    stop.abort();
    await refused;
    await finish();
    await Promise.all([first, kept]);
    expect(pool.runs.map(rowsOf)).toEqual([1, 1]);
    expect([...(pool.runs[1]?.ids ?? [])]).toEqual([3, 50]);
  });
});
