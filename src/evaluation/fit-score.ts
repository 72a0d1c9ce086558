import type { Embedding } from '../ports/embedder.js';
import { checkRequest, type ValidRequest } from '../retrieval/check-request.js';
import { findCandidates } from '../retrieval/find-candidates.js';
import { hydrate } from '../retrieval/hydrate.js';
import type { QueryTerms } from '../retrieval/match-features.js';
import type { RetrieveDeps } from '../retrieval/retrieve.js';
import { type CandidateFeatures, candidateFeatures, queryTerms } from '../retrieval/score-candidates.js';
import { type FittedScore, fittedProbability, type ScoreWeights } from '../retrieval/score-model.js';
import { StageTimer } from '../retrieval/stage-timer.js';
import { fitStandardised } from './fit-logistic.js';
import type { GoldenQuery } from './golden-set.js';
import { pickThreshold } from './pick-threshold.js';

/** One candidate of one golden query. */
interface LabelledCandidate extends CandidateFeatures {
  readonly applies: boolean;
}

export interface LabelledQuery {
  readonly id: string;
  readonly request: ValidRequest;
  /** With token vectors where the embedder gives them. */
  readonly embedding: Embedding;
  readonly terms: QueryTerms;
  readonly answerable: boolean;
  readonly candidates: readonly LabelledCandidate[];
}

const FEATURES = ['cosine', 'idfCoverage', 'identifierShare', 'identifiersMissing'] as const;
/** Weak: with a few thousand candidates it only keeps weights of unused features at 0. */
const L2 = 3;

/** Candidates and features of golden queries, as the read path would see them before scoring. */
export async function labelCandidates(
  deps: RetrieveDeps,
  namespace: string,
  queries: readonly GoldenQuery[],
  resolve: (key: string) => string | undefined,
): Promise<readonly LabelledQuery[]> {
  const labelled: LabelledQuery[] = [];
  for (const query of queries) {
    const { taskType, attributes } = query;
    const request = checkRequest({ namespace, query: query.query, taskType, attributes });
    const [embedding] = await deps.embedder.embed([request.query], { kind: 'query', tokenVectors: true });
    if (embedding === undefined) continue;
    const candidates = await findCandidates(deps, request, embedding.vector, new StageTimer(), undefined);
    const ids = candidates.fused.map(({ id }) => id);
    const { notes } = await hydrate(deps.store.notes, request, ids, deps.clock.now());
    const terms = await queryTerms(deps.lexicalIndex, namespace, request.query);
    const expected = new Set(query.expected.map(({ key }) => resolve(key)));
    labelled.push({
      id: query.id,
      request,
      embedding,
      terms,
      answerable: query.expected.length > 0,
      candidates: candidateFeatures(candidates, notes, terms).map((candidate) => ({
        ...candidate,
        applies: expected.has(candidate.note.id),
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
  // Every answerable query serves a second time with its right notes taken away, see `fit-late-interaction.ts`.
  const candidates = queries.flatMap(({ candidates: all }) => [
    ...all,
    ...(all.some(({ applies }) => applies) ? all.filter(({ applies }) => !applies) : []),
  ]);
  const fitted = fitStandardised(
    candidates.map(({ features }) => FEATURES.map((name) => features[name])),
    candidates.map(({ applies }) => Number(applies)),
    { l2: L2 },
  );
  const [bias = 0, ...rest] = fitted.map(roundWeight);
  const weights: ScoreWeights = {
    bias,
    cosine: rest[0] ?? 0,
    idfCoverage: rest[1] ?? 0,
    identifierShare: rest[2] ?? 0,
    identifiersMissing: rest[3] ?? 0,
  };
  return { ...origin, weights, threshold: roundWeight(pickThreshold(judge(queries, weights))) };
}

/** Six digits: more would only make the saved file differ between machines. */
export function roundWeight(value: number): number {
  return Math.round(value * 1e6) / 1e6;
}

function judge(queries: readonly LabelledQuery[], weights: ScoreWeights) {
  return queries.map(({ answerable, candidates }) => ({
    answerable,
    top: Math.max(0, ...candidates.map(({ features }) => fittedProbability(weights, features))),
  }));
}
