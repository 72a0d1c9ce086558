import type { Embedder } from '../ports/embedder.js';
import { checkRequest } from '../retrieval/check-request.js';
import { findCandidates } from '../retrieval/find-candidates.js';
import { hydrate } from '../retrieval/hydrate.js';
import type { MatchFeatures } from '../retrieval/match-features.js';
import type { RetrieveDeps } from '../retrieval/retrieve.js';
import { candidateFeatures, queryTerms } from '../retrieval/score-candidates.js';
import { type FittedScore, fittedProbability, type ScoreWeights } from '../retrieval/score-model.js';
import { StageTimer } from '../retrieval/stage-timer.js';
import { fitLogistic } from './fit-logistic.js';
import type { GoldenQuery } from './golden-set.js';

/** One candidate of one golden query. */
interface LabelledCandidate {
  readonly features: MatchFeatures;
  readonly applies: boolean;
}

export interface LabelledQuery {
  readonly answerable: boolean;
  readonly candidates: readonly LabelledCandidate[];
}

const FEATURES = ['cosine', 'idfCoverage', 'identifierShare', 'identifiersMissing'] as const;
/** Weak: with a few thousand candidates it only keeps weights of unused features at 0. */
const L2 = 1;

/** Candidates and features of golden queries, as the read path would see them before scoring. */
export async function labelCandidates(
  deps: RetrieveDeps & { readonly embedder: Embedder },
  namespace: string,
  queries: readonly GoldenQuery[],
  resolve: (key: string) => string | undefined,
): Promise<readonly LabelledQuery[]> {
  const labelled: LabelledQuery[] = [];
  for (const query of queries) {
    const { taskType, attributes } = query;
    const request = checkRequest({ namespace, query: query.query, taskType, attributes });
    const [embedding] = await deps.embedder.embed([request.query], { kind: 'query' });
    if (embedding === undefined) continue;
    const candidates = await findCandidates(deps, request, embedding.vector, new StageTimer(), undefined);
    const ids = candidates.fused.map(({ id }) => id);
    const notes = await hydrate(deps.store.notes, request, ids, deps.clock.now());
    const terms = await queryTerms(deps.lexicalIndex, namespace, request.query);
    const expected = new Set(query.expected.map(({ key }) => resolve(key)));
    labelled.push({
      answerable: query.expected.length > 0,
      candidates: candidateFeatures(candidates, notes, terms).map(({ note, features }) => ({
        features,
        applies: expected.has(note.id),
      })),
    });
  }
  return labelled;
}

/**
 * Fits the logistic mapping over all labelled candidates and picks the threshold that maximises
 * (share of answerable queries answered) − (share of unanswerable queries answered) on the same queries.
 */
export function fitScore(
  queries: readonly LabelledQuery[],
  origin: { readonly embeddingModel: string; readonly fittedOn: string },
): FittedScore {
  const candidates = queries.flatMap((query) => query.candidates);
  const fitted = fitLogistic(
    candidates.map(({ features }) => FEATURES.map((name) => features[name])),
    candidates.map(({ applies }) => Number(applies)),
    { l2: L2 },
  );
  const round = (value: number) => Math.round(value * 1e6) / 1e6;
  const [bias = 0, ...rest] = fitted.map(round);
  const weights: ScoreWeights = {
    bias,
    cosine: rest[0] ?? 0,
    idfCoverage: rest[1] ?? 0,
    identifierShare: rest[2] ?? 0,
    identifiersMissing: rest[3] ?? 0,
  };
  return { ...origin, weights, threshold: round(pickThreshold(queries, weights)) };
}

function pickThreshold(queries: readonly LabelledQuery[], weights: ScoreWeights): number {
  const best = queries.map(({ answerable, candidates }) => ({
    answerable,
    top: Math.max(0, ...candidates.map(({ features }) => fittedProbability(weights, features))),
  }));
  const answerable = best.filter((query) => query.answerable).length;
  const unanswerable = best.length - answerable;
  let choice = { threshold: 0.5, gain: Number.NEGATIVE_INFINITY };
  for (const { top: threshold } of best) {
    const passed = best.filter(({ top }) => top >= threshold);
    const right = passed.filter((query) => query.answerable).length;
    const gain = right / Math.max(1, answerable) - (passed.length - right) / Math.max(1, unanswerable);
    if (gain > choice.gain) choice = { threshold, gain };
  }
  return choice.threshold;
}
