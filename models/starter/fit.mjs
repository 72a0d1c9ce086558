// Linear algebra of the starter embedder: principal axes, and token vectors whose sum points where the teacher's text vector does.

/**
 * Eigenvectors of the symmetric `[size, size]` matrix by Jacobi rotations, largest eigenvalue first: `{ values, axes }`, `axes`
 * one row an axis. O(size³) a sweep; `matrix` is used up.
 */
function eigenvectors(matrix, size) {
  const axes = new Float64Array(size * size);
  for (let d = 0; d < size; d += 1) axes[d * size + d] = 1;
  for (let sweep = 0; sweep < 12; sweep += 1) {
    let off = 0;
    for (let p = 0; p < size; p += 1) for (let q = p + 1; q < size; q += 1) off += matrix[p * size + q] ** 2;
    if (off < 1e-18) break;
    for (let p = 0; p < size; p += 1) for (let q = p + 1; q < size; q += 1) rotate(matrix, axes, size, p, q);
  }
  const order = [...Array(size).keys()].sort((a, b) => matrix[b * size + b] - matrix[a * size + a]);
  const sorted = new Float64Array(size * size);
  order.forEach((from, to) => {
    sorted.set(axes.subarray(from * size, (from + 1) * size), to * size);
  });
  return { values: order.map((d) => matrix[d * size + d]), axes: sorted };
}

/** Makes `matrix[p, q]` zero; `axes` has the eigenvectors in its rows. */
function rotate(matrix, axes, size, p, q) {
  const apq = matrix[p * size + q];
  if (Math.abs(apq) < 1e-15) return;
  const theta = (matrix[q * size + q] - matrix[p * size + p]) / (2 * apq);
  const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  for (let k = 0; k < size; k += 1) {
    const [kp, kq] = [matrix[k * size + p], matrix[k * size + q]];
    matrix[k * size + p] = c * kp - s * kq;
    matrix[k * size + q] = s * kp + c * kq;
  }
  for (let k = 0; k < size; k += 1) {
    const [pk, qk] = [matrix[p * size + k], matrix[q * size + k]];
    matrix[p * size + k] = c * pk - s * qk;
    matrix[q * size + k] = s * pk + c * qk;
    const [vp, vq] = [axes[p * size + k], axes[q * size + k]];
    axes[p * size + k] = c * vp - s * vq;
    axes[q * size + k] = s * vp + c * vq;
  }
}

/** Rows that the axes are found from: the second moments of 50,000 differ little from those of all. */
const AXES_ROWS = 50_000;

/** The `kept` axes with the most of the rows' squared length: `{ axes: [kept, size], share }`. Not centred: cosines are kept. */
export function principalAxes(rows, size, kept) {
  const second = new Float64Array(size * size);
  const stride = size * Math.max(1, Math.floor(rows.length / size / AXES_ROWS));
  for (let from = 0; from < rows.length; from += stride)
    for (let p = 0; p < size; p += 1) {
      const value = rows[from + p];
      for (let q = p, at = p * size + p; q < size; q += 1, at += 1) second[at] += value * rows[from + q];
    }
  for (let p = 0; p < size; p += 1)
    for (let q = 0; q < p; q += 1) second[p * size + q] = second[q * size + p];
  const scale = stride / rows.length;
  const { values, axes } = eigenvectors(
    second.map((value) => value * scale),
    size,
  );
  const sum = (list) => list.reduce((total, value) => total + value, 0);
  return { axes: axes.slice(0, kept * size), share: sum(values.slice(0, kept)) / sum(values) };
}

/** Coordinates of `[n, size]` rows on the axes, scaled to unit length: `[n, kept]`. */
export function project(rows, size, axes) {
  const kept = axes.length / size;
  const n = rows.length / size;
  const out = new Float32Array(n * kept);
  for (let row = 0; row < n; row += 1) {
    let squares = 0;
    for (let axis = 0; axis < kept; axis += 1) {
      let dot = 0;
      for (let d = 0; d < size; d += 1) dot += axes[axis * size + d] * rows[row * size + d];
      out[row * kept + axis] = dot;
      squares += dot * dot;
    }
    const scale = 1 / (Math.sqrt(squares) + 1e-12);
    for (let axis = 0; axis < kept; axis += 1) out[row * kept + axis] *= scale;
  }
  return out;
}

