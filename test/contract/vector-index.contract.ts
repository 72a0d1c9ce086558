// Longer than a file should be: one contract, which every implementation passes whole, with the notes and vectors that its cases share.
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type {
  AttributeFilter,
  IndexedNote,
  IndexRemoval,
  VectorAnswer,
  VectorIndex,
  VectorQuery,
} from '../../src/ports/vector-index.js';
import { NaiveVectorIndex } from './naive-vector-index.js';

export const DIMENSIONS = 8;

/** Note ids as they are in truth: content hashes. */
export const noteId = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A unit vector towards `values`, padded with zeros. */
export function unit(...values: number[]): Float32Array {
  const norm = Math.hypot(...values);
  return Float32Array.from({ length: DIMENSIONS }, (_, i) => (values[i] ?? 0) / norm);
}

export function note(label: string, vector: Float32Array, more: Partial<IndexedNote> = {}): IndexedNote {
  const base = { namespace: 'acme', taskType: 'review', id: noteId(label), version: 1, attributes: {} };
  return { ...base, vectors: { lesson: vector }, ...more };
}

export type Operation =
  | { readonly type: 'upsert'; readonly notes: readonly IndexedNote[] }
  | { readonly type: 'remove'; readonly removals: readonly IndexRemoval[] }
  | { readonly type: 'search'; readonly query: VectorQuery }
  | { readonly type: 'compact' };

// Few distinct numbers: repeats, ties and opposite vectors come up often.
const vectors = fc
  .array(fc.integer({ min: -2, max: 2 }), { minLength: DIMENSIONS, maxLength: DIMENSIONS })
  .filter((values) => values.some((value) => value !== 0))
  .map((values) => unit(...values));
const namespaces = fc.constantFrom('acme', 'umbra');
const taskTypes = fc.constantFrom('review', 'moderation');
const attributes = fc.dictionary(fc.constantFrom('repo', 'language'), fc.constantFrom('a', 'b'), {
  maxKeys: 2,
});
const conditions: fc.Arbitrary<AttributeFilter> = fc.letrec<{ filter: AttributeFilter }>((tie) => ({
  filter: fc.oneof(
    { maxDepth: 3 },
    fc.record({ key: fc.constantFrom('repo', 'language'), value: fc.constantFrom('a', 'b', 'c') }),
    fc.record({ all: fc.array(tie('filter'), { maxLength: 3 }) }),
    fc.record({ any: fc.array(tie('filter'), { maxLength: 3 }) }),
    fc.record({ not: tie('filter') }),
  ),
})).filter;
const ids = fc.integer({ min: 0, max: 11 }).map((i) => noteId(`note ${i}`));
const versions = fc.integer({ min: 1, max: 6 });
const notes = fc.record({
  namespace: namespaces,
  taskType: taskTypes,
  id: ids,
  version: versions,
  attributes,
  vectors: fc.oneof(
    fc.record({ lesson: vectors }),
    fc.record({ situation: vectors }),
    fc.record({ lesson: vectors, situation: vectors }),
  ),
});
export const operations: fc.Arbitrary<Operation[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc
        .array(notes, { minLength: 1, maxLength: 6 })
        .map((n) => ({ type: 'upsert' as const, notes: n })),
    },
    {
      weight: 2,
      arbitrary: fc
        .array(fc.record({ namespace: namespaces, id: ids, version: versions }), {
          minLength: 1,
          maxLength: 3,
        })
        .map((removals) => ({ type: 'remove' as const, removals })),
    },
    {
      weight: 4,
      arbitrary: fc
        .record({
          namespace: namespaces,
          taskType: fc.option(taskTypes, { nil: undefined }),
          attributes: fc.option(attributes, { nil: undefined }),
          where: fc.option(conditions, { nil: undefined }),
          vector: vectors,
          k: fc.integer({ min: 1, max: 15 }),
        })
        .map((query) => ({ type: 'search' as const, query })),
    },
    { weight: 1, arbitrary: fc.constant({ type: 'compact' as const }) },
  ),
  { maxLength: 40 },
);

