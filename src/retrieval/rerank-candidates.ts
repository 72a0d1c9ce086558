import { ErrataError } from '../domain/errors.js';
import type { NoteId } from '../domain/note.js';
import type { ScoredNote } from '../domain/retrieval.js';
import type { ScoreScale } from '../domain/scores.js';
import type { Embedding } from '../ports/embedder.js';
import type { NoteStore } from '../ports/note-store.js';
import type { Reranker } from '../ports/reranker.js';
import type { AnswerContext, RankedCandidate } from './answer-features.js';
import type { ValidRequest } from './check-request.js';
import { judgeCandidates, type LateInteractionFit, sigmoid } from './late-interaction.js';
import type { MatchFeatures, QueryTerms } from './match-features.js';
import type { NamespaceCentres } from './namespace-centres.js';
import { keywordVector, queryWords } from './query-words.js';
import type { StageTimer } from './stage-timer.js';

/** Late interaction as the read path holds it: what was fitted, and what follows the store. */
export interface LateInteraction {
  readonly fit: LateInteractionFit;
  /** `fit.centre`, decoded. */
  readonly prior: Float32Array;
  readonly centres: NamespaceCentres;
  /** Where candidates' vectors are read. Default: the store. */
  readonly vectors?: Pick<NoteStore, 'getVectors'> | undefined;
}

export interface RerankDeps {
  readonly store: { readonly notes: Pick<NoteStore, 'getVectors'> };
  /** A cross-encoder or hosted model; goes before late interaction. */
  readonly reranker?: Reranker | undefined;
  /** On the reranker's own logits; 0 is an even chance for a cross-encoder trained with a logistic loss. */
  readonly rerankThreshold?: number | undefined;
  readonly lateInteraction?: LateInteraction | undefined;
}

export interface RerankInput {
  readonly request: ValidRequest;
  readonly embedding: Embedding;
  readonly terms: QueryTerms;
  /** Best first, as the match score has it. */
  readonly candidates: readonly ScoredNote[];
  /** Of every candidate. */
  readonly features: ReadonlyMap<NoteId, MatchFeatures>;
}

export interface RerankOutcome {
  readonly candidates: readonly ScoredNote[];
  /** Absent where no reranker ran: scale and threshold of the match score stand. */
  readonly ran?: { readonly modelId: string; readonly scale: ScoreScale; readonly threshold: number };
  readonly degraded: readonly string[];
}

export const LATE_INTERACTION = 'late-interaction';
const NAME = 'rerank';

/** What reranks answers of NORMAL risk, if anything does. */
export function rerankModelOf({ reranker, lateInteraction }: RerankDeps): string | undefined {
  return reranker?.modelId ?? (lateInteraction === undefined ? undefined : LATE_INTERACTION);
}

/** Scores the candidates once more; a reranker that is absent or fails leaves the order and says so. */
export async function rerankCandidates(
  deps: RerankDeps,
  input: RerankInput,
  timer: StageTimer,
  signal: AbortSignal | undefined,
): Promise<RerankOutcome> {
  const { request, candidates } = input;
  const { reranker, lateInteraction } = deps;
  if (request.risk === 'LOW') {
    timer.skip(NAME, 'skipped: risk is LOW');
    return { candidates, degraded: [] };
  }
  const modelId = rerankModelOf(deps);
  if (modelId === undefined) {
    timer.skip(NAME, 'not configured');
    return { candidates, degraded: ['rerank: not configured'] };
  }
  if (candidates.length === 0) {
    timer.skip(NAME, `${modelId}: nothing to rank`);
    return { candidates, degraded: [] };
  }
  try {
    return await timer.run(
      NAME,
      () =>
        reranker === undefined
          ? lateInteractionOutcome(deps.store.notes, lateInteraction, input)
          : rerankerOutcome(reranker, deps.rerankThreshold ?? 0, input, signal),
      () => modelId,
    );
  } catch (error) {
    if (error instanceof ErrataError && error.code === 'ABORTED') throw error;
    const code = error instanceof ErrataError ? error.code : 'INTERNAL';
    timer.skip(NAME, `failed: ${code}`);
    const degraded = [`rerank: ${code}`];
    if (reranker === undefined || lateInteraction === undefined) return { candidates, degraded };
    // It needs no other model, so that a reranker that fails costs no more than its own advantage.
    const instead = await rerankCandidates({ ...deps, reranker: undefined }, input, timer, signal);
    return { ...instead, degraded: [...degraded, ...instead.degraded] };
  }
}

