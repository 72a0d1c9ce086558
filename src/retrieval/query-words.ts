import type { TokenVectors } from '../ports/embedder.js';
import { termSpans } from './text-terms.js';

/** One word of a query as the model reads it in its sentence. */
export interface QueryWord {
  /** Mean of its token vectors less what all notes share, unit length, `[dimensions]`. */
  readonly vector: Float64Array;
  /** idf, above 0. */
  readonly weight: number;
}

/**
 * The query's token vectors, each weighted by the idf of the word it belongs to (SIF's idea, Arora et al. 2017, on
 * contextual vectors): "package", "reported", "customer" count for little, what is peculiar to the query for much.
 * `[dimensions]`, not normalised; where no token has a weight, all count the same.
 */
export function keywordVector(
  query: string,
  tokens: TokenVectors,
  idf: ReadonlyMap<string, number>,
): Float64Array {
  const count = tokens.spans.length / 2;
  const weights = tokenWeights(query, tokens.spans, idf);
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const mean = new Float64Array(tokens.rows.length / count);
  weights.forEach((weight, token) => {
    addRow(mean, tokens.rows, token, total === 0 ? 1 / count : weight / total);
  });
  return mean;
}

/** The words that have a weight, in order; a word that the model did not read any more is left out. */
export function queryWords(
  query: string,
  tokens: TokenVectors,
  idf: ReadonlyMap<string, number>,
  centre: Float32Array,
): readonly QueryWord[] {
  return termSpans(query).flatMap(({ start, end, term }): QueryWord[] => {
    const weight = idf.get(term) ?? 0;
    const own = tokensWithin(tokens.spans, start, end);
    if (weight <= 0 || own.length === 0) return [];
    const vector = new Float64Array(centre.length);
    for (const token of own) addRow(vector, tokens.rows, token, 1 / own.length);
    let squares = 0;
    for (let d = 0; d < vector.length; d += 1) {
      const rest = (vector[d] ?? 0) - (centre[d] ?? 0);
      vector[d] = rest;
      squares += rest * rest;
    }
    const norm = Math.sqrt(squares);
    if (norm < 1e-9) return [];
    for (let d = 0; d < vector.length; d += 1) vector[d] = (vector[d] ?? 0) / norm;
    return [{ vector, weight }];
  });
}

function tokenWeights(query: string, spans: Int32Array, idf: ReadonlyMap<string, number>): Float64Array {
  const weights = new Float64Array(spans.length / 2);
  for (const { start, end, term } of termSpans(query)) {
    const weight = idf.get(term) ?? 0;
    // In unspaced scripts two pairs of characters cover a token: the rarer one counts.
    for (const token of tokensWithin(spans, start, end))
      weights[token] = Math.max(weights[token] ?? 0, weight);
  }
  return weights;
}

/** Tokens that begin within a span; special tokens are empty and belong to none. */
function tokensWithin(spans: Int32Array, start: number, end: number): number[] {
  const found: number[] = [];
  for (let token = 0; token < spans.length / 2; token += 1) {
    const from = spans[2 * token] ?? 0;
    const to = spans[2 * token + 1] ?? 0;
    if (from < to && from >= start && from < end) found.push(token);
  }
  return found;
}

function addRow(sum: Float64Array, rows: Float32Array, row: number, share: number): void {
  if (share === 0) return;
  for (let d = 0; d < sum.length; d += 1) sum[d] = (sum[d] ?? 0) + share * (rows[row * sum.length + d] ?? 0);
}
