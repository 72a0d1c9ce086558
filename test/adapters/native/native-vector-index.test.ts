import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { loadAddon, type NativeBatch } from '../../../src/adapters/native/load-addon.js';
import {
  createNativeVectorIndex,
  NativeVectorIndex,
} from '../../../src/adapters/native/native-vector-index.js';
import type { AttributeFilter, IndexedNote } from '../../../src/ports/vector-index.js';
import { NaiveVectorIndex } from '../../contract/naive-vector-index.js';
import {
  DIMENSIONS,
  describeVectorIndex,
  note,
  noteId,
  operations,
  runBesideModel,
  unit,
} from '../../contract/vector-index.contract.js';

describeVectorIndex('NaiveVectorIndex', (dimensions) => new NaiveVectorIndex(dimensions));
describeVectorIndex('NativeVectorIndex', (dimensions) => createNativeVectorIndex({ dimensions }));
// A graph from the second vector on: the suite's small sets are linked, relinked and dropped as they change.
describeVectorIndex('NativeVectorIndex with a graph', (dimensions) =>
  createNativeVectorIndex({ dimensions, graphThreshold: 2, efSearch: 4 }),
);

const run = promisify(execFile);
const addonFile = fileURLToPath(new URL('../../../build/Release/errata_native.node', import.meta.url));