/** Runs operations on an index and on the naive model; `compare` judges each pair of answers. */
export async function runBesideModel(
  index: VectorIndex,
  list: readonly Operation[],
  compare: (actual: VectorAnswer, expected: VectorAnswer) => void,
): Promise<void> {
  const model = new NaiveVectorIndex(DIMENSIONS);
  for (const operation of list) {
    for (const target of [index, model]) {
      if (operation.type === 'upsert') await target.upsert(operation.notes);
      if (operation.type === 'remove') await target.remove(operation.removals);
      if (operation.type === 'compact') await target.compact();
    }
    if (operation.type === 'search') {
      compare(await index.search(operation.query), await model.search(operation.query));
    }
  }
  for (const namespace of ['acme', 'umbra']) {
    expect(index.count(namespace)).toBe(model.count(namespace));
    for (let i = 0; i < 12; i += 1) {
      const id = noteId(`note ${i}`);
      expect(index.versionOf(namespace, id)).toBe(model.versionOf(namespace, id));
    }
  }
  expect(index.stats().vectors).toBe(model.stats().vectors);
}

/** As many hits as there must be, best first, with the right scores; only equal scores may swap. */
function expectEquivalent(actual: VectorAnswer, expected: VectorAnswer): void {
  expect(actual.hits.length).toBe(expected.hits.length);
  expect(new Set(actual.hits.map((hit) => hit.id)).size).toBe(actual.hits.length);
  actual.hits.forEach((hit, i) => {
    expect(Math.abs(hit.score - expected.hits[i]!.score)).toBeLessThan(1e-6);
  });
}

