import { randomUUID } from 'node:crypto';
import type { Caller } from '../domain/api-key.js';
import type { FeedbackNote } from '../domain/note.js';
import type { Retrieval, ScoredNote } from '../domain/retrieval.js';
import type { Clock } from '../ports/clock.js';
import type { Embedder } from '../ports/embedder.js';
import type { LexicalIndex } from '../ports/lexical-index.js';
import type { Store } from '../ports/note-store.js';
import type { RetrieveRequest } from '../ports/use-cases.js';
import type { VectorIndex } from '../ports/vector-index.js';
import { applyCalibration, type CalibrationDeps } from './apply-calibration.js';
import { checkRequest } from './check-request.js';
import { drawTrial } from './draw-trial.js';
import { findCandidates } from './find-candidates.js';
import type { IndexFollower } from './follow-store.js';
import { hydrate } from './hydrate.js';
import type { OutcomeCounter } from './outcome-counter.js';
import { toReceipt } from './receipts.js';
import { type RerankDeps, rerankCandidates } from './rerank-candidates.js';
import { candidateFeatures, featuresById, queryTerms, scoreCandidates } from './score-candidates.js';
import type { ScoreModel } from './score-model.js';
import { StageTimer } from './stage-timer.js';

export interface RetrieveDeps extends RerankDeps, CalibrationDeps {
  readonly store: Store;
  readonly embedder: Embedder;
  readonly vectorIndex: VectorIndex;
  readonly lexicalIndex: LexicalIndex;
  /** What the best full-text hit adds to a cosine of this model; none: `LEXICAL_SHARE`. */
  readonly lexicalShare?: number | undefined;
  readonly follower: IndexFollower;
  readonly scoreModel: ScoreModel;
  readonly outcomes: Pick<OutcomeCounter, 'countRetrieved'>;
  /** Absent or 0: no answer is ever a trial. */
  readonly withholdShare?: number | undefined;
  /** Numbers in [0, 1) for trials. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
  readonly clock: Clock;
  /** Whether telephone numbers are redacted from receipts, too. */
  readonly phones?: boolean | undefined;
}

/**
 * One query: embed → vector and lexical candidates → fuse → hydrate → drop superseded → score → rerank → threshold → receipt.
 * The store alone decides what is active, so an acknowledged deprecation is never served again, whatever the indexes hold.
 */
export async function retrieve(
  deps: RetrieveDeps,
  caller: Caller,
  request: RetrieveRequest,
  signal?: AbortSignal,
): Promise<Retrieval> {
  const valid = checkRequest(request);
  const timer = new StageTimer();
  const embedding = await timer.run('embed', () => embedQuery(deps, valid.query, signal));
  const indexRevision = String(deps.follower.revision);
  const candidates = await findCandidates(deps, valid, embedding.vector, timer, signal);
  const { notes, conflicts } = await timer.run('hydrate', () =>
    hydrate(
      deps.store.notes,
      valid,
      candidates.fused.map(({ id }) => id),
      deps.clock.now(),
    ),
  );
  const { terms, described } = await timer.run('score', async () => {
    const terms = await queryTerms(deps.lexicalIndex, valid.namespace, valid.query);
    return { terms, described: candidateFeatures(candidates, notes, terms) };
  });
  const input = {
    request: valid,
    embedding,
    terms,
    candidates: scoreCandidates(described, deps.scoreModel),
    features: featuresById(described),
  };
  const reranked = await rerankCandidates(deps, input, timer, signal);
  const { scale, threshold: shipped } = reranked.ran ?? deps.scoreModel;
  const judged = await applyCalibration(deps, valid, {
    candidates: reranked.candidates,
    rerankModel: reranked.ran?.modelId ?? null,
    scale,
  });
  const threshold = valid.threshold ?? judged.threshold ?? shipped;
  const selected = judged.candidates.filter(({ score }) => score >= threshold).slice(0, valid.finalK);
  const eligible = selected.map(({ note }) => note.id);
  const trial = drawTrial(eligible, deps.withholdShare ?? 0, deps.random ?? Math.random);
  const served = trial?.withheld ? selected.filter(({ note }) => note.id !== trial.noteId) : selected;
  const uncalibrated = deps.scoreModel.uncalibrated;
  const retrieval: Retrieval = {
    id: randomUUID(),
    namespace: valid.namespace,
    notes: served,
    candidates: judged.candidates,
    abstained: selected.length === 0,
    threshold,
    scoreScale: scale,
    degraded: [
      ...candidates.degraded,
      ...reranked.degraded,
      ...(judged.refused === undefined ? [] : [`calibration: ${judged.refused}`]),
      ...(uncalibrated === undefined ? [] : [`calibration: ${uncalibrated}`]),
    ],
    conflicts: conflicts.filter(
      ({ noteId, resolution }) => resolution === 'NEWEST' || selected.some(({ note }) => note.id === noteId),
    ),
    plan: candidates.plan,
    exhaustive: candidates.exhaustive,
    indexRevision,
    embeddingModel: deps.embedder.model.id,
    rerankModel: reranked.ran?.modelId,
    truncated: embedding.truncated,
    trial,
    stages: timer.stages,
    createdAt: deps.clock.now(),
  };
  await timer.run('receipt', () =>
    deps.store.receipts.put(toReceipt(retrieval, valid, caller, { phones: deps.phones })),
  );
  if (trial !== undefined) {
    const { id: receiptId, namespace, createdAt: at } = retrieval;
    await deps.store.trials.put({ ...trial, receiptId, namespace, at });
  }
  deps.outcomes.countRetrieved(
    valid.namespace,
    served.map(({ note }) => note.id),
  );
  return retrieval;
}

async function embedQuery(deps: RetrieveDeps, query: string, signal: AbortSignal | undefined) {
  const [embedding] = await deps.embedder.embed([query], {
    kind: 'query',
    priority: 'interactive',
    // Also where risk is LOW, so that the cache holds one entry a query.
    tokenVectors: deps.lateInteraction !== undefined,
    signal,
  });
  if (embedding === undefined) throw new TypeError('Expected one embedding for one query, received none');
  return embedding;
}

/** The notes of an answer, for those who need no more. */
export function notesOf(retrieval: { readonly notes: readonly ScoredNote[] }): readonly FeedbackNote[] {
  return retrieval.notes.map(({ note }) => note);
}