/** Weighted sum of the token vectors of one text, into `sum`. */
function sumTokens(vectors, dimensions, { offsets, ids, weights }, text, sum) {
  sum.fill(0);
  for (let at = offsets[text]; at < offsets[text + 1]; at += 1) {
    const row = ids[at] * dimensions;
    const weight = weights[at];
    for (let d = 0; d < dimensions; d += 1) sum[d] += weight * vectors[row + d];
  }
}

/** For each text the factor that brings its sum nearest to its target, at least 0; and the mean cosine of both. */
export function fitScales(corpus, targets, vectors, dimensions) {
  const n = corpus.offsets.length - 1;
  const scales = new Float32Array(n);
  const sum = new Float64Array(dimensions);
  let cosines = 0;
  for (let text = 0; text < n; text += 1) {
    sumTokens(vectors, dimensions, corpus, text, sum);
    let dot = 0;
    let squares = 0;
    for (let d = 0; d < dimensions; d += 1) {
      dot += sum[d] * targets[text * dimensions + d];
      squares += sum[d] * sum[d];
    }
    scales[text] = Math.max(0, dot / (squares + 1e-12));
    cosines += dot / (Math.sqrt(squares) + 1e-12);
  }
  return { scales, cosine: cosines / n };
}

/**
 * Ridge regression by preconditioned conjugate gradients, all dimensions side by side: minimises
 * Σ over texts |scale · Σ weighted vectors of its tokens − target|² + ridge · |vectors − prior|², starting from `vectors`, in place.
 */
export function ridge(
  corpus,
  { targets, scales, vectors, prior, dimensions, ridge: weight, iterations, log },
) {
  const { offsets, ids, weights } = corpus;
  const size = vectors.length;
  const tokens = size / dimensions;
  const n = offsets.length - 1;
  const diagonal = new Float64Array(tokens).fill(weight);
  for (let text = 0; text < n; text += 1)
    for (let at = offsets[text]; at < offsets[text + 1]; at += 1)
      diagonal[ids[at]] += (weights[at] * scales[text]) ** 2;
  const sum = new Float64Array(dimensions);
  /** into = Aᵀ(scale² · A · from) (− scale · targets, where given), plus ridge · from. */
  const apply = (from, into, wanted) => {
    into.fill(0);
    for (let text = 0; text < n; text += 1) {
      const scale = scales[text];
      if (scale === 0) continue;
      sumTokens(from, dimensions, corpus, text, sum);
      for (let d = 0; d < dimensions; d += 1) {
        const goal = wanted === undefined ? 0 : wanted[text * dimensions + d];
        sum[d] = scale * (scale * sum[d] - goal);
      }
      for (let at = offsets[text]; at < offsets[text + 1]; at += 1) {
        const row = ids[at] * dimensions;
        const tokenWeight = weights[at];
        for (let d = 0; d < dimensions; d += 1) into[row + d] += tokenWeight * sum[d];
      }
    }
    for (let i = 0; i < size; i += 1) into[i] += weight * from[i];
  };
  const residual = new Float32Array(size);
  apply(vectors, residual, targets);
  for (let i = 0; i < size; i += 1) residual[i] = weight * prior[i] - residual[i];
  const direction = new Float32Array(size);
  const applied = new Float32Array(size);
  const before = new Float64Array(dimensions).fill(1);
  for (let iteration = 0; iteration < iterations; iteration += 1) {
    const energy = new Float64Array(dimensions);
    for (let token = 0, i = 0; token < tokens; token += 1)
      for (let d = 0; d < dimensions; d += 1, i += 1) energy[d] += residual[i] ** 2 / diagonal[token];
    for (let token = 0, i = 0; token < tokens; token += 1)
      for (let d = 0; d < dimensions; d += 1, i += 1) {
        const keep = iteration === 0 ? 0 : energy[d] / before[d];
        direction[i] = residual[i] / diagonal[token] + keep * direction[i];
      }
    before.set(energy);
    apply(direction, applied);
    const curvature = new Float64Array(dimensions);
    for (let i = 0, d = 0; i < size; i += 1, d = d + 1 === dimensions ? 0 : d + 1)
      curvature[d] += direction[i] * applied[i];
    for (let i = 0, d = 0; i < size; i += 1, d = d + 1 === dimensions ? 0 : d + 1) {
      const step = energy[d] / (curvature[d] + 1e-30);
      vectors[i] += step * direction[i];
      residual[i] -= step * applied[i];
    }
    log?.(
      `  iteration ${iteration + 1}: residual ${Math.sqrt(energy.reduce((a, b) => a + b, 0)).toFixed(4)}`,
    );
  }
}
