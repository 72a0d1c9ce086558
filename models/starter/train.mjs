// From the teacher's vectors to one int8 vector a token.
import { fitScales, principalAxes, project, ridge } from './fit.mjs';

/**
 * `sif`: a of SIF's a / (a + frequency); its paper's 1e-3 finds less (README.md). `weight`: of the ridge, against the squared scales of the texts.
 * `rounds` of new scales, `iterations` of conjugate gradients each. README.md says what they reach.
 */
export const SETTINGS = { dimensions: 256, sif: 1e-4, weight: 0.1, rounds: 2, iterations: 8 };

/** The teacher's vectors on their principal axes: `{ axes, wanted: [texts, dimensions] }`. */
export function reduce({ size, targets }, { dimensions }, log) {
  const { axes, share } = principalAxes(targets, size, dimensions);
  log(`${dimensions} principal axes hold ${(100 * share).toFixed(1)}% of the teacher's squared lengths`);
  return { axes, wanted: project(targets, size, axes) };
}

/** `[tokens, dimensions]` float32. */
export function train({ size, alone, corpus }, { axes, wanted }, settings, log) {
  const { dimensions, weight, rounds, iterations } = settings;
  const prior = priorVectors(alone, corpus, { size, axes, ...settings });
  const vectors = prior.slice();
  for (let round = 0; round < rounds; round += 1) {
    const { scales, cosine } = fitScales(corpus, wanted, vectors, dimensions);
    log(`round ${round + 1}: mean cosine to the teacher ${cosine.toFixed(4)}`);
    ridge(corpus, { targets: wanted, scales, vectors, prior, dimensions, ridge: weight, iterations, log });
  }
  log(`mean cosine to the teacher ${fitScales(corpus, wanted, vectors, dimensions).cosine.toFixed(4)}`);
  return vectors;
}

/**
 * Where the fit begins, and what holds it where texts say little: the token alone on the teacher's principal axes, weighted by SIF
 * (Arora et al. 2017): frequent tokens say little.
 */
export function priorVectors(alone, { ids }, { size, axes, dimensions, sif }) {
  const tokens = alone.length / size;
  const counts = new Float64Array(tokens);
  for (const id of ids) counts[id] += 1;
  const prior = project(alone, size, axes);
  for (let token = 0; token < tokens; token += 1) {
    const weight = sif / (sif + counts[token] / ids.length);
    for (let d = 0; d < dimensions; d += 1) prior[token * dimensions + d] *= weight;
  }
  return prior;
}

/** Each row over its own largest number: `{ tokens, dimensions, scales, rows }`. */
export function quantise(vectors, dimensions) {
  const tokens = vectors.length / dimensions;
  const scales = new Float32Array(tokens);
  const rows = new Int8Array(vectors.length);
  for (let token = 0; token < tokens; token += 1) {
    const row = vectors.subarray(token * dimensions, (token + 1) * dimensions);
    const largest = row.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
    scales[token] = largest / 127;
    if (largest > 0)
      row.forEach((value, d) => {
        rows[token * dimensions + d] = Math.round((value / largest) * 127);
      });
  }
  return { tokens, dimensions, scales, rows };
}
