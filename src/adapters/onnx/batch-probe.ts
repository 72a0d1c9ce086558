import type { BatchWish } from '../../domain/inference.js';
import type { BatchKind } from '../../ports/model-runtime.js';
import { type InferenceInput, type InferenceOutput, paddedInput, singleInput } from './embed-protocol.js';

/** Shapes that are compared: few long rows, many short ones, and lengths that no vector width divides. */
const SHAPES: readonly (readonly [rows: number, tokens: number])[] = [
  [4, 24],
  [2, 61],
  [16, 7],
  [3, 120],
];
/** Rounding of float32 sums in another order, on components of unit vectors; batch mates that matter differ by 1e-2. */
const TOLERANCE = 1e-5;
/** Lengths in one padded run. */
const UNEQUAL = [5, 23, 64];

export interface BatchProbe {
  run(input: InferenceInput): Promise<InferenceOutput>;
}

/**
 * Finds out which texts may share a run, by running fixed texts alone and together: `EQUAL_LENGTHS` where every row of every shape
 * has the bits that it has alone; `PADDED` where that was wished for (`close`) and rows of unequal length differ by rounding at most.
 * Dynamically quantised models fail at the first shape. About 25 runs at most. `ids`: token ids of a text, special ones first and last.
 */
export async function probeBatches(
  probe: BatchProbe,
  options: { ids: Int32Array; maxTokens: number; dimensions: number; wish: BatchWish },
): Promise<BatchKind> {
  const { ids, maxTokens, dimensions, wish } = options;
  if (wish === 'off') return 'ALONE';
  if (wish === 'close') {
    const rows = UNEQUAL.map((tokens) => sequence(ids, Math.min(tokens, maxTokens), tokens));
    return (await farthest(probe, rows, dimensions)) <= TOLERANCE ? 'PADDED' : 'ALONE';
  }
  for (const [rows, tokens] of SHAPES) {
    const sequences = Array.from({ length: rows }, (_, row) =>
      sequence(ids, Math.min(tokens, maxTokens), row + tokens),
    );
    if ((await farthest(probe, sequences, dimensions)) !== 0) return 'ALONE';
  }
  return 'EQUAL_LENGTHS';
}

/** Largest difference of a component alone and together; 0 only for the same bits, Infinity for NaN. */
async function farthest(
  probe: BatchProbe,
  sequences: readonly Int32Array<ArrayBuffer>[],
  dimensions: number,
): Promise<number> {
  const together = (await probe.run(paddedInput(sequences.map((ids) => ({ ids }))))).values;
  let most = 0;
  for (const [row, ids] of sequences.entries()) {
    const alone = (await probe.run(singleInput(ids.slice()))).values;
    for (let d = 0; d < dimensions; d += 1) {
      const difference = Math.abs((alone[d] ?? Number.NaN) - (together[row * dimensions + d] ?? Number.NaN));
      // NaN compares as false.
      if (!(difference <= most)) most = Number.isNaN(difference) ? Number.POSITIVE_INFINITY : difference;
    }
  }
  return most;
}

/** A sequence of so many tokens, another one for each seed, between the same special tokens. */
function sequence(ids: Int32Array, tokens: number, seed: number): Int32Array<ArrayBuffer> {
  const inner = ids.subarray(1, -1);
  return Int32Array.from({ length: tokens }, (_, at) => {
    if (at === 0) return ids[0] ?? 0;
    if (at === tokens - 1) return ids[ids.length - 1] ?? 0;
    return inner[(at * 7 + seed * 3) % Math.max(1, inner.length)] ?? 0;
  });
}
