import { ErrataError } from '../domain/errors.js';
import type { ScoredNote } from '../domain/retrieval.js';
import type { Reranker } from '../ports/reranker.js';
import type { ValidRequest } from './check-request.js';
import type { StageTimer } from './stage-timer.js';

export interface RerankOutcome {
  readonly candidates: readonly ScoredNote[];
  /** Whether scores are the reranker's logits now. */
  readonly ran: boolean;
  readonly degraded: readonly string[];
}

const NAME = 'rerank';

/** Scores (query, lesson) with the cross-encoder; a reranker that is absent or fails leaves the order and says so. */
export async function rerankCandidates(
  reranker: Reranker | undefined,
  request: ValidRequest,
  candidates: readonly ScoredNote[],
  timer: StageTimer,
  signal: AbortSignal | undefined,
): Promise<RerankOutcome> {
  if (request.risk === 'LOW') {
    timer.skip(NAME, 'skipped: risk is LOW');
    return { candidates, ran: false, degraded: [] };
  }
  if (reranker === undefined) {
    timer.skip(NAME, 'not configured');
    return { candidates, ran: false, degraded: ['rerank: not configured'] };
  }
  try {
    const lessons = candidates.map(({ note }) => note.lesson);
    const options = signal === undefined ? {} : { signal };
    const logits = await timer.run(
      NAME,
      () => reranker.rerank(request.query, lessons, options),
      () => reranker.modelId,
    );
    const rescored = candidates.map((candidate, index): ScoredNote => {
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
    return { candidates: rescored, ran: true, degraded: [] };
  } catch (error) {
    if (error instanceof ErrataError && error.code === 'ABORTED') throw error;
    const code = error instanceof ErrataError ? error.code : 'INTERNAL';
    timer.skip(NAME, `failed: ${code}`);
    return { candidates, ran: false, degraded: [`rerank: ${code}`] };
  }
}
