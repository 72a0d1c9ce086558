import { spawnSync } from 'node:child_process';
import { cp, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import {
  createOnnxEmbedder,
  type OnnxEmbedderOptions,
} from '../../../src/adapters/onnx/create-onnx-embedder.js';
import type { OnnxEmbedder } from '../../../src/adapters/onnx/onnx-embedder.js';
import { buildForNode, EMBEDDER_SOURCES, miniLm, modelForTests } from '../../models/installed-model.js';

const model = await modelForTests();
const opened: OnnxEmbedder[] = [];

async function openEmbedder(options: Partial<OnnxEmbedderOptions> = {}): Promise<OnnxEmbedder> {
  const embedder = await createOnnxEmbedder({
    modelDir: model.directory,
    manifestEntry: miniLm,
    workers: 1,
    ...options,
  });
  opened.push(embedder);
  return embedder;
}

// Node drops the query of a worker's own URL, so a data URL imports the file with it.
const faultyFile = new URL('./faulty-worker.mjs', import.meta.url).href;
const faulty = (fault: string, block?: string) =>
  new URL(
    `data:text/javascript,${encodeURIComponent(`await import('${faultyFile}?fault=${fault}${block === undefined ? '' : `&block=${encodeURIComponent(block)}`}')`)}`,
  );
const dot = (a: Float32Array, b: Float32Array) => a.reduce((sum, value, d) => sum + value * b[d]!, 0);
const bits = (vector: Float32Array) =>
  Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString('hex');
const longText = (seed: number) =>
  `note ${seed}: ${'the scanner reported a dependency that is not reachable '.repeat(30)}`;
const variedTexts = (count: number) =>
  Array.from(
    { length: count },
    (_, at) => `Text ${at}: ${'reachable dependency '.repeat(at % 23)}漢字 é ${at * 7919}`,
  );

afterEach(async () => {
  await Promise.all(opened.splice(0).map((embedder) => embedder.close()));
});

describe.skipIf(model.missing !== undefined)('OnnxEmbedder with all-MiniLM-L6-v2', () => {
  it('gives finite unit vectors with the counted tokens, and nothing for nothing', async () => {
    const embedder = await openEmbedder();
    expect(embedder.model).toMatchObject({ name: 'all-MiniLM-L6-v2', dimensions: 384, maxTokens: 256 });
    expect(embedder.model.id).toMatch(/^all-MiniLM-L6-v2@[0-9a-f]{12}$/);
    expect(await embedder.embed([], { kind: 'query' })).toEqual([]);
    const answers = await embedder.embed(['hello wonderful world', '', '\0\u200b', '\ud800'], {
      kind: 'query',
    });
    expect(answers.map((answer) => answer.tokens)).toEqual([5, 2, 2, 2]);
    for (const { vector, truncated } of answers) {
      expect(truncated).toBe(false);
      expect(vector).toHaveLength(384);
      expect(dot(vector, vector)).toBeCloseTo(1, 5);
    }
  });

  it('gives unit token vectors with their places, and the same text vector with and without them', async () => {
    const embedder = await openEmbedder();
    const text = 'hello wonderful world';
    const [[plain], [whole], [again]] = await Promise.all([
      embedder.embed([text], { kind: 'query' }),
      embedder.embed([text], { kind: 'query', tokenVectors: true }),
      embedder.embed([text], { kind: 'query', tokenVectors: true }),
    ]);
    expect(plain!.tokenVectors).toBeUndefined();
    expect(bits(whole!.vector)).toBe(bits(plain!.vector));
    const { rows, spans } = whole!.tokenVectors!;
    expect([...spans]).toEqual([0, 0, 0, 5, 6, 15, 16, 21, 0, 0]);
    expect(rows).toHaveLength(5 * 384);
    for (let token = 0; token < 5; token += 1) {
      const row = rows.subarray(token * 384, (token + 1) * 384);
      expect(dot(row, row)).toBeCloseTo(1, 5);
    }
    expect(again!.tokenVectors!.rows).toEqual(rows);
    expect(again!.tokenVectors!.rows.buffer).not.toBe(rows.buffer);
  });

  it('puts related sentences closer than unrelated ones', async () => {
    const embedder = await openEmbedder();
    const [netty, related, unrelated] = await embedder.embed(
      [
        'netty-codec-http is only on the server class path, the desktop program never opens a port',
        'HTTP request smuggling in Netty does not affect a GUI application without listening sockets',
        'Refund requests older than thirty days are answered with the goodwill template',
      ],
      { kind: 'passage' },
    );
    const near = dot(netty!.vector, related!.vector);
    const far = dot(netty!.vector, unrelated!.vector);
    expect(near).toBeGreaterThan(far + 0.2);
  });

  it('gives the same bits alone, in bulk, concurrently and from another embedder', async () => {
    const texts = variedTexts(60);
    const first = await openEmbedder({ workers: 2 });
    const bulk = (await first.embed(texts, { kind: 'passage', priority: 'bulk' })).map(({ vector }) =>
      bits(vector),
    );
    const concurrent = await Promise.all(texts.map((text) => first.embed([text], { kind: 'query' })));
    expect(concurrent.map(([answer]) => bits(answer!.vector))).toEqual(bulk);

    const second = await openEmbedder();
    const alone: string[] = [];
    for (const text of texts.toReversed())
      alone.unshift(bits((await second.embed([text], { kind: 'query' }))[0]!.vector));
    expect(alone).toEqual(bulk);
    expect(new Set(bulk).size).toBe(texts.length);
  });

  it('cuts a text of 1 MB, says so and counts it', async () => {
    const embedder = await openEmbedder();
    const long = 'Every lesson is one line. '.repeat(40_000);
    const [answer] = await embedder.embed([long], { kind: 'passage' });
    expect(answer).toMatchObject({ tokens: 256, truncated: true });
    const [head] = await embedder.embed([long.slice(0, 5_000)], { kind: 'passage' });
    expect(bits(head!.vector)).toBe(bits(answer!.vector));
    expect(embedder.stats()).toMatchObject({ truncatedTexts: 2, embeddedTexts: 2 });
  });

  it('embeds equal texts in flight once, and gives every caller a vector of its own', async () => {
    const embedder = await openEmbedder();
    const [both, single] = await Promise.all([
      embedder.embed(['the same', 'the same'], { kind: 'passage' }),
      embedder.embed(['the same'], { kind: 'query' }),
    ]);
    expect(embedder.stats().embeddedTexts).toBe(1);
    both[0]!.vector.fill(0);
    expect(bits(both[1]!.vector)).toBe(bits(single[0]!.vector));
    expect(dot(single[0]!.vector, single[0]!.vector)).toBeCloseTo(1, 5);
  });

  it('serves a query after at most the text that runs, and keeps the event loop free', async () => {
    const embedder = await openEmbedder();
    const texts = Array.from({ length: 40 }, (_, at) => longText(at));
    let turns = 0;
    let counting = true;
    const turn = () => {
      turns += 1;
      if (counting) setImmediate(turn);
    };
    setImmediate(turn);
    const bulk = embedder.embed(texts, { kind: 'passage', priority: 'bulk' });
    await embedder.embed([longText(3)], { kind: 'query', priority: 'interactive' });
    const before = embedder.stats().embeddedTexts;
    await embedder.embed(['a short question'], { kind: 'query' });
    expect(embedder.stats().embeddedTexts - before).toBeLessThanOrEqual(3);
    expect(before).toBeLessThan(10);
    expect(await bulk).toHaveLength(40);
    counting = false;
    // Runs on this thread would leave a few turns a text.
    expect(turns).toBeGreaterThan(40 * 20);
  });

  it('refuses more than the queue holds, for each lane on its own', async () => {
    const embedder = await openEmbedder({ queueLimit: 4 });
    const texts = Array.from({ length: 5 }, (_, at) => longText(at));
    await expect(embedder.embed(texts, { kind: 'passage' })).rejects.toMatchObject({
      code: 'INPUT_TOO_LARGE',
    });
    const accepted = embedder.embed(texts.slice(0, 4), { kind: 'passage' });
    await expect(embedder.embed(variedTexts(4), { kind: 'passage' })).rejects.toMatchObject({
      code: 'QUEUE_FULL',
    });
    expect(await embedder.embed(['a question'], { kind: 'query' })).toHaveLength(1);
    expect(await accepted).toHaveLength(4);
    const queries = texts.slice(0, 4).map((text) => embedder.embed([text], { kind: 'query' }));
    await expect(embedder.embed(['one more'], { kind: 'query' })).rejects.toMatchObject({
      code: 'QUEUE_FULL',
    });
    // A text that is already on its way takes no room.
    queries.push(embedder.embed([texts[0]!], { kind: 'query' }));
    expect(await Promise.all(queries)).toHaveLength(5);
    expect(await embedder.embed(['one more'], { kind: 'query' })).toHaveLength(1);
  });

  it('stops for an abort signal: waiting texts are dropped, shared ones go on', async () => {
    const embedder = await openEmbedder();
    await expect(
      embedder.embed(['never'], { kind: 'query', signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({ code: 'ABORTED' });

    const controller = new AbortController();
    const texts = Array.from({ length: 30 }, (_, at) => longText(at));
    const stopped = embedder.embed(texts, { kind: 'passage', signal: controller.signal });
    const shared = embedder.embed([texts[20]!], { kind: 'passage' });
    controller.abort();
    await expect(stopped).rejects.toMatchObject({ code: 'ABORTED' });
    expect(await shared).toHaveLength(1);
    await embedder.embed(['afterwards'], { kind: 'query' });
    expect(embedder.stats().embeddedTexts).toBeLessThanOrEqual(4);
  });

  it('closes once and for all', async () => {
    const embedder = await openEmbedder({ workers: 2 });
    const waiting = embedder.embed(variedTexts(50), { kind: 'passage' });
    const refused = expect(waiting).rejects.toMatchObject({ code: 'CLOSED' });
    await Promise.all([embedder.close(), embedder.close()]);
    await refused;
    await expect(embedder.embed(['x'], { kind: 'query' })).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('fails the text whose worker crashed, and goes on with a new worker', async () => {
    const warnings: string[] = [];
    const onWarning = (error: Error) => warnings.push(error.message);
    const embedder = await openEmbedder({ workerEntry: faulty('crash'), onWarning });
    const crash = embedder.embed(['crash'], { kind: 'query' });
    const waiting = embedder.embed(variedTexts(5), { kind: 'passage' });
    await expect(crash).rejects.toMatchObject({ code: 'MODEL_UNAVAILABLE', message: /exit code 7/ });
    expect(await waiting).toHaveLength(5);
    await expect(embedder.embed(['crash'], { kind: 'query' })).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
    });
    expect(await embedder.embed(['fine again'], { kind: 'query' })).toHaveLength(1);
    expect(warnings).toHaveLength(2);
  });

  it('fails what waits when no worker can be started any more, and recovers when one can', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'errata-block-'));
    const block = join(folder, 'block');
    const embedder = await openEmbedder({ workerEntry: faulty('crash', block) });
    await writeFile(block, '');
    const crash = embedder.embed(['crash'], { kind: 'query' });
    const waiting = embedder.embed(variedTexts(5), { kind: 'passage' });
    const outcomes = await Promise.allSettled([crash, waiting]);
    expect(outcomes).toMatchObject([
      { status: 'rejected', reason: { code: 'MODEL_UNAVAILABLE', message: /exit code 7/ } },
      { status: 'rejected', reason: { code: 'MODEL_UNAVAILABLE', message: /cannot be loaded/ } },
    ]);
    await expect(embedder.embed(['still'], { kind: 'query' })).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
    });
    await rm(folder, { recursive: true });
    expect(await embedder.embed(['works'], { kind: 'query' })).toHaveLength(1);
  });

  it('refuses a runtime with wrong vectors, one that cannot start, and lets no bad vector out', async () => {
    await expect(openEmbedder({ workerEntry: faulty('canary') })).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: /cosine/,
    });
    await expect(openEmbedder({ workerEntry: faulty('start') })).rejects.toMatchObject({
      code: 'MODEL_UNAVAILABLE',
      message: /the runtime cannot be loaded/,
    });
    const embedder = await openEmbedder({ workerEntry: faulty('nan') });
    await expect(embedder.embed(['x'], { kind: 'query' })).rejects.toMatchObject({ code: 'INVALID_VECTOR' });
  });

  it.each([
    ['while the second worker loads', 0],
    ['while both run', 20],
  ])('lets the process exit with its own code %s', async (_, texts) => {
    // Built like the worker, since this needs a process of its own.
    await buildForNode(EMBEDDER_SOURCES);
    const script = fileURLToPath(new URL('./exit-while-running.mjs', import.meta.url));
    const args = [script, model.directory, String(texts)];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(status).toBe(3);
  });

  it('refuses bad options', async () => {
    for (const bad of [{ workers: 0 }, { queueLimit: -1 }, { threadsPerWorker: 1.5 }])
      await expect(openEmbedder(bad)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });
});

