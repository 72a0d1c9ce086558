import { describe, expect, it } from 'vitest';
import type { StoredNote } from '../../src/ports/note-store.js';
import { NamespaceCentres } from '../../src/retrieval/namespace-centres.js';

const note = (id: string, lesson: number[], status = 'ACTIVE', modelId = 'm'): StoredNote =>
  ({
    note: { id, namespace: 'n', status },
    vectors: { modelId, lesson: Float32Array.from(lesson), situation: Float32Array.from(lesson) },
  }) as unknown as StoredNote;
const prior = Float32Array.from([1, 0]);

describe('NamespaceCentres', () => {
  it('counts each active note once, and no longer when it is deprecated', () => {
    const centres = new NamespaceCentres('m', 2);
    centres.apply(note('a', [0, 1]));
    centres.apply(note('a', [0, 1]));
    centres.apply(note('b', [1, 0]));
    expect([...centres.meanOf('n')]).toEqual([0.5, 0.5]);
    centres.apply(note('b', [1, 0], 'DEPRECATED'));
    centres.apply(note('b', [1, 0], 'DEPRECATED'));
    expect([...centres.meanOf('n')]).toEqual([0, 1]);
  });

  it('stays near the prior with few notes and leaves it with many', () => {
    const centres = new NamespaceCentres('m', 2);
    expect(centres.centreOf('n', prior)).toEqual(prior);
    centres.apply(note('a', [0, 1]));
    expect(centres.centreOf('n', prior)[0]).toBeCloseTo(100 / 102, 6);
    for (let index = 0; index < 5_000; index += 1) centres.apply(note(`x${index}`, [0, 1]));
    expect(centres.centreOf('n', prior)[1]).toBeGreaterThan(0.98);
  });

  it('gives the same array until a note comes or goes', () => {
    const centres = new NamespaceCentres('m', 2);
    centres.apply(note('a', [0, 1]));
    const before = centres.centreOf('n', prior);
    expect(centres.centreOf('n', prior)).toBe(before);
    centres.apply(note('a', [0, 1]));
    expect(centres.centreOf('n', prior)).toBe(before);
    expect(centres.centreOf('n', Float32Array.from([0, 1]))).not.toEqual(before);
    centres.apply(note('b', [0, 1]));
    expect(centres.centreOf('n', prior)).not.toEqual(before);
  });

  it("leaves other models' vectors and other namespaces out", () => {
    const centres = new NamespaceCentres('m', 2);
    centres.apply(note('a', [0, 1], 'ACTIVE', 'other'));
    expect([...centres.meanOf('n')]).toEqual([0, 0]);
    expect(centres.centreOf('elsewhere', prior)).toEqual(prior);
  });
});