/**
 * From this logit on (a chance of .9999) a passage is as good as certain, and an answer full of such ones is taken without asking for
 * the others. An approximation: logits have no upper bound, so that one that was spared might have got more and stood in the answer;
 * what it displaces is a note that applies with a chance of .9999 itself.
 */
const CERTAIN_LOGIT = 9.21;

/**
 * The best by match score first, as many as an answer holds; the others only where these leave a doubt. A service is asked for all
 * at once, which is exact: two requests would cost more than the passages that one of them might spare.
 */
async function rerankerOutcome(
  reranker: Reranker,
  threshold: number,
  { request, candidates }: RerankInput,
  signal: AbortSignal | undefined,
): Promise<RerankOutcome> {
  const lessons = candidates.map(({ note }) => note.lesson);
  const ask = (some: readonly string[]) =>
    reranker.rerank(request.query, some, signal === undefined ? {} : { signal });
  const first = reranker.inOneCall === true ? lessons.length : request.finalK;
  const best = await ask(lessons.slice(0, first));
  const certain = Math.max(CERTAIN_LOGIT, request.threshold ?? threshold);
  const settled = best.length === request.finalK && best.every((one) => one >= certain);
  const rest = settled ? [] : lessons.slice(first);
  const logits = rest.length === 0 ? best : [...best, ...(await ask(rest))];
  const scored = candidates.slice(0, settled ? best.length : candidates.length);
  const rescored = scored.map((candidate, index): ScoredNote => {
    const rerankScore = logits[index];
    if (rerankScore === undefined || !Number.isFinite(rerankScore)) {
      throw new ErrataError(
        'MODEL_UNAVAILABLE',
        `Expected one finite logit a passage, received ${logits.length} scores`,
      );
    }
    return { ...candidate, score: rerankScore, rerankScore };
  });
  rescored.sort((a, b) => b.score - a.score || (a.note.id < b.note.id ? -1 : 1));
  // Those that were spared keep their order behind the others, at 0, which says nothing about them.
  const spared = candidates.slice(scored.length).map((candidate): ScoredNote => ({ ...candidate, score: 0 }));
  return {
    candidates: [...rescored, ...spared],
    ran: { modelId: reranker.modelId, scale: 'logit', threshold },
    degraded: [],
  };
}

async function lateInteractionOutcome(
  notes: Pick<NoteStore, 'getVectors'>,
  lateInteraction: LateInteraction | undefined,
  input: RerankInput,
): Promise<RerankOutcome> {
  if (lateInteraction === undefined)
    throw new ErrataError('INTERNAL', 'Expected late interaction, received none');
  const { fit, prior, centres, vectors = notes } = lateInteraction;
  const centre = centres.centreOf(input.request.namespace, prior);
  const { ranked, context } = await lateInteractionInput(vectors, centre, input);
  const judged = judgeCandidates(fit, ranked, input.embedding.vector, context);
  if (!judged.every(({ logit }) => Number.isFinite(logit)))
    throw new ErrataError(
      'MODEL_UNAVAILABLE',
      'Expected finite scores from late interaction, received others',
    );
  return {
    candidates: judged.flatMap(({ index, logit }) => {
      const candidate = input.candidates[index];
      return candidate === undefined ? [] : [{ ...candidate, score: sigmoid(logit) }];
    }),
    ran: { modelId: LATE_INTERACTION, scale: 'probability', threshold: fit.threshold },
    degraded: [],
  };
}

/** One round trip for the candidates' stored vectors. Errors: the store's; `MODEL_UNAVAILABLE` without token vectors. */
export async function lateInteractionInput(
  notes: Pick<NoteStore, 'getVectors'>,
  centre: Float32Array,
  { request, embedding, terms, candidates, features }: RerankInput,
): Promise<{ readonly ranked: readonly RankedCandidate[]; readonly context: AnswerContext }> {
  const { tokenVectors, vector } = embedding;
  if (tokenVectors === undefined)
    throw new ErrataError('MODEL_UNAVAILABLE', 'Expected token vectors of the query, received none');
  const ids = candidates.map(({ note }) => note.id);
  const held = await notes.getVectors(request.namespace, ids);
  const ranked = ids.map((id): RankedCandidate => {
    const own = features.get(id);
    if (own === undefined)
      throw new ErrataError('INTERNAL', 'Expected features of every candidate, received fewer');
    const vectors = held.get(id);
    // A re-embed may be under way: another model's vectors say nothing here.
    return { features: own, vectors: vectors?.lesson.length === vector.length ? vectors : undefined };
  });
  return {
    ranked,
    context: {
      keywords: keywordVector(request.query, tokenVectors, terms.idf),
      words: queryWords(request.query, tokenVectors, terms.idf, centre),
      centre,
    },
  };
}