describe.skipIf(model.missing !== undefined)('createOnnxEmbedder with a damaged model', () => {
  const copies: string[] = [];

  async function copy(): Promise<string> {
    const directory = await mkdtemp(join(tmpdir(), 'errata-model-'));
    copies.push(directory);
    await cp(model.directory, directory, { recursive: true });
    return directory;
  }

  afterAll(() => Promise.all(copies.map((directory) => rm(directory, { recursive: true, force: true }))));

  it('refuses changed weights, a changed tokenizer and a missing file', async () => {
    const weights = await copy();
    const file = await open(join(weights, 'onnx', 'model.onnx'), 'r+');
    await file.write(Buffer.from([0xff]), 0, 1, 10_000_000);
    await file.close();
    await expect(openEmbedder({ modelDir: weights })).rejects.toMatchObject({ code: 'DIGEST_MISMATCH' });

    const tokenizer = await copy();
    await writeFile(join(tokenizer, 'tokenizer.json'), '{}');
    await expect(openEmbedder({ modelDir: tokenizer })).rejects.toMatchObject({ code: 'DIGEST_MISMATCH' });

    const missing = await copy();
    await rm(join(missing, 'onnx'), { recursive: true });
    await expect(openEmbedder({ modelDir: missing })).rejects.toMatchObject({ code: 'MODEL_NOT_INSTALLED' });
  });
});
