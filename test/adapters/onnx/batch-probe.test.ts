import { describe, expect, it } from 'vitest';
import { type BatchProbe, probeBatches } from '../../../src/adapters/onnx/batch-probe.js';
import type { InferenceInput } from '../../../src/adapters/onnx/embed-protocol.js';
import type { BatchWish } from '../../../src/domain/inference.js';

const DIMENSIONS = 4;
const ids = Int32Array.from({ length: 30 }, (_, at) => 100 + at);

/** A model whose rows are a sum over their own tokens, and whatever `mates` adds for the run they are in. */
function modelWith(mates: (input: InferenceInput) => number) {
  const shapes: string[] = [];
  const probe: BatchProbe = {
    async run(input) {
      const rows = input.lengths.length;
      const columns = input.ids.length / rows;
      shapes.push(`${rows}×${columns}`);
      const values = new Float32Array(rows * DIMENSIONS);
      for (let row = 0; row < rows; row += 1) {
        const own = input.ids.subarray(row * columns, row * columns + (input.lengths[row] ?? 0));
        const sum = own.reduce((total, id, at) => total + id * (at + 1), 0) / 1e6;
        values.fill(sum + mates(input), row * DIMENSIONS, (row + 1) * DIMENSIONS);
      }
      return { values };
    },
  };
  const decide = (wish: BatchWish, maxTokens = 256) =>
    probeBatches(probe, { ids, maxTokens, dimensions: DIMENSIONS, wish });
  return { decide, shapes };
}

describe('probeBatches', () => {
  it('lets texts of one length share a run where each has the bits that it has alone', async () => {
    const { decide, shapes } = modelWith(() => 0);
    expect(await decide('exact')).toBe('EQUAL_LENGTHS');
    expect(shapes).toEqual(expect.arrayContaining(['4×24', '1×24', '2×61', '16×7', '3×120']));
    expect(await decide('close')).toBe('PADDED');
  });

  it('lets none share a run where batch mates change a bit, unless rounding is allowed', async () => {
    const { decide } = modelWith(({ lengths }) => (lengths.length > 2 ? 1e-6 : 0));
    expect(await decide('exact')).toBe('ALONE');
    expect(await decide('close')).toBe('PADDED');
  });

  it('lets none share a run where batch mates matter, and stops at the first shape', async () => {
    const { decide, shapes } = modelWith(({ lengths }) => (lengths.length > 1 ? 1e-2 : 0));
    expect(await decide('exact')).toBe('ALONE');
    expect(shapes).toEqual(['4×24', '1×24', '1×24', '1×24', '1×24']);
    expect(await decide('close')).toBe('ALONE');
  });

  it('finds a difference in any shape', async () => {
    const { decide } = modelWith(({ lengths }) => (lengths.length === 16 ? 1e-6 : 0));
    expect(await decide('exact')).toBe('ALONE');
  });

  it('takes NaN for a difference', async () => {
    expect(await modelWith(() => Number.NaN).decide('exact')).toBe('ALONE');
    expect(await modelWith(() => Number.NaN).decide('close')).toBe('ALONE');
  });

  it('runs nothing where it is off, and nothing longer than the model reads', async () => {
    const off = modelWith(() => 0);
    expect(await off.decide('off')).toBe('ALONE');
    expect(off.shapes).toEqual([]);
    const short = modelWith(() => 0);
    expect(await short.decide('exact', 40)).toBe('EQUAL_LENGTHS');
    expect(short.shapes).toContain('3×40');
    expect(short.shapes.join()).not.toMatch(/×(61|120)/);
  });
});