/** The contract of `VectorIndex`. `createIndex` gives an empty index of the given size. */
export function describeVectorIndex(
  name: string,
  createIndex: (dimensions: number) => VectorIndex | Promise<VectorIndex>,
): void {
  describe(`${name} as VectorIndex`, () => {
    let index: VectorIndex;
    const labels = (answer: VectorAnswer, ...among: string[]): string[] =>
      answer.hits.map((hit) => among.find((label) => noteId(label) === hit.id) ?? hit.id);
    const search = (more: Partial<VectorQuery> = {}): Promise<VectorAnswer> =>
      index.search({ namespace: 'acme', vector: unit(1), k: 10, ...more });

    beforeEach(async () => {
      index = await createIndex(DIMENSIONS);
    });
    afterEach(async () => {
      await index.close();
    });

    it('answers empty when it holds nothing', async () => {
      expect(await search()).toEqual({ hits: [], plan: 'empty', exhaustive: true });
      expect(index.dimensions).toBe(DIMENSIONS);
    });

    it('gives the nearest notes, best first, with their cosine', async () => {
      await index.upsert([note('far', unit(0, 1)), note('near', unit(1)), note('mid', unit(1, 1))]);
      const answer = await search();
      expect(labels(answer, 'near', 'mid', 'far')).toEqual(['near', 'mid', 'far']);
      expect(answer.hits[0]!.score).toBeCloseTo(1, 6);
      expect(answer.hits[1]!.score).toBeCloseTo(Math.SQRT1_2, 6);
      expect(answer.exhaustive).toBe(true);
    });

    it('clamps k to the number of matches and stops at k', async () => {
      await index.upsert([note('a', unit(1)), note('b', unit(1, 1)), note('c', unit(0, 1))]);
      expect((await search({ k: 2 })).hits.length).toBe(2);
      expect((await search({ k: 1_000_000_000 })).hits.length).toBe(3);
    });

    it('breaks ties by id', async () => {
      const tied = Array.from({ length: 40 }, (_, i) => note(`tie ${i}`, unit(1, 2)));
      await index.upsert(tied);
      const sorted = tied.map(({ id }) => id).sort();
      expect((await search({ k: 7 })).hits.map((hit) => hit.id)).toEqual(sorted.slice(0, 7));
      expect((await search({ k: 40 })).hits.map((hit) => hit.id)).toEqual(sorted);
    });

    it('gives a note once, with its better row', async () => {
      await index.upsert([
        note('two', unit(0, 1), { vectors: { lesson: unit(0, 1), situation: unit(1) } }),
        note('one', unit(1, 1)),
      ]);
      const answer = await search();
      expect(labels(answer, 'two', 'one')).toEqual(['two', 'one']);
      expect(answer.hits.map((hit) => hit.row)).toEqual(['situation', 'lesson']);
      expect(index.stats()).toMatchObject({ notes: 2, vectors: 3 });
    });

    it('keeps namespaces apart, and task types where one is asked for', async () => {
      await index.upsert([
        note('a', unit(1)),
        note('b', unit(1), { taskType: 'moderation' }),
        note('c', unit(1), { namespace: 'umbra' }),
      ]);
      expect(labels(await search({ taskType: 'review' }), 'a', 'b', 'c')).toEqual(['a']);
      expect(new Set(labels(await search(), 'a', 'b', 'c'))).toEqual(new Set(['a', 'b']));
      expect(labels(await search({ namespace: 'umbra' }), 'a', 'b', 'c')).toEqual(['c']);
      expect((await search({ taskType: 'unknown' })).plan).toBe('empty');
      expect([index.count(), index.count('acme'), index.count('nobody')]).toEqual([3, 2, 0]);
    });

    it('filters by all attributes; one that no note has gives nothing', async () => {
      await index.upsert([
        note('ts', unit(1), { attributes: { repo: 'a', language: 'ts' } }),
        note('go', unit(1), { attributes: { repo: 'a', language: 'go' } }),
        note('none', unit(1)),
      ]);
      const filtered = async (attributes: Record<string, string>) =>
        labels(await search({ attributes }), 'ts', 'go', 'none').sort();
      expect(await filtered({ repo: 'a' })).toEqual(['go', 'ts']);
      expect(await filtered({ repo: 'a', language: 'ts' })).toEqual(['ts']);
      expect(await filtered({ repo: 'b' })).toEqual([]);
      expect(await filtered({ language: 'a' })).toEqual([]);
      expect(await filtered({})).toEqual(['go', 'none', 'ts']);
    });

    it('combines conditions with all, any and not, besides the attributes', async () => {
      await index.upsert([
        note('ts', unit(1), { attributes: { repo: 'a', language: 'ts' } }),
        note('go', unit(1), { attributes: { repo: 'b', language: 'go' } }),
        note('none', unit(1)),
      ]);
      const where = async (filter: AttributeFilter, attributes?: Record<string, string>) =>
        labels(await search({ where: filter, attributes }), 'ts', 'go', 'none').sort();
      const repo = (value: string) => ({ key: 'repo', value });
      expect(await where({ any: [repo('a'), repo('b')] })).toEqual(['go', 'ts']);
      expect(await where({ not: repo('a') })).toEqual(['go', 'none']);
      expect(await where({ not: repo('unknown') })).toEqual(['go', 'none', 'ts']);
      expect(await where({ all: [] })).toEqual(['go', 'none', 'ts']);
      expect(await where({ any: [] })).toEqual([]);
      expect(await where({ any: [repo('a'), { not: { key: 'language', value: 'go' } }] })).toEqual([
        'none',
        'ts',
      ]);
      expect(await where({ any: [repo('a'), repo('b')] }, { language: 'go' })).toEqual(['go']);
      expect(await where({ not: repo('a') }, { language: 'ts' })).toEqual([]);
      await index.upsert([note('ts', unit(1), { version: 2, attributes: { repo: 'b' } })]);
      expect(await where({ not: repo('a') })).toEqual(['go', 'none', 'ts']);
    });

    it('replaces on a newer version and ignores an equal or older one', async () => {
      await index.upsert([note('n', unit(1), { version: 3 })]);
      await index.upsert([note('n', unit(0, 1), { version: 3 }), note('n', unit(0, 1), { version: 2 })]);
      expect((await search()).hits[0]!.score).toBeCloseTo(1, 6);
      await index.upsert([note('n', unit(0, 1), { version: 4, attributes: { repo: 'x' } })]);
      expect((await search()).hits[0]!.score).toBeCloseTo(0, 6);
      expect((await search({ attributes: { repo: 'x' } })).hits.length).toBe(1);
      expect(index.versionOf('acme', noteId('n'))).toBe(4);
      expect(index.count()).toBe(1);
    });

    it('moves a note between task types and drops a row that it no longer has', async () => {
      await index.upsert([note('n', unit(1), { vectors: { lesson: unit(1), situation: unit(0, 1) } })]);
      await index.upsert([note('n', unit(1), { version: 2, taskType: 'moderation' })]);
      expect((await search({ taskType: 'review' })).hits).toEqual([]);
      expect((await search({ taskType: 'moderation' })).hits.length).toBe(1);
      expect(index.stats()).toMatchObject({ partitions: 1, notes: 1, vectors: 1 });
    });

    it('takes the newest of a note that is twice in one batch', async () => {
      await index.upsert([
        note('n', unit(0, 1), { version: 2 }),
        note('n', unit(1), { version: 5 }),
        note('n', unit(0, 1)),
      ]);
      expect(index.versionOf('acme', noteId('n'))).toBe(5);
      expect((await search()).hits[0]!.score).toBeCloseTo(1, 6);
    });

    it('removes what is older, remembers it, and lets a newer version back in', async () => {
      await index.upsert([note('n', unit(1), { version: 2 })]);
      await index.remove([{ namespace: 'acme', id: noteId('n'), version: 2 }]);
      expect(index.count()).toBe(1);
      await index.remove([
        { namespace: 'acme', id: noteId('n'), version: 5 },
        { namespace: 'acme', id: noteId('unknown'), version: 7 },
      ]);
      expect((await search()).hits).toEqual([]);
      await index.upsert([note('n', unit(1), { version: 4 }), note('unknown', unit(1), { version: 7 })]);
      expect(index.count()).toBe(0);
      await index.upsert([note('n', unit(1), { version: 6 })]);
      expect((await search()).hits.length).toBe(1);
    });

    it('applies writes in the order of their calls, without waiting in between', async () => {
      const work: Promise<void>[] = [];
      for (let version = 1; version <= 30; version += 1) {
        const removal = { namespace: 'acme', id: noteId('n'), version };
        work.push(
          version % 3 === 0 ? index.remove([removal]) : index.upsert([note('n', unit(version), { version })]),
        );
      }
      await Promise.all(work);
      expect(index.versionOf('acme', noteId('n'))).toBeUndefined();
      expect((await search()).hits).toEqual([]);
    });

    it('copies vectors: a caller may use the array again', async () => {
      const vector = unit(1);
      const done = index.upsert([note('n', vector)]);
      vector.set(unit(0, 1));
      await done;
      expect((await search()).hits[0]!.score).toBeCloseTo(1, 6);
    });

    it('gives exact scores of named notes and leaves out what it does not hold', async () => {
      await index.upsert([
        note('a', unit(0, 1), { vectors: { lesson: unit(0, 1), situation: unit(1, 1) } }),
        note('b', unit(-1), { taskType: 'moderation' }),
      ]);
      const asked = ['a', 'b', 'c', 'a'].map(noteId);
      const scores = await index.scores({ namespace: 'acme', vector: unit(1), ids: asked });
      expect(scores.size).toBe(2);
      expect(scores.get(noteId('a'))).toBeCloseTo(Math.SQRT1_2, 6);
      expect(scores.get(noteId('b'))).toBeCloseTo(-1, 6);
      expect((await index.scores({ namespace: 'umbra', vector: unit(1), ids: asked })).size).toBe(0);
    });

    it('gives back the vectors of notes in any of their task types, bit for bit', async () => {
      const lesson = unit(1, 0.3);
      const situation = unit(-0.2, 1);
      await index.upsert([
        note('a', lesson, { vectors: { lesson, situation } }),
        note('b', unit(-1), { taskType: 'moderation' }),
        note('c', unit(0, 1), { vectors: { situation: unit(0, 1) } }),
      ]);
      const held = await index.vectorsOf('acme', ['a', 'b', 'c', 'd', 'a'].map(noteId));
      expect(Object.fromEntries(held)).toEqual({
        [noteId('a')]: { lesson, situation },
        [noteId('b')]: { lesson: unit(-1) },
        [noteId('c')]: { situation: unit(0, 1) },
      });
      expect((await index.vectorsOf('umbra', [noteId('a')])).size).toBe(0);
      await index.remove([{ namespace: 'acme', id: noteId('a'), version: 9 }]);
      expect((await index.vectorsOf('acme', [noteId('a')])).size).toBe(0);
      const many = Array.from({ length: 100 }, (_, i) => note(`n${i}`, unit(i + 1, 1)));
      await index.upsert(many);
      const ids = many.map(({ id }) => id);
      const all = await index.vectorsOf('acme', ids);
      const scores = await index.scores({ namespace: 'acme', vector: unit(1), ids });
      for (const id of [ids[0], ids[99]] as string[]) {
        const one = await index.scores({ namespace: 'acme', vector: unit(1), ids: [id] });
        expect(one.get(id)).toBe(scores.get(id));
      }
      expect(many.every(({ id, vectors }) => all.get(id)?.lesson?.join() === vectors.lesson?.join())).toBe(
        true,
      );
    });

    it('refuses bad vectors and applies nothing of their batch', async () => {
      const bad = [
        Float32Array.from([1]),
        new Float32Array(DIMENSIONS),
        unit(1).map((x) => x * 1.5),
        Float32Array.from({ length: DIMENSIONS }, () => Number.NaN),
        Float32Array.from({ length: DIMENSIONS }, () => Number.POSITIVE_INFINITY),
      ];
      for (const vector of bad) {
        await expect(index.upsert([note('good', unit(1)), note('bad', vector)])).rejects.toMatchObject({
          code: 'INVALID_VECTOR',
        });
        await expect(search({ vector })).rejects.toMatchObject({ code: 'INVALID_VECTOR' });
        await expect(index.scores({ namespace: 'acme', vector, ids: [] })).rejects.toMatchObject({
          code: 'INVALID_VECTOR',
        });
      }
      await expect(index.upsert([note('none', unit(1), { vectors: {} })])).rejects.toMatchObject({
        code: 'INVALID_VECTOR',
      });
      expect(index.count()).toBe(0);
    });

    it('refuses a k below 1 or not whole', async () => {
      for (const k of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        await expect(search({ k })).rejects.toMatchObject({ code: 'INVALID_INPUT' });
      }
    });

    it('refuses when the signal has fired', async () => {
      await expect(search({ signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'ABORTED' });
    });

    it('forgets everything on clear, removals too', async () => {
      await index.upsert([note('a', unit(1), { attributes: { repo: 'a' } })]);
      await index.remove([{ namespace: 'acme', id: noteId('b'), version: 9 }]);
      await index.clear();
      expect(index.stats()).toMatchObject({ partitions: 0, notes: 0, vectors: 0, tombstones: 0 });
      await index.upsert([note('b', unit(1))]);
      expect((await search()).hits.length).toBe(1);
    });

    it('gives CLOSED after close, which may be called twice', async () => {
      await index.upsert([note('a', unit(1))]);
      await index.close();
      await index.close();
      const closed = { code: 'CLOSED' };
      await expect(search()).rejects.toMatchObject(closed);
      await expect(index.upsert([note('a', unit(1))])).rejects.toMatchObject(closed);
      await expect(index.remove([])).rejects.toMatchObject(closed);
      await expect(index.scores({ namespace: 'acme', vector: unit(1), ids: [] })).rejects.toMatchObject(
        closed,
      );
      await expect(index.vectorsOf('acme', [])).rejects.toMatchObject(closed);
      await expect(index.compact()).rejects.toMatchObject(closed);
      await expect(index.clear()).rejects.toMatchObject(closed);
      for (const call of [
        () => index.count(),
        () => index.stats(),
        () => index.versionOf('acme', noteId('a')),
      ]) {
        expect(call).toThrowError(expect.objectContaining(closed));
      }
    });

    it('answers like the naive model after any sequence of writes', async () => {
      await fc.assert(
        fc.asyncProperty(operations, async (list) => {
          await index.clear();
          await runBesideModel(index, list, expectEquivalent);
        }),
        { numRuns: 100 },
      );
    });
  });
}