/** Numbers in [-1, 1), the same on every run (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 31 - 1;
  };
}

function randomUnit(dimensions: number, random: () => number): Float32Array {
  const vector = Float32Array.from({ length: dimensions }, random);
  return loadAddon().normalize(vector);
}

describe('NativeVectorIndex', () => {
  const opened: NativeVectorIndex[] = [];
  const create = (...args: Parameters<typeof createNativeVectorIndex>): NativeVectorIndex => {
    const index = createNativeVectorIndex(...args);
    opened.push(index);
    return index;
  };
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((index) => index.close()));
  });

  it('gives the bits of the naive model, ids in the same order', async () => {
    const index = create({ dimensions: DIMENSIONS });
    await fc.assert(
      fc.asyncProperty(operations, async (list) => {
        await index.clear();
        await runBesideModel(index, list, (actual, expected) => expect(actual.hits).toEqual(expected.hits));
      }),
      { numRuns: 200 },
    );
  });

  it('refuses options out of range', () => {
    for (const bad of [
      { dimensions: 0 },
      { dimensions: 1.5 },
      { dimensions: 8, connectivity: 1 },
      { dimensions: 8, efSearch: 0 },
    ]) {
      expect(() => createNativeVectorIndex(bad)).toThrowError(
        expect.objectContaining({ code: 'INVALID_INPUT' }),
      );
    }
  });

  it('reads views at their offset', async () => {
    const index = create({ dimensions: DIMENSIONS });
    const buffer = new Float32Array(3 * DIMENSIONS);
    buffer.set(unit(0, 1), DIMENSIONS);
    buffer.set(unit(1), 2 * DIMENSIONS);
    await index.upsert([
      note('a', buffer.subarray(2 * DIMENSIONS)),
      note('b', buffer.subarray(DIMENSIONS, 2 * DIMENSIONS)),
    ]);
    const answer = await index.search({ namespace: 'acme', vector: buffer.subarray(2 * DIMENSIONS), k: 1 });
    expect(answer.hits).toEqual([{ id: noteId('a'), score: 1, row: 'lesson' }]);
    const { dot, normalize } = loadAddon();
    expect(dot(buffer.subarray(DIMENSIONS, 2 * DIMENSIONS), unit(0, 1))).toBeCloseTo(1, 6);
    normalize(buffer.fill(3).subarray(DIMENSIONS, DIMENSIONS + 4));
    expect(Array.from(buffer.subarray(DIMENSIONS - 1, DIMENSIONS + 5))).toEqual([3, 0.5, 0.5, 0.5, 0.5, 3]);
  });

  it('refuses a detached buffer', async () => {
    const index = create({ dimensions: DIMENSIONS });
    const vector = unit(1);
    structuredClone(vector, { transfer: [vector.buffer as ArrayBuffer] });
    await expect(index.search({ namespace: 'acme', vector, k: 1 })).rejects.toMatchObject({
      code: 'INVALID_VECTOR',
    });
    await expect(index.upsert([note('a', vector)])).rejects.toMatchObject({ code: 'INVALID_VECTOR' });
  });

  it('is not disturbed by a buffer that is detached or changed while a search runs', async () => {
    const index = create({ dimensions: 384 });
    const random = randomNumbers(7);
    const notes = Array.from({ length: 8000 }, (_, i): IndexedNote => note(`n${i}`, randomUnit(384, random)));
    await index.upsert(notes);
    const vector = notes[4321]!.vectors.lesson!.slice();
    const pending = index.search({ namespace: 'acme', vector, k: 1 });
    structuredClone(vector, { transfer: [vector.buffer as ArrayBuffer] });
    expect((await pending).hits[0]!.id).toBe(notes[4321]!.id);
  });

  it('ends a waiting search when the signal fires, and a later one still works', async () => {
    const index = create({ dimensions: 384 });
    const random = randomNumbers(8);
    await index.upsert(Array.from({ length: 8000 }, (_, i) => note(`n${i}`, randomUnit(384, random))));
    const controller = new AbortController();
    const vector = randomUnit(384, random);
    const pending = index.search({ namespace: 'acme', vector, k: 1, signal: controller.signal });
    controller.abort();
    await expect(pending).rejects.toMatchObject({ code: 'ABORTED' });
    expect((await index.search({ namespace: 'acme', vector, k: 1 })).hits.length).toBe(1);
  });

  it('lets work in flight end before it closes', async () => {
    const index = create({ dimensions: 384 });
    const random = randomNumbers(9);
    const notes = Array.from({ length: 6000 }, (_, i) => note(`n${i}`, randomUnit(384, random)));
    await index.upsert(notes);
    const pending = Array.from({ length: 20 }, (_, i) =>
      index.search({ namespace: 'acme', vector: notes[i]!.vectors.lesson!, k: 1 }),
    );
    const write = index.upsert([note('late', randomUnit(384, random))]);
    await index.close();
    const answers = await Promise.all(pending);
    expect(answers.map((answer) => answer.hits[0]!.id)).toEqual(notes.slice(0, 20).map(({ id }) => id));
    await write;
  });

  it('builds a graph in the background, finds nearly all, and is complete under any filter', async () => {
    const dimensions = 256;
    const index = create({ dimensions, graphThreshold: 1000 });
    const random = randomNumbers(10);
    const centres = Array.from({ length: 100 }, () => randomUnit(dimensions, random));
    const near = (i: number): Float32Array => {
      const noise = randomUnit(dimensions, random);
      const sum = centres[i % 100]!.map((x, d) => x + 0.6 * noise[d]!);
      const norm = Math.hypot(...sum);
      return sum.map((x) => x / norm);
    };
    const notes = Array.from({ length: 8000 }, (_, i) =>
      note(`n${i}`, near(i), {
        attributes: { half: String(i % 2), rare: String(i % 800) },
      }),
    );
    await index.upsert(notes);
    await index.settle();
    const model = new NaiveVectorIndex(dimensions);
    await model.upsert(notes);
    let found = 0;
    const plans = new Set<string>();
    for (let i = 0; i < 50; i += 1) {
      const query = { namespace: 'acme', vector: near(i), k: 10, efSearch: 32 };
      const answer = await index.search(query);
      const exact = new Set((await model.search(query)).hits.map((hit) => hit.id));
      found += answer.hits.filter((hit) => exact.has(hit.id)).length;
      for (const attributes of [
        { half: '1' },
        { rare: '7' },
        { half: '1', rare: '7' },
        { half: '0', rare: '7' },
      ]) {
        const filtered = await index.search({ ...query, attributes });
        plans.add(filtered.plan);
        expect(filtered.hits.length).toBe((await model.search({ ...query, attributes })).hits.length);
      }
      plans.add(answer.plan);
    }
    expect(plans).toContain('graph');
    expect(plans).toContain('scan(filtered)');
    expect(found / 500).toBeGreaterThan(0.9);
  });

  it('explains the plan, what it cost and what else was possible', async () => {
    const dimensions = 32;
    const index = create({ dimensions, graphThreshold: 1000 });
    const random = randomNumbers(11);
    await index.upsert(
      Array.from({ length: 3000 }, (_, i) =>
        note(`n${i}`, randomUnit(dimensions, random), { attributes: { rare: String(i % 300) } }),
      ),
    );
    await index.settle();
    const query = { namespace: 'acme', vector: randomUnit(dimensions, random), k: 5 };
    expect((await index.search(query)).explanations).toBeUndefined();
    const all = await index.search({ ...query, explain: true });
    expect(all.explanations).toHaveLength(1);
    const [whole] = all.explanations ?? [];
    expect(whole).toMatchObject({ plan: all.plan, exhaustive: all.exhaustive, allowedNotes: 3000 });
    expect(whole?.tookUs).toBeGreaterThan(0);
    expect(whole?.graphUs).toBeGreaterThan(0);
    expect(whole?.estimatedUs).toBe(Math.min(whole?.scanUs ?? 0, whole?.graphUs ?? 0));
    const rare = await index.search({ ...query, attributes: { rare: '7' }, explain: true });
    expect(rare.explanations).toMatchObject([
      { plan: 'scan(filtered)', exhaustive: true, allowedNotes: 10, compared: 10, threads: 1 },
    ]);
    expect(rare.explanations?.[0]?.graphUs).toBeUndefined();
    const none = await index.search({ ...query, attributes: { rare: 'x' }, explain: true });
    expect(none).toEqual({ hits: [], plan: 'empty', exhaustive: true });
  });

  it('reports its memory by part, and filters that are asked again from a cache', async () => {
    const index = create({ dimensions: 32, graphThreshold: 500 });
    const random = randomNumbers(12);
    await index.upsert(
      Array.from({ length: 1000 }, (_, i) =>
        note(`n${i}`, randomUnit(32, random), { attributes: { half: String(i % 2), third: String(i % 3) } }),
      ),
    );
    await index.settle();
    const { memory, memoryBytes, graphs, building } = index.stats();
    expect({ graphs, building }).toEqual({ graphs: 1, building: 0 });
    expect(memory?.vectors).toBeGreaterThanOrEqual(1000 * 32 * 4);
    expect(memory?.codes).toBeGreaterThanOrEqual(1000 * 64);
    for (const bytes of Object.values(memory ?? {})) expect(bytes).toBeGreaterThan(0);
    expect(Object.values(memory ?? {}).reduce((sum, bytes) => sum + bytes, 0)).toBe(memoryBytes);
    for (const attributes of [
      { half: '1', third: '0' },
      { third: '0', half: '1' },
    ]) {
      const { hits } = await index.search({
        namespace: 'acme',
        vector: randomUnit(32, random),
        k: 1000,
        attributes,
      });
      expect(hits.length).toBe(167);
    }
  });

  it('refuses a condition that is too deep or too long', async () => {
    const index = create({ dimensions: DIMENSIONS });
    await index.upsert([note('a', unit(1), { attributes: { repo: 'a' } })]);
    const search = (where: AttributeFilter) =>
      index.search({ namespace: 'acme', vector: unit(1), k: 1, where });
    const leaf = { key: 'repo', value: 'a' } as AttributeFilter;
    let deep = leaf;
    for (let i = 0; i < 30; i += 1) deep = { not: { not: deep } };
    await expect(search(deep)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
    await expect(search({ any: Array.from({ length: 600 }, () => leaf) })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
    });
    // Nested to the right as deep as is allowed: the addon's stack holds it.
    let right = leaf;
    for (let i = 0; i < 31; i += 1) right = { all: [leaf, { any: [right] }] };
    const nest = (inner: AttributeFilter, i: number): AttributeFilter =>
      i % 2 ? { all: [leaf, inner] } : { any: [leaf, inner] };
    const nested = Array.from({ length: 32 }, (_, i) => i).reduce(nest, leaf);
    expect((await search(nested)).hits).toHaveLength(1);
    await expect(search(right)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  it('reuses freed slots, counts tombstones and gives memory back on compact', async () => {
    const index = create({ dimensions: DIMENSIONS });
    const random = randomNumbers(11);
    const notes = Array.from({ length: 1000 }, (_, i) => note(`n${i}`, randomUnit(DIMENSIONS, random)));
    await index.upsert(notes);
    const full = index.stats().memoryBytes;
    await index.remove(notes.slice(0, 900).map(({ namespace, id }) => ({ namespace, id, version: 2 })));
    expect(index.stats()).toMatchObject({ vectors: 100, tombstones: 900 });
    await index.upsert(
      Array.from({ length: 50 }, (_, i) => note(`again ${i}`, randomUnit(DIMENSIONS, random))),
    );
    expect(index.stats().tombstones).toBe(850);
    expect(await index.compact()).toBe(850);
    expect(index.stats()).toMatchObject({ vectors: 150, tombstones: 0 });
    expect(index.stats().memoryBytes).toBeLessThan(full / 2);
    const answer = await index.search({ namespace: 'acme', vector: notes[950]!.vectors.lesson!, k: 1 });
    expect(answer.hits[0]!.id).toBe(notes[950]!.id);
  });

  it('serves searches beside writes and never loses a note that stays', async () => {
    const dimensions = 32;
    const index = create({ dimensions, graphThreshold: 500 });
    const random = randomNumbers(12);
    const staying = Array.from({ length: 600 }, (_, i) => note(`stay ${i}`, randomUnit(dimensions, random)));
    await index.upsert(staying);
    const writes: Promise<void>[] = [];
    for (let round = 1; round <= 20; round += 1) {
      const batch = Array.from({ length: 40 }, (_, i) =>
        note(`go ${i}`, randomUnit(dimensions, random), { version: 2 * round }),
      );
      writes.push(index.upsert(batch));
      writes.push(
        index.remove(batch.map(({ namespace, id }) => ({ namespace, id, version: 2 * round + 1 }))),
      );
    }
    let done = false;
    const written = Promise.all(writes).then(() => {
      done = true;
    });
    let searches = 0;
    while (!done) {
      const wanted = staying[searches % staying.length]!;
      const answer = await index.search({
        namespace: 'acme',
        vector: wanted.vectors.lesson!,
        k: 700,
        efSearch: 800,
      });
      expect(answer.hits.length).toBeGreaterThanOrEqual(600);
      expect(answer.hits[0]!.id).toBe(wanted.id);
      searches += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await written;
    expect(searches).toBeGreaterThan(0);
    expect(index.count()).toBe(600);
  });

  it('works in several worker threads at once', async () => {
    const source = `
      const { parentPort, workerData } = require('node:worker_threads');
      const addon = require(workerData);
      const partition = new addon.Partition({ dimensions: 4, connectivity: 16, efConstruction: 128, efSearch: 64, graphThreshold: 100 });
      const vectors = Float32Array.from([1, 0, 0, 0, 0, 1, 0, 0]);
      partition.put({ keys: Float64Array.of(7, 8), orders: new Uint32Array(8), rowBegin: Uint32Array.of(0, 1, 2),
        kinds: new Uint8Array(2), vectors, tagBegin: new Uint32Array(3), tags: new Uint32Array() })
        .then(() => partition.search(vectors.subarray(4), 1, undefined, undefined))
        .then((answer) => parentPort.postMessage({ key: answer.keys[0], isa: addon.isa() }));
    `;
    const messages = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const worker = new Worker(source, { eval: true, workerData: addonFile });
        const message = await new Promise((resolve, reject) => {
          worker.once('message', resolve);
          worker.once('error', reject);
        });
        await worker.terminate();
        return message;
      }),
    );
    expect(messages).toEqual(Array.from({ length: 4 }, () => ({ key: 8, isa: loadAddon().isa() })));
  });

  it('holds none of the notes of a put that failed, and goes on', async () => {
    const addon = loadAddon();
    let failing = false;
    class Flaky extends addon.Partition {
      override put(batch: NativeBatch): Promise<void> {
        const out = Object.assign(new Error('Expected memory, received none'), { code: 'OUT_OF_MEMORY' });
        return failing ? Promise.reject(out) : super.put(batch);
      }
    }
    const options = {
      dimensions: DIMENSIONS,
      connectivity: 16,
      efConstruction: 128,
      efSearch: 64,
      graphThreshold: 100,
    };
    const index = new NativeVectorIndex({ ...addon, Partition: Flaky }, options);
    opened.push(index);
    await index.upsert([note('a', unit(1)), note('b', unit(0, 1), { attributes: { repo: 'x' } })]);
    failing = true;
    const again = [note('b', unit(1), { version: 2 }), note('c', unit(1), { attributes: { repo: 'x' } })];
    await expect(index.upsert(again)).rejects.toMatchObject({ code: 'INDEX_UNAVAILABLE' });
    failing = false;
    expect(index.versionOf('acme', noteId('b'))).toBeUndefined();
    expect(index.stats()).toMatchObject({ notes: 1, vectors: 1 });
    const query = { namespace: 'acme', vector: unit(1), k: 10 };
    expect((await index.search(query)).hits.map((hit) => hit.id)).toEqual([noteId('a')]);
    expect((await index.search({ ...query, attributes: { repo: 'x' } })).plan).toBe('empty');
    await index.upsert(again);
    expect(index.count()).toBe(3);
  });

  it('survives workers that are terminated while their work is in flight', async () => {
    const script = fileURLToPath(new URL('./terminate-workers.mjs', import.meta.url));
    const { stdout } = await run(process.execPath, [script, addonFile]);
    expect(stdout.trim()).toBe('survived');
  });

  it('says how to build an addon that is missing, and what is wrong with one that cannot be loaded', async () => {
    expect(() => loadAddon('/nowhere/errata_native.node')).toThrowError(
      expect.objectContaining({
        code: 'TOOL_MISSING',
        message: expect.stringContaining('npm run build:addon'),
      }),
    );
    const directory = await mkdtemp(path.join(tmpdir(), 'errata-'));
    const file = path.join(directory, 'torn.node');
    await writeFile(file, 'not a library');
    expect(() => loadAddon(file)).toThrowError(expect.objectContaining({ code: 'INDEX_UNAVAILABLE' }));
    await rm(directory, { recursive: true });
  });

  it('gives the same answers, bit for bit, with every instruction set of this machine', async () => {
    const script = fileURLToPath(new URL('./isa-answers.mjs', import.meta.url));
    const outputs: string[] = [];
    for (const isa of loadAddon().availableIsas()) {
      const { stdout } = await run(process.execPath, [script, addonFile], {
        env: { ...process.env, ERRATA_ISA: isa },
      });
      const [name, ...answers] = stdout.trim().split('\n');
      expect(name).toBe(isa);
      expect(answers.length).toBe(20);
      outputs.push(answers.join('\n'));
    }
    expect(new Set(outputs).size).toBe(1);
  });

  it('refuses an instruction set that is unknown or that the machine lacks', async () => {
    const foreign = process.arch === 'arm64' ? 'avx2' : 'neon';
    for (const isa of ['pentium', foreign]) {
      const code = `try { require(${JSON.stringify(addonFile)}) } catch (e) { console.log(e.code, e.message) }`;
      const { stdout } = await run(process.execPath, ['-e', code], {
        env: { ...process.env, ERRATA_ISA: isa },
      });
      expect(stdout).toMatch(
        new RegExp(
          `^INVALID_CONFIG Expected one of .*scalar for ERRATA_ISA on this machine, received ${isa}`,
        ),
      );
    }
  });
});
